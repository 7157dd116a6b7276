"""How Hydra launched a run, as the run records it in its folder, and the jobs of a sweep."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from hydra.conf import HydraConf
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import RunMode

from daedalus.launch.config.mistakes import ConfigError
from daedalus.runs.files import write_text
from daedalus.runs.folder import RunFolder, files_below

HOW_LAUNCHED = ("resume", "workers")
"""Keys that say how a run is launched; its results do not depend on them."""
_OWN_SOURCES = ("hydra", "main", "schema")


@dataclass(frozen=True)
class Launch:
    """How Hydra launched a run.

    Attributes:
        overrides: Changes of the configuration, from the command line or from a sweeper.
        sources: Where configuration was looked for, beside ``conf/``, as ``hydra.searchpath``.
        number: Number of the job in its sweep; None for a run that is no job.
        place: Folder of the job below the folder of its sweep; empty for a run that is no job.
    """

    overrides: list[str]
    sources: list[str] = field(default_factory=list)
    number: int | None = None
    place: str = ""

    @classmethod
    def of(cls, hydra: HydraConf) -> Launch:
        """Return what Hydra composed for the run of this process.

        Raises:
            ConfigError: The job's folder is not below the folder of its sweep.
        """
        sources = [
            _source(each.schema, each.path, hydra.runtime.cwd)
            for each in hydra.runtime.config_sources
            if each.provider not in _OWN_SOURCES
        ]
        overrides = list(hydra.overrides.task)
        if hydra.mode != RunMode.MULTIRUN:
            return cls(overrides, sources)
        sweep = os.path.join(hydra.runtime.cwd, hydra.sweep.dir)
        place = os.path.relpath(hydra.runtime.output_dir, sweep)
        if place.split(os.sep)[0] in (os.curdir, os.pardir):
            raise ConfigError(
                f"hydra.sweep.subdir: {hydra.sweep.subdir}; give each job a folder of its own "
                "below hydra.sweep.dir, such as job_${hydra.job.num}"
            )
        return cls(overrides, sources, int(hydra.job.num), place)

    def sweep(self, out: Path) -> Path:
        """Return the folder of the job's sweep, from the job's own folder."""
        return out.parents[len(Path(self.place).parts) - 1]

    def settings(self) -> dict[str, str]:
        """Return the overrides by key, as plain text, without the keys of ``HOW_LAUNCHED``."""
        named = _named(tuple(self.overrides))
        return {key: value for key, value in named.items() if key not in HOW_LAUNCHED}

    def write(self, out: Path) -> None:
        """Record this in the run's folder."""
        write_text(RunFolder(out).launch, json.dumps(asdict(self), indent=2) + "\n")


def _source(schema: str, path: str, folder: str) -> str:
    return f"{schema}://{os.path.join(folder, path) if schema == 'file' else path}"


@cache  # parsing is slow, and the tables of a sweep ask for all jobs after each of them
def _named(overrides: tuple[str, ...]) -> dict[str, str]:
    """Return overrides by key, as plain text."""
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    return {each.get_key_element().lstrip("+~"): _text(each) for each in parsed}


def _text(override: Override) -> str:
    """Return an override's value; a text has no quotes."""
    if override.is_delete():
        return ""
    value = override.value()
    return value if isinstance(value, str) else override.get_value_element_as_str()


def lines_of_results(resolved: str) -> list[str]:
    """Return the lines of a resolved configuration that the results depend on."""
    lines = resolved.splitlines()
    return [line for line in lines if line.partition(":")[0] not in HOW_LAUNCHED]


def read_launch(out: Path) -> Launch:
    """Return how Hydra last launched the run in a folder."""
    return Launch(**json.loads(RunFolder(out).launch.read_text()))


def jobs_of_sweep(sweep: Path) -> dict[RunFolder, Launch]:
    """Return the jobs of a sweep that have started, by their folder and in their order."""
    folders = [RunFolder(path.parent) for path in files_below(sweep, RunFolder(sweep).launch.name)]
    jobs = {run: read_launch(run.path) for run in folders}
    own = {run: job for run, job in jobs.items() if run.path == sweep / (job.place or "none")}
    return dict(sorted(own.items(), key=lambda each: (each[1].number, each[1].place)))


def folder_of_job(sweep: Path, job: Launch) -> str:
    """Return the folder, below that of its sweep, in which a job goes on or begins.

    A job goes on where one with the same settings was recorded, whatever its number was. Else it
    begins in a folder with its number, and another ending if that folder has another job.
    """
    known = {each.place: each.settings() for each in jobs_of_sweep(sweep).values()}
    number, mine = str(job.number), job.settings()
    same = [place for place, settings in known.items() if settings == mine]
    if same:
        return number if number in same else same[0]
    free, ending = number, 2
    while free in known:
        free, ending = f"{number}_{ending}", ending + 1
    return free
