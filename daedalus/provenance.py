"""The record of a run in its folder: configuration, commit, versions, command, completion."""

from __future__ import annotations

import json
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from daedalus.config import ConfigError
from daedalus.files import written_whole
from daedalus.run_folder import RunFolder
from daedalus.sweeps import collect_sweep


@contextmanager
def run_record(composed: DictConfig, out: Path) -> Iterator[Path | None]:
    """Document the run in its folder, and mark it as finished if the block succeeds.

    It writes config.yaml and provenance.json before the block, and ``finished`` after it. In a
    sweep it then also writes the tables over the finished jobs.

    Yields:
        The folder, or None if the resumed run had already finished.

    Raises:
        ConfigError: The resumed run was started with another configuration.
    """
    _check_same_config(composed, out)
    if RunFolder(out).finished.exists():
        yield None
        return
    _write_config(composed, out)
    _write_provenance(RunFolder(out).provenance)
    yield out
    RunFolder(out).finished.touch()
    if (out.parent / "multirun.yaml").exists():
        collect_sweep(out.parent)


def provenance() -> dict[str, object]:
    """Return commit, whether files had changed since, command, and versions of all software."""
    return {
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain")),
        "command": shlex.join(sys.argv),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {each.name: each.version for each in distributions()},
    }


def _git(*arguments: str) -> str | None:
    """Return the output of git, or None without git or outside a checkout."""
    folder = Path(__file__).parent
    try:
        answer = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def _resolved(composed: DictConfig) -> str:
    """Return the resolved configuration as YAML, without the key ``resume``."""
    config = OmegaConf.to_container(composed, resolve=True)
    assert isinstance(config, dict)
    config.pop("resume", None)
    return OmegaConf.to_yaml(config)


def _write_config(composed: DictConfig, out: Path) -> None:
    with written_whole(RunFolder(out).config) as aside:
        aside.write_text(_resolved(composed))


def _write_provenance(path: Path) -> None:
    """Add this launch to the list of the run's launches; each resumption is one more."""
    launches = json.loads(path.read_text()) if path.exists() else []
    with written_whole(path) as aside:
        aside.write_text(json.dumps([*launches, provenance()], indent=2) + "\n")


def _check_same_config(composed: DictConfig, out: Path) -> None:
    path = RunFolder(out).config
    if not path.exists() or path.read_text() == _resolved(composed):
        return
    ours = _resolved(composed).splitlines()
    changed = [line.strip() for line in path.read_text().splitlines() if line not in ours]
    raise ConfigError(
        f"{out} was started with another configuration ({'; '.join(changed[:5])}); "
        "give the same overrides to resume it, or omit resume=true to start a new run"
    )
