"""The record of a run in its folder: configuration, commit, versions, command, completion."""

from __future__ import annotations

import json
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.checks import CannotRunError
from daedalus.launch.config.jobs import Launch, lines_of_results
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.sweeps import collect_sweep, write_job_table
from daedalus.runs.files import locked, write_text
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import count
from daedalus.runs.workers import cores

_GPUS = ("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")


@contextmanager
def run_record(
    composed: DictConfig, out: Path, launch: Launch | None = None
) -> Iterator[Path | None]:
    """Document the run in its folder, and mark it as finished if the block succeeds.

    It writes launch.json, config.yaml and provenance.json before the block. After it, it adds the
    seconds that the launch took, and the error if the block fails. If it succeeds, it writes
    ``finished``. In a sweep it also writes the table of jobs before the block, and all tables over
    the jobs after it. The launch is None if Hydra did not launch the run.

    Yields:
        The folder, or None if the resumed run had already finished.

    Raises:
        CannotRunError: Another process is at work on the run, or its folder was removed.
        ConfigError: The resumed run was started with another configuration, or with another number
            of processes.
    """
    out.mkdir(parents=True, exist_ok=True)
    with locked(out, wait=False):
        _check_same_config(composed, out)
        _check_same_processes(out)
        if launch is not None:
            launch.write(out)
        if RunFolder(out).finished.exists():
            yield None
            return
        write_text(RunFolder(out).config, _resolved(composed))
        with _launch(out, launch):
            yield out
            if not RunFolder(out).config.exists():
                raise CannotRunError(f"{out}: it was removed during the run; run it again")
            RunFolder(out).finished.touch()


@contextmanager
def refusal_record(out: Path, launch: Launch) -> Iterator[None]:
    """Record the error if the block refuses a job of a sweep, for the tables of the sweep."""
    try:
        yield
    except (ConfigError, OmegaConfBaseException):
        if launch.place:
            launch.write(out)
            with _launch(out, launch):
                raise
        raise


@contextmanager
def _launch(out: Path, launch: Launch | None) -> Iterator[None]:
    """Record a launch of the run, whether its block succeeds or not."""
    sweep = launch.sweep(out) if launch is not None and launch.place else None
    launches, began = [*_launches(out), provenance()], time.monotonic()
    _write_launches(out, launches)
    if sweep is not None:
        write_job_table(sweep)
    try:
        yield
    except Exception as error:
        launches[-1]["error"] = f"{type(error).__name__}: {error}"
        raise
    finally:
        launches[-1]["seconds"] = round(time.monotonic() - began, 1)
        _write_launches(out, launches)
        if sweep is not None:
            collect_sweep(sweep)


def provenance() -> dict[str, object]:
    """Return commit, whether files had changed since, command, time, hardware and versions.

    What git does not know is None, also where a folder of something else holds a copy of this code.
    """
    tracked = _said("git", "ls-files", "--error-unmatch", Path(__file__).name) is not None
    changes = _said("git", "status", "--porcelain") if tracked else None
    return {
        "commit": _said("git", "rev-parse", "HEAD") if tracked else None,
        "uncommitted_changes": None if changes is None else bool(changes),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": cores(),
        "processes": count(),
        "gpus": (_said(*_GPUS) or "").splitlines(),
        "packages": _packages(),
    }


@cache  # reading what each package says of itself takes long
def _packages() -> dict[str, str]:
    """Return the version of every installed package."""
    told = (each.metadata for each in distributions())
    return {each["Name"]: each["Version"] for each in told}


def _said(*command: str) -> str | None:
    """Return the output of a command, or None if it is missing or fails."""
    folder = Path(__file__).parent
    try:
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except OSError:  # it is missing, or not for this machine
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def _resolved(composed: DictConfig) -> str:
    """Return the resolved configuration as YAML, without the key ``resume``."""
    config = OmegaConf.to_container(composed, resolve=True)
    assert isinstance(config, dict)
    config.pop("resume", None)
    return OmegaConf.to_yaml(config)


def _launches(out: Path) -> list[dict[str, object]]:
    """Return the run's launches so far; each resumption is one."""
    path = RunFolder(out).provenance
    launches: list[dict[str, object]] = json.loads(path.read_text()) if path.exists() else []
    return launches


def _write_launches(out: Path, launches: list[dict[str, object]]) -> None:
    write_text(RunFolder(out).provenance, json.dumps(launches, indent=2) + "\n")


def _check_same_config(composed: DictConfig, out: Path) -> None:
    path = RunFolder(out).config
    if not path.exists():
        return
    before, ours = lines_of_results(path.read_text()), lines_of_results(_resolved(composed))
    if before == ours:
        return
    changed = [line.strip() for line in before if line not in ours]
    raise ConfigError(
        f"{out} was started with another configuration, or by another version "
        f"({'; '.join(changed[:5])}); give the same overrides to resume it. A new run needs a "
        "folder of its own: omit resume=true, and let hydra.run.dir or hydra.sweep.subdir name "
        "another"
    )


def _check_same_processes(out: Path) -> None:
    """Refuse another number of processes: each has random numbers of its own."""
    for launch in _launches(out)[:1]:
        before = launch.get("processes", 1)
        if before != count():
            raise ConfigError(
                f"{out} was started with {before} processes, and this launch has {count()}; launch "
                f"{before} to resume it, or omit resume=true to start a new run"
            )
