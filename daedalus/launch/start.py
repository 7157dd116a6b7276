"""The start of every command. Nothing here is slow to import, and stops are heeded at once."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from daedalus.launch.config.help import print_help_if_asked
from daedalus.runs.endings import StopRequest, command, heeding_signals, unrecorded
from daedalus.runs.importing import slow_imports
from daedalus.runs.processes import count, is_main
from daedalus.runs.waiting import breaking_silence


def cli() -> None:
    """Start the command line. Without its libraries it says what to do, in one sentence."""
    waiting = breaking_silence("Reading the settings ...") if is_main() else nullcontext()
    with starting(_before_the_run):
        if count() == 1 and print_help_if_asked(sys.argv[1:]):
            return
        with waiting:
            with slow_imports():
                from daedalus.launch.command_line import cli as run
            run()
    gc.freeze()  # or the end of the process collects all that was imported, for two seconds


@contextmanager
def starting(explain: Callable[[StopRequest], str]) -> Iterator[None]:
    """Heed signals in the block, and end it with one sentence if a library or a file fails.

    A signal ends it with the sentence that ``explain`` returns for who stopped the program.
    """
    with heeding_signals(explain):
        try:
            yield
        except (ModuleNotFoundError, OSError) as error:
            sys.exit(unrecorded(error))


def _before_the_run(_: StopRequest) -> str:
    return f"Stopped before the run began. To start it: {command()}\n"
