"""What commands cost that should answer at once: seconds to the first line, and of processors."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np

from daedalus.launch.config.paths import ROOT


class Command(NamedTuple):
    """A command that is timed.

    Attributes:
        program: What Python runs.
        words: Its arguments, in which ``{folder}`` is a temporary folder.
        until: Part of the line at which it is stopped. Without it the command runs to its end.
        status: The exit status of a command that is not stopped.
    """

    program: str
    words: tuple[str, ...] = ()
    until: str = ""
    status: int = 0


def _cli(*words: str, until: str = "", status: int = 0) -> Command:
    program = "from daedalus.launch.start import cli; cli()"
    return Command(program, (*words, "hydra.run.dir={folder}"), until, status)


_FOLDER = "the results go to"
_TRAINING = "import experiments.grpo, daedalus.training.pipeline; print()"
_REVIEWER = """
import sys
from pathlib import Path
from tests.reviewer import main
main(["scores"], Path(sys.argv[1]) / "reviewer")
"""
COMMANDS = {
    "--help": _cli("--help"),
    "refused: ask brief=… without quotes": _cli("ask", "brief=Get", "us", "revenue", status=1),
    "refused: a misspelt setting": _cli("+experiment=smoke", "polulation=stage3", status=1),
    "+experiment=smoke, until it names its folder": _cli("+experiment=smoke", until=_FOLDER),
    "the demo, until it names its folder": _cli("+experiment=grpo_stage3", until=_FOLDER),
    "+experiment=serve, until it names its folder": _cli(
        "+experiment=serve", "service.port=0", until=_FOLDER
    ),
    "ask": _cli("ask"),
    'ask brief="…"': _cli("ask", "brief='Get us as much revenue as you can.'"),
    "imports of a training run": Command(_TRAINING),
}
"""Commands by what tables call them."""
if (ROOT / "tests" / "reviewer.py").is_file():  # a checkout
    COMMANDS["make reviewer, until its first line"] = Command(
        _REVIEWER, ("{folder}",), until="processor"
    )


class CommandCost(NamedTuple):
    """The cost of a command.

    Attributes:
        command: One of ``COMMANDS``.
        first_line: Seconds on the clock until it says something.
        clock: Seconds on the clock until it ends or is stopped.
        processor: Seconds until then of all its threads, and of the processes that it starts.
    """

    command: str
    first_line: float
    clock: float
    processor: float


def command_costs(repeats: int) -> list[CommandCost]:
    """Run each command several times, one after another; return medians.

    Raises:
        CalledProcessError: A command ended otherwise than it should.
    """
    found = {name: [_cost(each) for _ in range(repeats)] for name, each in COMMANDS.items()}
    return [CommandCost(name, *np.median(costs, axis=0).tolist()) for name, costs in found.items()]


def _cost(command: Command) -> tuple[float, float, float]:
    """Return seconds to the first line, to the end, and of processors."""
    before, began = _processor_seconds(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        words = [word.format(folder=folder) for word in command.words]
        with subprocess.Popen(
            [sys.executable, "-c", command.program, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            text=True,
        ) as process:
            first_line = _listen(process, command.until) - began
        clock = time.perf_counter() - began
    if process.returncode != (-signal.SIGKILL if command.until else command.status):
        raise subprocess.CalledProcessError(process.returncode, [command.program, *words])
    return first_line, clock, _processor_seconds() - before


def _listen(process: subprocess.Popen[str], until: str) -> float:
    """Wait for the end, or for the line at which to stop; return when the first line came."""
    assert process.stdout is not None
    came = 0.0
    for line in process.stdout:
        came = came or time.perf_counter()
        if until and until in line:
            process.kill()
            break
    return came or time.perf_counter()


def _processor_seconds() -> float:
    """Return what processes have used that this one started, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
