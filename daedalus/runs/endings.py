"""How a command ends that fails or is stopped: one sentence, and the traceback in a file."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from daedalus.checks import CannotRunError
from daedalus.signals import ending_by, handling_stops

COMMAND = "daedalus"
"""Name of the installed command, see pyproject.toml."""

TRACEBACK_VARIABLE = "DAEDALUS_TRACEBACK"
_SHOWN = 500  # characters of an error's text
_WRITABLE = "give access to it, or another folder with hydra.run.dir=FOLDER (of a sweep, "
_WRITABLE += "hydra.sweep.dir=FOLDER)"
_ADVICE = {
    errno.ENOSPC: "free some space there, then go on with resume=true",
    errno.EDQUOT: "your quota is used up: free some of it, then go on with resume=true",
    errno.EACCES: _WRITABLE,
    errno.EPERM: _WRITABLE,
    errno.EROFS: _WRITABLE,
    errno.ENOENT: "name a path that exists; if it is the run's own, something removed it",
    errno.ENOTDIR: "a part of this path is a file; name another folder",
    errno.EMFILE: "raise the limit with `ulimit -n`",
    errno.ENOMEM: "use a machine with more memory, or fewer workers",
}
"""What to do about a failure of the operating system."""
_NO_MEMORY = ("can't allocate memory", "out of memory")  # PyTorch's words, which have no type


class StopRequest(KeyboardInterrupt):
    """The user or the cluster asks the program to stop.

    Attributes:
        number: The signal that asked, such as SIGINT.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def described(error: BaseException) -> str:
    """Return one line that says what failed, of what type and where, and what to do if known."""
    notes = [note for note in getattr(error, "__notes__", []) if "\n" not in note]
    doing = "".join(f"{note}: " for note in reversed(notes))
    if isinstance(error, CannotRunError):
        return f"{doing}{error}"
    if isinstance(error, OSError) and error.errno is not None:
        advice = _ADVICE.get(error.errno)
        path = f"{error.filename}: " if error.filename else ""
        text = f"{path}{error.strerror}" + (f"; {advice}" if advice else "")
        return f"{doing}{text}"
    if isinstance(error, ModuleNotFoundError) and _is_of_others(error):
        return f"{doing}{without_library(error)}"
    if is_of_memory(error):
        return f"{doing}the memory does not suffice; {_ADVICE[errno.ENOMEM]}, or a smaller model"
    said = " ".join(str(error).split())[:_SHOWN]
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{doing}{text}{where}"


def _is_of_others(error: ModuleNotFoundError) -> bool:
    return (error.name or "").partition(".")[0] not in ("", "daedalus", "experiments")


def without_library(error: ModuleNotFoundError) -> str:
    """Return what to do where a library is missing: another Python runs, or it is not installed."""
    root = Path(__file__).parents[2]
    activate = root / ".venv" / "bin" / "activate"
    if activate.exists() and Path(sys.prefix).resolve() != activate.parents[1].resolve():
        how = f"run `source {os.path.relpath(activate)}` first"
    elif (root / "Makefile").exists():
        how = "run `make setup`, then `source .venv/bin/activate`"
    else:
        how = f"run `pip install {(error.name or '').partition('.')[0]}`"
    return f"{sys.executable} has no library {error.name}; {how}"


def is_of_memory(error: BaseException) -> bool:
    """Return whether an error says that the memory of the machine or of its GPU is used up."""
    told = str(error).casefold()
    return isinstance(error, MemoryError) or any(each in told for each in _NO_MEMORY)


def unrecorded(error: BaseException) -> str:
    """Return what to tell the user of an error that no run has recorded."""
    more = f". {TRACEBACK_VARIABLE}=1 shows the traceback"
    plain = isinstance(error, CannotRunError | ModuleNotFoundError)
    return described(error) + ("" if plain else more)


def keep_traceback(error: BaseException, log: Path) -> str:
    """Append the traceback to a file, and return the sentence that says where it is."""
    text = "".join(traceback.format_exception(error))
    try:
        with log.open("a") as file:
            file.write(text)
    except OSError as failure:
        return f"{TRACEBACK_VARIABLE}=1 shows the traceback; {log}: {failure.strerror}"
    return f"The traceback is in {log}"


def release(error: BaseException | None) -> None:
    """Forget the variables of the frames that failed, so that their progress bars end now.

    Otherwise they would end while Python shuts down, which fails.
    """
    if "tqdm" in sys.modules:
        from tqdm import tqdm

        for bar in list(getattr(tqdm, "_instances", [])):  # those that an object holds
            bar.close()
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def wants_traceback(arguments: Sequence[str]) -> bool:
    """Return whether the user asks for tracebacks, by a variable or with hydra.verbose."""
    verbose = any(each.startswith("hydra.verbose=") for each in arguments)
    return verbose or os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0")


@contextmanager
def heeding_signals(explain: Callable[[StopRequest], str]) -> Iterator[None]:
    """Let SIGINT and SIGTERM end the block with one sentence, and 128 + the signal as the status.

    A second signal ends the process at once. Signals that the caller ignores stay ignored. An error
    after the signal counts as its end: C code turns the stop into other exceptions.
    """
    stop: StopRequest | None = None

    def heed(number: int, frame: FrameType | None) -> None:
        nonlocal stop
        if stop is not None:
            _end_at_once(stop, explain)
        stop = StopRequest(number)
        raise stop

    def end(number: int) -> None:
        _end_at_once(StopRequest(number), explain)

    with handling_stops(heed), ending_by(end):
        try:
            yield
        except BaseException as caught:
            if not isinstance(caught, KeyboardInterrupt) and (stop is None or not _fails(caught)):
                raise
            asked = caught if isinstance(caught, StopRequest) else stop
            asked = asked or StopRequest(signal.SIGINT)
            release(caught)
            stop = asked  # a signal from now on ends the process at once
            sys.stdout.flush()
            _end_at_once(asked, explain)


def _fails(caught: BaseException) -> bool:
    """Return whether an exception is an error, or the sentence about one."""
    return isinstance(caught, Exception) or isinstance(getattr(caught, "code", None), str)


def _end_at_once(stop: StopRequest, explain: Callable[[StopRequest], str]) -> None:
    """Say how to go on, and end without waiting for threads, which may wait for a server."""
    with suppress(OSError):  # nobody reads it
        os.write(2, explain(stop).encode())  # the stream itself may be in use
    os._exit(128 + stop.number)


def program() -> str:
    """Return how the user starts an experiment: the installed command, or ``python run.py``."""
    return COMMAND if Path(sys.argv[0]).name == COMMAND else "python run.py"


def command(*changes: str) -> str:
    """Return the command line of this process for a shell, as the user typed it.

    Args:
        *changes: Overrides such as ``resume=true``, which replace those of the same key.
    """
    changed = {"resume", *(each.partition("=")[0] for each in changes)}
    words = [each for each in _typed() if each.partition("=")[0] not in changed]
    return shlex.join([*words, *changes])


def _typed() -> list[str]:
    """Return the words of the command line. The first line of an installed script names Python."""
    script, *rest = sys.orig_argv[1:] or [""]
    if Path(script).name != COMMAND:
        return sys.orig_argv
    return [COMMAND if shutil.which(COMMAND) == script else script, *rest]
