"""What commands cost that should answer at once: seconds to the first line, and of processors."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np

from daedalus.launch.config.paths import ROOT

_PROGRAM = "from daedalus.launch.start import cli; cli()"
_TRAINING = "import experiments.grpo, daedalus.training.pipeline; print()"
COMMANDS = {
    "--help": (_PROGRAM, "--help"),
    "ask": (_PROGRAM, "ask"),
    'ask brief="…"': (_PROGRAM, "ask", "brief='Get us as much revenue as you can.'"),
    "imports of a training run": (_TRAINING,),
}
"""Programs by what tables call them, each with its arguments."""


class CommandCost(NamedTuple):
    """The cost of a command.

    Attributes:
        command: One of ``COMMANDS``.
        first_line: Seconds on the clock until it says something.
        processor: Seconds of all its threads, and of the processes that it starts.
    """

    command: str
    first_line: float
    processor: float


def command_costs(repeats: int) -> list[CommandCost]:
    """Run each command several times, one after another; return medians."""
    found = {name: [_cost(*words) for _ in range(repeats)] for name, words in COMMANDS.items()}
    return [CommandCost(name, *np.median(costs, axis=0).tolist()) for name, costs in found.items()]


def _cost(program: str, *words: str) -> tuple[float, float]:
    """Return seconds to the first line, and of processors."""
    before, began = _processor_seconds(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        place = [f"hydra.run.dir={folder}"] if words else []
        with subprocess.Popen(
            [sys.executable, "-c", program, *words, *place],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            first_line = time.perf_counter() - began
            process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, [program, *words])
    return first_line, _processor_seconds() - before


def _processor_seconds() -> float:
    """Return what processes have used that this one started, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
