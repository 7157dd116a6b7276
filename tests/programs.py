"""Programs outside of Python that some tests and checks need, and what a machine lacks of them.

python -m tests.programs has NAME   # ends with 0 if the program works here
python -m tests.programs packages   # the Debian packages of those that do not
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Program:
    """A program, or several that work together.

    Attributes:
        name: What people call it.
        packages: Its packages on Debian.
        commands: Its commands; for each, one of several names must be there.
        least: The oldest version of the first command that works; empty if any does.
    """

    name: str
    packages: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    least: tuple[int, ...] = ()

    @property
    def paths(self) -> list[str | None]:
        """Return the path of each command, or None where it is absent."""
        return [next(filter(None, map(find, names)), None) for names in self.commands]

    @property
    def path(self) -> str:
        """Return the path of the first command, which is there."""
        path = self.paths[0]
        assert path is not None, self.absence
        return path

    @property
    def absence(self) -> str:
        """Return why tests that need the program cannot run, or nothing if they can."""
        if not all(self.paths):
            return f"{self.name} is not installed"
        return self.too_old if self.least else ""

    @property
    def too_old(self) -> str:
        """Return what is wrong with the version of the first command; nothing if it is right."""
        found = version(self.path)
        if not found:
            return f"{self.name} does not work: `{Path(self.path).name} --version` tells no version"
        told = [".".join(map(str, each)) for each in (found, self.least)]
        return (
            "" if found >= self.least else f"{self.name} is {told[0]}, {told[1]} or newer is needed"
        )

    @property
    def needed(self) -> pytest.MarkDecorator:
        """Return the mark of tests that need the program."""
        return pytest.mark.skipif(bool(self.absence), reason=self.absence)


def find(command: str) -> str | None:
    """Return the path of a command. Daemons lie in sbin, which few users have among their paths."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    beside = [str(Path(each).parent / "sbin") for each in folders if Path(each).name == "bin"]
    return shutil.which(command, path=os.pathsep.join([*folders, *beside]))


def version(path: str) -> tuple[int, ...]:
    """Return the version that a command tells, or nothing if it does not work."""
    told = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"\d+(\.\d+)+", told)
    return tuple(map(int, found[0].split("."))) if found else ()


# The same engine; without windows it takes two thirds of the processor time.
BROWSER = Program(
    "Chromium",
    ("chromium-headless-shell",),
    (("chromium-headless-shell", "chromium", "google-chrome"),),
)
NODE = Program("Node.js with npm", ("nodejs", "npm"), (("node",), ("npm",)), least=(18, 18))
HAPROXY = Program("HAProxy", ("haproxy",), (("haproxy",),))
SLURM = Program(
    "Slurm",
    ("slurm-wlm", "munge"),
    (("slurmctld",), ("slurmd",), ("sbatch",), ("sinfo",), ("munged",)),
)
PROGRAMS = {"chromium": BROWSER, "node": NODE, "haproxy": HAPROXY, "slurm": SLURM}


def install(programs: Sequence[Program]) -> str:
    """Return the command that installs programs."""
    names = " ".join(name for each in programs for name in each.packages)
    return f"apt-get update && apt-get install -y --no-install-recommends {names}"


def main(question: str, *names: str) -> int:
    """Answer a question of the Makefile or of ``.ci/run``; 0 stands for yes."""
    if question == "packages":
        print(*(name for each in PROGRAMS.values() if each.absence for name in each.packages))
        return 0
    return int(any(PROGRAMS[name].absence for name in names))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
