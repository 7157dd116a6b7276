"""The service is full: what it says to a visitor who has to wait."""

from __future__ import annotations


class CapacityError(RuntimeError):
    """All places are taken."""

    def __init__(self, message: str, retry_after: float) -> None:
        """Keep the time after which to try again, in seconds."""
        super().__init__(message)
        self.retry_after = retry_after
