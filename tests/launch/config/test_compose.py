"""Every file under conf/ composes into a valid configuration of typed objects."""

from __future__ import annotations

from copy import copy
from pathlib import Path

import pytest
from hydra.core.config_store import ConfigStore
from hydra.core.singleton import Singleton
from omegaconf import OmegaConf

from daedalus.design.designers.endpoint import EndpointSettings
from daedalus.design.designers.fixed import FixedSettings
from daedalus.design.designers.random import RandomSettings
from daedalus.launch.config.compose import read_config, register
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.paths import CONF
from daedalus.launch.config.task_options import chosen_tasks
from daedalus.launch.config.task_parts import Task
from daedalus.market.mechanism import Mechanism
from daedalus.runs.folder import POLICY
from daedalus.runs.pretrained import FOLDER
from tests.launch.config.composing import (
    EXPERIMENTS,
    FILES,
    GROUPS,
    POPULATIONS,
    STAGES,
    composed,
    composed_once,
    failure,
    group_of,
    leave_run,
    listed_populations,
)
from tests.populations import seat_plan

OPTIONS = [path for path in FILES if group_of(path) != "population"]
"""Files that compose here. tests/launch/config/test_markets.py composes every population."""


READERS = {
    "bidder": ["task=llm_bidders"],
    "mechanism": ["task=compare", "designer=fixed"],
    "model": ["task=grpo"],
    "populations": ["task=oracle", "designer=search"],
    "training": ["task=grpo"],
}
"""Overrides with which a run reads what a group sets."""


BRIEFED = ("brief_model", "brief_search", "tuned_reader")
TAKERS = {"grpo": "task=tune"} | dict.fromkeys(BRIEFED, "+experiment=briefs")
"""What takes an option that ``compare`` does not."""
COMPARISONS = {
    "leaderboard_trained": 1,
    "understanding": 1,
    "objectives": 1,
    "known_optimum_trained": 5,
}
"""Experiments that read a sweep of training, and the seeds that it must have."""


def test_every_group_has_files() -> None:
    assert {group_of(path) for path in FILES} == {*GROUPS, "experiment", "hydra/launcher"}
    assert len(FILES) > 40


