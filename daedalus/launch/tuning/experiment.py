"""The experiment of a trial: its configuration, and the best one as a file to run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from daedalus.launch.config.changes import all_changes
from daedalus.launch.config.compose import compose_both, quoted
from daedalus.launch.config.jobs import HOW_LAUNCHED, read_launch
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.paths import groups
from daedalus.launch.config.task_parts import Task
from daedalus.launch.config.tuning import TuningSettings
from daedalus.runs.endings import program


class TrialExperiment:
    """The experiment that a study was started with, whose trials change some settings.

    Args:
        worker: Run folder of a worker, which recorded its launch.
        settings: What is tuned.

    Raises:
        ConfigError: The file of the best settings could not hold what the command line says.
    """

    def __init__(self, worker: Path, settings: TuningSettings) -> None:
        launch = read_launch(worker)
        self._settings, self._sources = settings, launch.sources
        self._task = [each for each in launch.overrides if _is_of_trials(each)]
        for each in self._task:
            plain = each.startswith("+experiment=") or each[0] not in "+~"
            if not plain or "@" in _key(each):
                raise ConfigError(
                    f"{each}: the file of the best settings cannot hold this; write it to a file "
                    "in conf/experiment/ that has tune in its defaults, and tune that"
                )

    def compose(self, values: Mapping[str, Any]) -> tuple[DictConfig, Task]:
        """Return the configuration of a trial, as ``run.py`` would compose and check it.

        ``values`` has the values of tuned settings, by their names in the space.

        Raises:
            ConfigError: The values cannot be run.
        """
        changed = [f"{self._key(name)}={json.dumps(value)}" for name, value in values.items()]
        own = [*self._task, "tuning=none", f"task={self._settings.task}"]
        return compose_both(_searchpath(self._sources), *own, *changed)

    def _key(self, name: str) -> str:
        return self._settings.space[name].key

    def check_space(self) -> dict[str, Any]:
        """Check that each choice and each end of a range can be run.

        Returns:
            The experiment's own value of each setting.

        Raises:
            ConfigError: One of them cannot be run, or the space leaves out the experiment's own.
        """
        composed, _ = self.compose({})
        own = {}
        for name, space in self._settings.space.items():
            for value in space.examples():
                try:
                    self.compose({name: value})
                except ConfigError as error:
                    raise ConfigError(f"tuning.space.{name}: {error}") from error
            own[name] = OmegaConf.select(composed, space.key)
            if not space.holds(own[name]):
                raise ConfigError(
                    f"tuning.space.{name}: the first trial plays the experiment's own "
                    f"{space.key}={own[name]}; widen the space so that it holds this value"
                )
        return own

    def described(self) -> str:
        """Return the configuration that all trials share, and how it is tuned, as text."""
        tuning = OmegaConf.to_container(OmegaConf.structured(self._settings))
        assert isinstance(tuning, dict)
        shared = {key: tuning[key] for key in ("space", "designer", "score", "pruning")}
        composed, _ = self.compose({})
        return OmegaConf.to_yaml(composed, resolve=True) + OmegaConf.to_yaml({"tuning": shared})

    def best(self, values: Mapping[str, Any], folder: Path, about: str) -> str:
        """Return the text of the experiment file with the values of the best trial.

        Args:
            values: Its values, by their names in the space.
            folder: Folder with a subfolder ``experiment`` for the file ``best.yaml``.
            about: A line about the trial.
        """
        words = [each.partition("=")[::2] for each in self._task]
        group_names = groups()
        experiments = [value for key, value in words if key == "+experiment"]
        chosen = [{f"override /{key}": value} for key, value in words if key in group_names]
        plain = [each for each in self._task if _key(each) not in (*group_names, "experiment")]
        content = OmegaConf.create()
        for each in all_changes(plain):
            OmegaConf.update(content, each.key, each.value)
        for name, value in values.items():
            OmegaConf.update(content, self._key(name), value)
        own = [{"override /task": self._settings.task}, {"override /tuning": "none"}]
        defaults = [*experiments, *chosen, *own, "_self_"]
        text = OmegaConf.to_yaml(OmegaConf.merge({"defaults": defaults}, content))
        path = _searchpath([*self._sources, f"file://{folder}"])
        command = f"{program()} {shlex.quote(path)} +experiment=best"
        return f"# @package _global_\n# {about}\n# {command}\n{text}"


def _searchpath(sources: Sequence[str]) -> str:
    return f"hydra.searchpath=[{','.join(quoted(each) for each in sources)}]"


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+~")


def _is_of_trials(override: str) -> bool:
    """Return whether an override of a worker's command line holds for its trials."""
    return _key(override).partition(".")[0] not in (*HOW_LAUNCHED, "tuning")
