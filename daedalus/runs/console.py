"""The console on which a command shows what it found."""

from __future__ import annotations

import sys

from rich.console import Console

_WIDTH_OF_LOGS = 170


def make_console() -> Console:
    """Return a console as wide as the terminal, or as wide as a log, that shows text as it is."""
    width = None if sys.stdout.isatty() else _WIDTH_OF_LOGS
    return Console(width=width, markup=False, emoji=False)
