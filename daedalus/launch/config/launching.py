"""What Hydra may launch, checked on the configuration that it composed."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

from daedalus.runs import processes
from daedalus.runs.endings import program

_NO_SWEEP = "hydra/launcher sets how a sweep runs: add -m, or leave the setting out"
_NO_SLURM = (
    "hydra/launcher={}: this machine has no sbatch. Use a machine of the cluster, or leave the "
    "setting out: the jobs then run here, one after another"
)
_NO_PLACE = "{} is read {}: {}, or leave the setting out"
_ONE_RUN = (
    "hydra.mode=MULTIRUN: several processes train one run. Leave it out, or start one process by {}"
)
_NO_JOB = (
    "{}: a sweep without a job, since one of its lists of values is empty. Give each key that is "
    "swept one value or more; range(1) is 0, and range(0) is empty"
)


class LaunchChecks(Callback):
    """Ends the program with one sentence if Hydra would launch something else than was asked.

    Hydra calls it before a run or a sweep makes a folder. It turns exceptions of a callback into
    warnings, but not ``SystemExit``.
    """

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Refuse a launcher and a folder of a sweep, which Hydra would ignore without a sweep."""
        if not config.hydra.launcher._target_.endswith(".BasicLauncher"):
            sys.exit(_NO_SWEEP)
        _refuse(config, "hydra.sweep.", "by sweeps alone", "add -m, or set hydra.run.dir")

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Refuse what this machine or a sweep does not have, and a sweep without a job."""
        if processes.count() > 1:
            sys.exit(_ONE_RUN.format(program()))
        if config.hydra.launcher._target_.endswith(".SlurmLauncher") and not shutil.which("sbatch"):
            sys.exit(_NO_SLURM.format(config.hydra.runtime.choices["hydra/launcher"]))
        _refuse(config, "hydra.run.", "by single runs alone", "set hydra.sweep.dir")
        if _has_an_empty_list(config.hydra):
            sys.exit(_NO_JOB.format(" ".join(config.hydra.overrides.task)))


def _refuse(config: DictConfig, keys: str, read: str, instead: str) -> None:
    """End the program if an override sets a folder that Hydra would ignore."""
    words: Any = OmegaConf.to_container(config.hydra.overrides.hydra)  # as written, unresolved
    for each in words:
        if (key := each.partition("=")[0].lstrip("+~")).startswith(keys):
            sys.exit(_NO_PLACE.format(key, read, instead))


def _has_an_empty_list(asked: DictConfig) -> bool:
    """Return whether a sweep has no job, as an empty list among those that it combines."""
    params = asked.sweeper.get("params") or {}
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    texts = [*(f"{key}={value}" for key, value in params.items()), *asked.overrides.task]
    lists = [each for each in parser.parse_overrides(texts) if each.is_discrete_sweep()]
    return not all(list(each.sweep_string_iterator()) for each in lists)
