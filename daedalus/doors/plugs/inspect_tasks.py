"""The tasks that Inspect finds by the name of the package."""

from daedalus.doors.plugs.inspect_briefs import briefs
from daedalus.doors.plugs.inspect_market import market

__all__ = ["briefs", "market"]
