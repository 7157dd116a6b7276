"""What the task does not read is refused, and so is a task without what it needs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from daedalus.launch.config import task_options
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from tests.launch.config.composing import failure, own_experiment

FIXED = "+designer@evaluation.baselines.mine=fixed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["task=compare", "mechanism=first_price"], "or choose designer=fixed, which plays it"),
        (["task=compare", "mechanism.reserve_price=0.2"], "does not read mechanism.reserve_price"),
        (["+experiment=theory", "market=classic"], "theory does not read market; leave it out"),
        (["task=compare", "training.grpo.steps=5"], "it is read by grpo, grpo_briefs, gpu_check"),
        (["task=compare", "adversary.keep=3"], "it is read by exploitability"),
        (["+experiment=grpo_stage3", "designer=search"], "grpo does not read designer"),
        (["+experiment=behaviour", "training.grpo.steps=5"], "does not read training.grpo"),
        (["task=compare", "trained=RUN"], "compare does not read trained"),
        (["task=compare", "+bids=x"], "it is read by from_bids"),
        (["+experiment=sensitivity", "+allowed.auction_type=[vcg]"], "sensitivity does not read"),
        (["task=compare", "tuning.trials=3"], "it is read by tune"),
        (["task=grpo", "mechanism=robust"], "baselines.NAME=fixed, which plays it"),
        (["+experiment=leaderboard", "evaluation.resamples=200"], "leaderboard does not read"),
        (
            ["+experiment=llm_bidders", "bidder=endpoint", "bidder.model=m", "model.layers=2"],
            "llm_bidders does not read model.layers",
        ),
        (["+experiment=llm_bidders", "bidder=local", "model.layers=2"], "does not read model"),
        (["+experiment=grpo_stage3", "model=smollm2", "model.layers=2"], "have a shape"),
        (["+experiment=sft_stage3", "model.pretrained=org/name", "model.tokenizer=org/a"], "own;"),
    ],
)
def test_a_change_that_the_task_does_not_read_is_refused(overrides: list[str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compose_config(*overrides)
    assert said in str(caught.value) and str(caught.value).startswith(overrides[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides",
    [
        ["task=compare", "designer=fixed", "mechanism=first_price"],
        ["task=compare", FIXED, "mechanism.reserve_price=0.2"],
        ["task=compare", "tuning=none", "workers=2", "tracking=files"],
        ["task=compare", "+designer@evaluation.baselines.classic=heuristic"],
        ["+experiment=tune", "training.grpo.futures=8"],
        ["+experiment=behaviour", "training.portfolio.populations=3"],
    ],
)
def test_a_change_that_is_read_composes(overrides: list[str]) -> None:
    assert compose_config(*overrides)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["+evaluation.baselines.x.mechanism=first_price"], "evaluation.baselines.x: a mapping"),
        (["~designer", "+designer={name: own}"], "designer: a mapping (name) without defaults"),
        (["+evaluation.baselines.x=fixed"], "'fixed' is no designer; choose one by +designer@eval"),
        (["evaluation.baselines.random=null"], "evaluation.baselines.random: None is no designer"),
        (["task=search"], "designer: informed_greedy; search needs designer=search"),
        (["task=tour", "populations=stages"], "populations: tour needs weak_ring, exploiter_heavy"),
        (["reward.weights={}"], "remove an entry by ~reward.weights.composite"),
        (["task=understanding"], "evaluation.baselines: understanding needs best_own, sft"),
        (["task=tour"], "populations: none; tour needs some: choose populations=NAME"),
        (["task=behaviour"], "training.portfolio.populations: 0; behaviour needs a portfolio"),
    ],
)
def test_a_task_without_what_it_needs_is_refused(overrides: list[str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        compose_config("task=compare", *overrides)
    assert said in str(caught.value)


@pytest.mark.parametrize("change", [[], ["population=stage4"]])
def test_a_task_of_an_older_file_says_how_it_is_chosen_now(
    change: list[str], tmp_path: Path
) -> None:
    said = failure(*own_experiment(tmp_path, "# @package _global_\ntask: compare\n"), *change)
    assert said.endswith("in the experiment's defaults, by `- override /task: compare`")


def test_a_file_that_chooses_what_its_task_does_not_read_is_refused(tmp_path: Path) -> None:
    chosen = "[override /task: theory, override /population: stage1]"
    said = failure(*own_experiment(tmp_path, f"# @package _global_\ndefaults: {chosen}\n"))
    assert said == (
        "population: no task that reads it is chosen; leave it out, or choose one by "
        "`- override /task: NAME` (in experiment/mine.yaml)"
    )


def test_a_designer_whose_prompt_cannot_show_the_reward_is_refused() -> None:
    shown = "designer.prompt.weights=[revenue]"
    endpoint = ("designer=endpoint", "designer.model=any", shown)
    said = failure("task=compare", "reward=welfare", *endpoint)
    assert "prompts show weights of revenue alone" in said
    assert compose_config("task=compare", "reward=revenue", *endpoint)


def test_without_an_experiment_there_is_nothing_to_run() -> None:
    assert failure("population=stage1").startswith("nothing to run: choose +experiment=NAME")


@pytest.mark.parametrize("several", ["boxplot,baselines", "glob(box*)"])
def test_a_command_for_several_experiments_is_told_to_be_several(several: str) -> None:
    said = failure(f"+experiment={several}", "evaluation.episodes=2")
    assert said.startswith(f"+experiment={several}: a command runs one experiment")


@pytest.mark.slow
def test_a_baseline_of_the_leaderboard_shows_its_reward() -> None:
    x = "evaluation.baselines.x"
    chat = (f"+designer@{x}=endpoint", f"{x}.model=m", f"{x}.prompt.weights=[revenue]")
    assert "prompts show weights of revenue alone" in failure(
        "+experiment=leaderboard", "reward=welfare", *chat
    )


def test_the_settings_of_a_study_s_trials_are_checked_at_once() -> None:
    said = failure("+experiment=tune", "training.grpo.horizon=50")
    assert said.startswith("training.grpo.horizon: 50; an episode has")


def test_a_module_that_is_no_task_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "draft.py").touch()
    monkeypatch.setattr(task_options, "ROOT", tmp_path)
    monkeypatch.setitem(sys.modules, "experiments.draft", ModuleType("experiments.draft"))
    said = failure("task=draft")
    assert said.startswith("task: no option draft. experiments/draft.py needs a main, and a data")
