"""The experiment of a trial: what it takes from the command line, and the best one as a file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from daedalus.launch.config.compose import compose_both
from daedalus.launch.config.jobs import Launch
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.tuning import SpaceSettings, TuningSettings
from daedalus.launch.tuning.experiment import TrialExperiment
from tests.launch.tuning.studies import SPACE

VALUES = {"rate": 0.00123, "scale": "group"}


def experiment(
    folder: Path, *overrides: str, sources: Sequence[str] = (), **space: SpaceSettings
) -> TrialExperiment:
    """Return the experiment of a worker that was started with these overrides."""
    folder.mkdir(parents=True, exist_ok=True)
    Launch(list(overrides), list(sources)).write(folder)
    return TrialExperiment(folder, TuningSettings(space=space or SPACE))


def test_a_trial_is_the_experiment_with_other_values(tmp_path: Path) -> None:
    tried = experiment(tmp_path, "+experiment=tune", "population=stage1", "tuning.trials=3")
    composed, config = tried.compose(VALUES)
    assert config.task == "grpo" and config.population.name == "stage1"
    grpo = config.training.grpo
    assert (grpo.learning_rate, grpo.scale_rewards) == (0.00123, "group")
    assert composed.tuning.trials == TuningSettings().trials  # the study's alone
    assert config.model.layers == 2 and config.training.sft.examples == 28800


@pytest.mark.slow
def test_workers_that_differ_in_what_is_no_setting_of_trials_may_share_a_study(
    tmp_path: Path,
) -> None:
    own = ["tuning.study=there", "tuning.worker=1", "tuning.trials=9"]
    own += ["resume=true", "workers=2"]
    texts = [
        experiment(tmp_path / "plain", "+experiment=tune").described(),
        experiment(tmp_path / "own", "+experiment=tune", *own).described(),
        experiment(tmp_path / "other", "+experiment=tune", "training.grpo.futures=3").described(),
    ]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.slow
def test_the_best_file_is_the_configuration_of_the_trial(tmp_path: Path) -> None:
    shown = ["market=fresh", "training.grpo.steps=9", "reward=published", "seed=7"]
    tried = experiment(tmp_path / "worker", "+experiment=tune", *shown)
    text = tried.best(VALUES, tmp_path, "Trial 3.")
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "best.yaml").write_text(text)
    command = text.splitlines()[2]
    path = f"hydra.searchpath=['file://{tmp_path}']"
    assert command == f"# python run.py {shlex.quote(path)} +experiment=best"
    words = shlex.split(command)[3:]
    again, trial = compose_both(*words)[0], tried.compose(VALUES)[0]
    assert OmegaConf.to_yaml(again, resolve=True) == OmegaConf.to_yaml(trial, resolve=True)
    assert compose_both(*words, "training=tiny", "seed=8")[1].seed == 8  # as any experiment


@pytest.mark.slow
def test_an_experiment_of_another_folder_is_found_again(tmp_path: Path) -> None:
    mine = tmp_path / "it's [mine], a=$b"
    (mine / "experiment").mkdir(parents=True)
    text = "# @package _global_\ndefaults: [tune, _self_]\nmodel: { layers: 3 }\n"
    (mine / "experiment" / "deep.yaml").write_text(text)
    tried = experiment(tmp_path / "worker", "+experiment=deep", sources=[f"file://{mine}"])
    assert tried.compose(VALUES)[1].model.layers == 3
    text = tried.best(VALUES, mine, "Trial 3.")
    (mine / "experiment" / "best.yaml").write_text(text)
    words = shlex.split(text.splitlines()[2])[3:]
    assert compose_both(*words)[1].model.layers == 3


@pytest.mark.parametrize(
    "override", ["~evaluation.baselines.random", "designer@evaluation.baselines.x=search", "+a=1"]
)
def test_what_the_best_file_cannot_hold_is_refused(override: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the file of the best settings cannot hold this"):
        experiment(tmp_path, "+experiment=tune", override)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "hint"),
    [
        (
            SpaceSettings("training.grpo.learning_rat", low=1, high=2),
            r"Did you mean training\.grpo\.learning_rate",
        ),
        (SpaceSettings("training.grpo.temperature", low=0.0, high=2.0), "above 0"),
        (SpaceSettings("training.grpo.loss_type", choices=["dapo", "dapr"]), "choose one of grpo"),
        (
            SpaceSettings("training.grpo.temperature", low=0.5, high=0.9),
            r"own training\.grpo\.temperature=1\.0; widen the space",
        ),
    ],
)
def test_a_wrong_space_is_refused_before_the_first_trial(
    space: SpaceSettings, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=rf"(?s)^tuning\.space\.wrong: .*{hint}"):
        experiment(tmp_path, "+experiment=tune", wrong=space).check_space()


def test_the_shipped_space_holds_the_shipped_values() -> None:
    composed, config = compose_both("+experiment=tune")
    shipped = {
        name: OmegaConf.select(composed, each.key) for name, each in config.tuning.space.items()
    }
    assert shipped == {"learning_rate": 2e-4, "temperature": 1.0, "beta": 0.0, "entropy_bonus": 0.0}
    assert all(space.holds(shipped[name]) for name, space in config.tuning.space.items())
