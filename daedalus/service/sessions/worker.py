"""Work in a process of its own: one thread, low priority, and an end when its time is up."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import traceback
from collections.abc import Callable
from math import ceil
from typing import Any, Literal, TypeVar

from daedalus.checks import CannotRunError

Result = TypeVar("Result")

MOST_MEMORY = 4 << 30  # bytes
_LESS_URGENT = 10  # added to the niceness of the server, which comes first
_ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_TOO_MUCH = "it needed more memory than it may have; try it with less"
_TOO_LONG = (
    "it took longer than {:g} seconds: the server is too busy, or this is too much; try again "
    "later, or with less"
)

_Kind = Literal["done", "refused", "too much", "failed"]


class WorkError(RuntimeError):
    """Work has no result; the message says why, in words for a visitor."""


class RefusedError(WorkError):
    """The work itself said why it cannot be done."""


class Worker:
    """Calls functions in new processes, one at a time.

    Args:
        seconds: Longest time of a call.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Return what a function returns.

        Args:
            work: A function of a module, so that it can be pickled.
            *arguments: Its arguments, which can be pickled too.

        Raises:
            RefusedError: It said why it cannot be done.
            WorkError: It took too long or needed too much memory, or the worker was closed.
            RuntimeError: It failed; the message has its trace, which is not for visitors.
        """
        command, asked = [sys.executable, "-m", __name__], (self._seconds, work, arguments)
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=_environment()) as process:
            self._process = process
            if self._closed:
                process.kill()
            try:
                told, _ = process.communicate(pickle.dumps(asked), self._seconds)
            except subprocess.TimeoutExpired as error:
                raise WorkError(_TOO_LONG.format(self._seconds)) from error
            finally:
                process.kill()
        result: Result = _result(told, process.returncode)
        return result

    def close(self) -> None:
        """End the work under way, and take no more."""
        self._closed = True
        if self._process is not None:
            self._process.kill()


def _environment() -> dict[str, str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": paths}


def _result(told: bytes, status: int) -> Any:
    if not told and status < 0:  # the system ended the process
        raise WorkError(_TOO_MUCH)
    if not told:
        raise RuntimeError(f"the worker ended with status {status} and said nothing")
    kind, value = pickle.loads(told)
    if kind == "refused":
        raise RefusedError(value)
    if kind == "too much":
        raise WorkError(value)
    if kind == "failed":
        raise RuntimeError(value)
    return value


def _answer(asked: bytes) -> bytes:
    """Return the outcome of pickled work, pickled; work that fails has an outcome, too."""
    told: tuple[_Kind, Any]
    try:
        seconds, work, given = pickle.loads(asked)
        longest = ceil(seconds) + 1  # of one core, if the server is gone
        resource.setrlimit(resource.RLIMIT_CPU, (longest, longest))
        return pickle.dumps(("done", work(*given)))
    except CannotRunError as refusal:
        told = "refused", str(refusal)
    except MemoryError:
        told = "too much", _TOO_MUCH
    except Exception:
        told = "failed", traceback.format_exc()
    return pickle.dumps(told)


def main() -> None:
    """Read a function and its arguments, call it, and write the outcome and nothing else."""
    answer, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.nice(_LESS_URGENT)
    asked = sys.stdin.buffer.read()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    with os.fdopen(answer, "wb") as pipe:
        pipe.write(_answer(asked))


if __name__ == "__main__":
    main()
