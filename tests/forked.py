"""Scripts in processes of their own, which begin with all libraries imported; not a test.

To import PyTorch and its kin takes a process 8 seconds, longer than most runs of tests. A server
imports them once. Each script runs in a fork of it, with its own arguments, folder and environment;
a variable that a library reads while it is imported has the server's value.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from daedalus.launch.config.paths import ROOT

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    ["daedalus.training.algorithms.grpo.trainer", "experiments.grpo", "experiments.tune"]
)


class Forked:
    """A process, with the methods of ``subprocess.Popen`` that tests need.

    Attributes:
        pid: Its number.
    """

    def __init__(self, process: ForkServerProcess) -> None:
        process.start()
        self._process = process
        assert process.pid is not None
        self.pid = process.pid

    def poll(self) -> int | None:
        """Return its status, or None while it is at work."""
        return self._process.exitcode

    def wait(self, timeout: float = 480) -> int:
        """Return its status once it has ended."""
        self._process.join(timeout)
        status = self.poll()
        if status is None:
            self._process.kill()
            raise TimeoutError(f"it was at work for {timeout} seconds")
        return status


def start(
    *words: str,
    cwd: Path,
    out: Path,
    errors: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Forked:
    """Start a script.

    Args:
        *words: The script, below the project's folder or a copy of it, and its arguments.
        cwd: Its folder.
        out: File to which it appends what it prints.
        errors: File for its errors; None is ``out``.
        environment: Its environment; None is that of this process.
    """
    given = dict(os.environ if environment is None else environment)
    return Forked(_SERVER.Process(target=_become, args=(words, cwd, out, errors or out, given)))


def run(
    *words: str, cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script to its end; return its status and what it printed, as ``subprocess.run``."""
    with TemporaryDirectory() as folder:
        out, errors = Path(folder, "out"), Path(folder, "errors")
        status = start(*words, cwd=cwd, out=out, errors=errors, environment=environment).wait()
        return subprocess.CompletedProcess(words, status, out.read_text(), errors.read_text())


def _become(
    words: tuple[str, ...], cwd: Path, out: Path, errors: Path, environment: dict[str, str]
) -> None:
    """Go on as a process that was started with a script would begin."""
    gc.freeze()  # a collection would copy all that the fork shares with the server
    for stream, path in ((1, out), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    script = str(ROOT / words[0])
    sys.argv = [script, *words[1:]]
    sys.orig_argv = [sys.executable, *sys.argv]
    sys.path[0] = str(Path(script).parent)
    if Path(script).parent.joinpath("daedalus").is_dir() and ROOT not in Path(script).parents:
        _forget("daedalus", "experiments")  # the script is beside a copy of them
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        atexit._run_exitfuncs()  # multiprocessing leaves them out


def _forget(*packages: str) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] in packages]:
        del sys.modules[name]