@pytest.mark.slow
@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: f"{group_of(path)}/{path.stem}")
def test_file_composes(path: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()  # stands for a model where a designer must name one
    group, option = group_of(path), path.stem
    overrides = [f"+experiment={option}"] if group == "experiment" else [f"{group}={option}"]
    if group != "experiment":
        overrides += READERS.get(group, [TAKERS.get(option, "task=compare")])
    packing = (group, option) == ("experiment", "pretrained")
    if option in ("language_model", "brief_model", "publish") or packing:
        overrides.append(f"designer.checkpoint={tmp_path}")
    if option == "ppo" and group == "designer":
        (tmp_path / POLICY).touch()
        overrides.append(f"designer.checkpoint={tmp_path}")
    if option == "submission":
        overrides.append(f"designer.file={tmp_path / 'config.json'}")
    if option == "endpoint":
        overrides.append(f"{group}.model=any")
    if option in COMPARISONS:
        for seed in range(COMPARISONS[option]):
            leave_run(tmp_path / str(seed), seed)
        overrides.append(f"trained={tmp_path}")
    config = composed_once(*sorted(overrides))
    assert isinstance(config, Task)
    assert group != "experiment" or chosen_tasks(overrides) == {config.task}


def test_the_ladder_of_known_optima_takes_a_model() -> None:
    model = "designer=language_model", "designer.checkpoint=OWNER/NAME"
    assert composed("+experiment=known_optimum", *model).designer.name == "trained"


@pytest.mark.slow
@pytest.mark.parametrize("stage", range(5))
def test_population_files_are_the_published_ones(stage: int) -> None:
    settings = composed("task=compare", "market=classic", f"population=stage{stage}").population
    ours, expected = settings.classic, seat_plan(stage)
    assert ours is not None and settings.strategic is not None
    assert ours.stage == settings.strategic.stage == stage
    for mine, theirs in zip(ours.seat_groups(), expected.seat_groups(), strict=True):
        assert ours.groups[mine] == expected.groups[theirs]


def populations_of(group: str) -> list[str]:
    return list(listed_populations(group))


@pytest.mark.slow
def test_every_population_is_developed_on_held_out_or_where_designers_learn() -> None:
    development, held_out = populations_of("development"), populations_of("held_out")
    validation = [name for name in populations_of("validation") if name not in held_out]
    others = [*validation, "tacit", "varied", "world", "wide_world"]
    others += [*populations_of("benchmark"), *populations_of("benchmark_2")]
    others += [*populations_of("known_optimum"), *populations_of("briefs")]
    assert sorted([*development, *held_out, *others]) == POPULATIONS
    assert populations_of("stages") == STAGES


@pytest.mark.slow
def test_the_leaderboard_takes_a_chat_model_only_if_asked() -> None:
    assert "zero_shot" not in composed_once("+experiment=leaderboard").evaluation.baselines
    chosen = "designer@evaluation.baselines.zero_shot=endpoint"
    named = "evaluation.baselines.zero_shot.model=any"
    config = composed("+experiment=leaderboard", chosen, named)
    assert config.evaluation.baselines["zero_shot"] == EndpointSettings(
        name="endpoint", model="any"
    )


@pytest.mark.slow
def test_required_experiments_are_there() -> None:
    stages = [f"{task}_stage{stage}" for task in ("sft", "grpo") for stage in (1, 2, 3, 4)]
    for name in [*stages, "baselines", "boxplot", "replicate_published", "search", "smoke"]:
        assert name in EXPERIMENTS
    for name in stages:
        assert composed_once(f"+experiment={name}").population.name == f"stage{name[-1]}"


def test_objects_arrive_typed() -> None:
    config = composed("+experiment=boxplot", "designer=fixed", "mechanism=first_price")
    assert config.designer == FixedSettings(
        name="fixed", mechanism=Mechanism(auction_type="first_price")
    )
    assert isinstance(config.evaluation.baselines["random"], RandomSettings)
    greedy = config.evaluation.baselines["informed_greedy"].mechanism
    assert (greedy.reserve_price, greedy.collusion_penalty) == (0.18, 1.9)


def test_a_population_without_a_name_says_so() -> None:
    message = failure("task=compare", "population.name=???")
    assert message == "population.name: not set"


def test_the_default_mechanism_stands_once() -> None:
    assert composed("task=compare").mechanism == Mechanism()
    lines = (CONF / "mechanism" / "default.yaml").read_text().splitlines()
    assert [line for line in lines if not line.startswith(("#", "defaults:"))] == []


@pytest.mark.slow
def test_a_comparison_of_trained_models_asks_for_their_sweep() -> None:
    for name in ("leaderboard_trained", "understanding", "objectives"):
        assert "name the folder of a sweep" in failure(f"+experiment={name}")


@pytest.mark.slow
def test_the_service_and_the_endpoint_of_a_designer_have_other_ports() -> None:
    x = "evaluation.baselines.x"
    config = composed("+experiment=serve", f"+designer@{x}=endpoint", f"{x}.model=m")
    chat = config.evaluation.baselines["x"]
    assert isinstance(chat, EndpointSettings)
    assert f":{config.service.port}/" not in chat.base_url


@pytest.mark.slow
def test_a_saved_configuration_is_the_run_s(tmp_path: Path) -> None:
    asked = composed("+experiment=grpo_mixture", "model=tiny_qlora", "seed=3")
    OmegaConf.save(OmegaConf.structured(asked), tmp_path / "config.yaml")
    found = read_config(tmp_path / "config.yaml")
    for part in ("seed", "population", "market", "reward", "model", "training"):
        assert getattr(found, part) == getattr(asked, part)


@pytest.mark.slow
def test_a_configuration_with_settings_that_are_gone_is_read_if_they_are_off() -> None:
    packed = FOLDER / "run" / "config.yaml"
    text = packed.read_text()
    for line in ("    siblings: 0", "    regret_pool: 1", "    rollouts: state", "  curriculum:"):
        assert text.count(f"{line}\n") == 1, line
    found = read_config(packed)
    asked = composed("+experiment=grpo_world")
    for part in ("population", "market", "reward", "training"):
        assert getattr(found, part) == getattr(asked, part)


@pytest.mark.parametrize(
    "line",
    [
        "training: { grpo: { siblings: 2 } }",
        "training: { grpo: { regret_pool: 4 } }",
        "training: { grpo: { rollouts: episode } }",
        "training: { curriculum: { stages: { a: { window: 1 } } } }",
        "hub: { adapter_only: true }",
        "model: { double_quantisation: true }",
        "training: { grpo: { epsilon_high: 0.28 } }",
        "training: { grpo: { iterations: 2 } }",
    ],
)
def test_a_configuration_with_a_setting_on_that_is_gone_is_refused(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "config.yaml").write_text(line)
    with pytest.raises(ConfigError, match=r"another version of the project.*: it is gone"):
        read_config(tmp_path / "config.yaml")


@pytest.mark.parametrize("line", ["no_such_key: 1", "seed: -1", "market: { rules: classic }"])
def test_a_configuration_of_another_version_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "config.yaml").write_text(line)
    with pytest.raises(ConfigError, match=r"another version of the project.*provenance\.json"):
        read_config(tmp_path / "config.yaml")


def test_schemas_are_registered_again_in_the_store_of_a_sweep_s_job() -> None:
    register(["+experiment=ask"])
    whole = Singleton.get_state()
    try:
        own = copy(ConfigStore.instance())
        tasks = {**own.repo["task"]}
        del tasks["ask_schema.yaml"]
        own.repo = {**own.repo, "task": tasks}
        bare = {**whole, "instances": {**whole["instances"], ConfigStore: own}}
        Singleton.set_state(bare)
        register(["+experiment=ask"])
        assert "ask_schema.yaml" in ConfigStore.instance().repo["task"]
    finally:
        Singleton.set_state(whole)
