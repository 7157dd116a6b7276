"""The service's fixtures, for the experiments that serve and measure it."""

from tests.service.conftest import address, catalogue

__all__ = ["address", "catalogue"]
