"""Where a log of bids lies. Nothing here is slow to import, so it is checked before all else."""

from __future__ import annotations

from pathlib import Path

from daedalus.checks import CannotRunError

TIMBER = "timber"
"""The word for the log of timber sales, in place of a file."""


def require_source(source: str) -> None:
    """Refuse what cannot be a log of bids, before anything is read.

    Args:
        source: Path of a CSV file, or ``timber``.

    Raises:
        CannotRunError: No file is named, or the file is missing, empty or unreadable.
    """
    if not source:
        raise CannotRunError("bids: none; give bids=FILE, a CSV with a row for each bid, or timber")
    if source == TIMBER:
        return
    path = Path(source)
    if path.is_dir():
        raise CannotRunError(f"bids: {source} is a folder; name a CSV file in it")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError as error:
        raise CannotRunError(f"bids: {source}: no such file; give a CSV, or timber") from error
    except OSError as error:
        raise CannotRunError(
            f"bids: {source} cannot be read ({error.strerror}); give a CSV that you may read"
        ) from error
    if empty:
        raise CannotRunError(f"bids: {source} is empty; give a header and a row for each bid")
