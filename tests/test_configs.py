"""Every file under conf/ composes into a valid configuration, and mistakes say what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from daedalus.config import (
    Config,
    ConfigError,
    compose_config,
    explain,
    first_screen,
    help_text,
    register,
    run_directory,
    to_config,
)
from daedalus.designers.endpoint import EndpointSettings
from daedalus.designers.fixed import FixedSettings
from daedalus.designers.random import RandomSettings
from daedalus.market.mechanism import Mechanism
from tests.populations import seat_plan

ROOT = Path(__file__).parents[1]
CONF = ROOT / "conf"
FILES = sorted(CONF.rglob("*/*.yaml"))
GROUPS = "population populations market mechanism reward designer model training".split()
GROUPS += ["training/curriculum", "evaluation", "adversary", "tracking", "service", "load"]
EXPERIMENTS = [path.stem for path in FILES if path.parent.name == "experiment"]
POPULATIONS = [path.stem for path in FILES if path.parent.name == "population"]
STAGES = [f"stage{stage}" for stage in range(5)]


def composed(*overrides: str) -> Config:
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return to_config(compose("config", overrides=list(overrides)), overrides)


def group_of(path: Path) -> str:
    return path.parent.relative_to(CONF).as_posix()


def failure(*overrides: str) -> str:
    with pytest.raises((HydraException, OmegaConfBaseException, ConfigError)) as caught:
        composed(*overrides)
    return explain(caught.value)


def test_every_group_has_files() -> None:
    assert {group_of(path) for path in FILES} == {*GROUPS, "experiment"}
    assert len(FILES) > 40


def leave_sweep(folder: Path) -> Path:
    """Leave what a sweep over one seed leaves: configuration, models and distillation data."""
    for name in ("model", "sft_model"):
        (folder / "0" / name).mkdir(parents=True)
        (folder / "0" / name / "config.json").touch()
    (folder / "0" / "distillation_data.npz").touch()
    (folder / "0" / "config.yaml").write_text("seed: 0\n")
    return folder


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{group_of(path)}/{path.stem}")
def test_file_composes(path: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()  # stands for a model where a designer must name one
    group, option = group_of(path), path.stem
    overrides = [f"+experiment={option}"] if group == "experiment" else [f"{group}={option}"]
    if group != "experiment":
        overrides.append("task=compare" if "training" in group else "+experiment=smoke")
    if option == "language_model":
        overrides.append(f"designer.checkpoint={tmp_path}")
    if option == "endpoint":
        overrides.append("designer.model=any")
    if option == "leaderboard_trained":
        overrides.append(f"trained={leave_sweep(tmp_path)}")
    assert isinstance(composed(*overrides), Config)


@pytest.mark.parametrize("stage", range(5))
def test_population_files_are_the_published_ones(stage: int) -> None:
    settings = composed("task=compare", "market=classic", f"population=stage{stage}").population
    ours, expected = settings.classic, seat_plan(stage)
    assert ours is not None and settings.strategic is not None
    assert ours.stage == settings.strategic.stage == stage
    for mine, theirs in zip(ours.seat_groups(), expected.seat_groups(), strict=True):
        assert ours.groups[mine] == expected.groups[theirs]


@pytest.mark.parametrize("name", POPULATIONS)
def test_a_population_has_the_name_of_its_file(name: str) -> None:
    assert composed("task=compare", f"population={name}").population.name == name


@pytest.mark.parametrize("name", POPULATIONS)
def test_a_population_is_played_as_described_or_refused(name: str) -> None:
    assert "strategic" in composed("task=compare", f"population={name}").population.markets
    asked = ("task=compare", "market=classic", f"population={name}")
    if name in STAGES:
        assert composed(*asked).population.classic is not None
    else:
        message = failure(*asked)
        assert f"market=classic cannot play {name}" in message
        assert f"it plays {', '.join(STAGES)}." in message and "market=strategic" in message


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        (["+experiment=populations"], "populations.thick_ring"),
        (["training=planned"], "training.sft.practice.exploiter_heavy"),
        (["training/curriculum=mixture"], "training.curriculum.stages.mixture"),
        (["task=exploitability"], "task: exploitability"),
        (["training=reading"], "training.portfolio.populations"),
    ],
)
def test_the_classic_market_refuses_what_it_cannot_play(overrides: list[str], key: str) -> None:
    message = failure("task=compare", "market=classic", *overrides)
    assert key in message and "market=strategic" in message


def test_both_markets_play_the_stages() -> None:
    chosen = composed("+experiment=populations", "market=classic", "populations=stages")
    assert list(chosen.populations) == STAGES


def test_a_population_of_the_classic_market_alone_is_refused_by_the_strategic_one() -> None:
    message = failure("task=compare", "population.strategic=null")
    assert "market=strategic cannot play stage3" in message and "or market=classic" in message


@pytest.mark.parametrize(
    ("market", "override"),
    [
        ("classic", "population.strategic.bidders=12"),
        ("classic", "population.strategic.types.shader.share=0.5"),
        ("classic", "market.strategic.audit_rate=0.1"),
        ("classic", "++market.strategic.audit_rate=0.1"),
        ("strategic", "population.classic.bidders=12"),
        ("strategic", "population.classic.groups.shader.value_low=0.5"),
    ],
)
def test_a_setting_that_the_market_does_not_read_is_refused(market: str, override: str) -> None:
    other = "strategic" if market == "classic" else "classic"
    message = failure("task=compare", f"market={market}", override)
    assert f"market={market} does not read {override.split('=')[0].lstrip('+')}" in message
    assert f"leave it out, or choose market={other}" in message
    assert composed("task=compare", f"market={other}", override).market.name == other
    assert composed("task=bench", f"market={market}", override)  # it plays both


def test_the_arguments_of_a_function_are_checked_as_the_command_line_is(tmp_path: Path) -> None:
    wrong = ("+experiment=boxplot", "market=classic", "population.strategic.units=1")
    with pytest.raises(ConfigError, match=r"does not read population\.strategic\.units"):
        compose_config(*wrong)
    answer = run(*wrong, cwd=tmp_path)
    assert answer.returncode == 1
    assert "does not read population.strategic.units" in answer.stderr


def populations_of(group: str) -> list[str]:
    return list(composed("task=compare", f"populations={group}").populations)


def test_every_population_is_developed_on_held_out_or_where_designers_learn() -> None:
    development, held_out = populations_of("development"), populations_of("held_out")
    assert sorted([*development, *held_out, "varied"]) == POPULATIONS
    assert populations_of("stages") == STAGES


def test_headers_that_name_a_kind_of_population_are_true() -> None:
    for name in POPULATIONS:
        header = (CONF / "population" / f"{name}.yaml").read_text().splitlines()[0]
        assert header.startswith("# Held out:") == (name in populations_of("held_out"))
    development = (CONF / "populations" / "development.yaml").read_text().splitlines()[0]
    assert "The five stages and four more" in development
    assert len(populations_of("development")) == 5 + 4


def test_no_list_of_populations_says_that_it_has_them_all() -> None:
    for path in (CONF / "populations").glob("*.yaml"):
        header = path.read_text().splitlines()[0].lower()
        listed = populations_of(path.stem)
        assert not {"every", "all"} & set(header.split()[1:4]) or listed == POPULATIONS


def test_the_leaderboard_takes_a_chat_model_only_if_asked() -> None:
    assert "zero_shot" not in composed("+experiment=leaderboard").evaluation.baselines
    chosen = "designer@evaluation.baselines.zero_shot=endpoint"
    named = "evaluation.baselines.zero_shot.model=any"
    config = composed("+experiment=leaderboard", chosen, named)
    assert config.evaluation.baselines["zero_shot"] == EndpointSettings(
        name="endpoint", model="any"
    )


def test_required_experiments_are_there() -> None:
    stages = [f"{task}_stage{stage}" for task in ("sft", "grpo") for stage in (1, 2, 3, 4)]
    for name in [*stages, "baselines", "boxplot", "replicate_published", "search", "smoke"]:
        assert name in EXPERIMENTS
    for name in stages:
        assert composed(f"+experiment={name}").population.name == f"stage{name[-1]}"


def test_every_experiment_says_what_it_asks_and_how_to_run_it() -> None:
    for name in EXPERIMENTS:
        text = (CONF / "experiment" / f"{name}.yaml").read_text()
        assert f"+experiment={name}" in text
        question = [line for line in help_text().splitlines() if f"  {name} " in line]
        assert len(question) >= 1 and "?" in question[0]


def test_objects_arrive_typed() -> None:
    config = composed("+experiment=boxplot", "designer=fixed", "mechanism=first_price")
    assert config.designer == FixedSettings(
        name="fixed", mechanism=Mechanism(auction_type="first_price")
    )
    assert isinstance(config.evaluation.baselines["random"], RandomSettings)
    greedy = config.evaluation.baselines["informed_greedy"].mechanism
    assert (greedy.reserve_price, greedy.collusion_penalty) == (0.18, 1.9)


@pytest.mark.parametrize(
    ("overrides", "hints"),
    [
        (["+experiment=grpo_stag3"], ["Did you mean grpo_stage3?"]),
        (["population=stage33"], ["Did you mean stage3?"]),
        (["trainin.grpo.steps=3"], ["trainin", "Did you mean training?"]),
        (["training.grpo.stepz=3"], ["stepz", "Did you mean steps?"]),
        (["designer=random", "designer.samplng=published"], ["Did you mean sampling?"]),
        (["training.grpo.steps=many"], ["training.grpo.steps", "many", "Integer"]),
        (["seed=-1"], ["seed: -1", "from 0 up"]),
        (["mechanism.reserve_price=1.5"], ["reserve_price: 1.5", "from 0.0 to 0.9"]),
        (["mechanism.auction_type=dutch"], ["dutch", "first_price, second_price, vcg"]),
        (["+reward.weights.welfar=1"], ["welfar", "welfare"]),
        (["reward.weights.composit=1"], ["Did you mean composite?"]),
        (["evaluation.baselines.randm.sampling=published"], ["Did you mean random?"]),
        (
            ["market=classic", "population.classic.groups.colluder.seats=[5,4,0]"],
            ["groups.colluder.seats", "pairs"],
        ),
        (["population.strategic.types.colluder.menu=[shde]"], ["shde", "opt_out, shade"]),
        (["population.strategic.types.shader.demand=3"], ["demand: 3", "1 or 2"]),
        (["population.strategic.units=9"], ["units: 9", "1 to 5"]),
        (["market.strategic.audit_rte=1"], ["Did you mean audit_rate?"]),
        (["training.grpo.schedule=cosin"], ["schedule: 'cosin'", "cosine"]),
        (["training.grpo.horizon=99"], ["horizon: 99", "10 steps"]),
        (["training.grpo.learning_rate=inf"], ["learning_rate: inf", "finite"]),
        (["task=nope"], ["task: 'nope'", "grpo"]),
        (
            ["market=classic", "population.classic.groups.colluder.seats=[1,2]"],
            ["seat 1", "dropout_patient"],
        ),
        (["training.grpo.micro_batch=7"], ["micro_batch: 7", "divisor of 64"]),
        (["designer=language_model"], ["checkpoint", "`model` folder"]),
        (["designer=endpoint"], ["model: not set", "the server offers"]),
        (["designer=endpoint", "designer.api_key=x"], ["Did you mean api_key_variable?"]),
        (["market.scored_rounds=6"], ["scored_rounds: 6", "5 rounds"]),
        (["adversary.discretion=[0.5,2.0]"], ["discretion: 2.0", "from 0 to 1"]),
        (["load.http_rates=[300,100]"], ["http_rates: [300.0, 100.0]", "ascending"]),
        (["service.connections=200"], ["connections: 200", "more than websocket_sessions"]),
        (["adversary.expected_surplus=[0.05,0.03]"], ["expected_surplus: [0.05", "[low, high]"]),
    ],
)
def test_mistakes_say_what_to_write(overrides: list[str], hints: list[str]) -> None:
    message = failure("task=compare", *overrides)
    for hint in hints:
        assert hint in message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("market.rules=classic", "market.rules: renamed to market.name"),
        ("population.units=2", "renamed to population.strategic.units"),
        ("population.concentration=2", "renamed to population.strategic.concentration"),
        ("population.types.shader.share=1", "renamed to population.strategic.types"),
        ("population.groups.shader.seats=[1]", "renamed to population.classic.groups"),
        (
            "population.bidders=12",
            "renamed to population.strategic.bidders or population.classic.bidders",
        ),
        ("population.stage=1", "renamed to population.strategic.stage or population.classic.stage"),
        (
            "population.strategic.types.shader.hope=0.1",
            "renamed to population.strategic.types.shader.expected_surplus",
        ),
        ("adversary.hope=[0.0,0.1]", "renamed to adversary.expected_surplus"),
        ("training.prompt.rules=true", "renamed to training.prompt.mechanism"),
        ("training.sft.answer_scale=1", "renamed to training.sft.temperature"),
        ("training.grpo.kept=1", "renamed to training.grpo.commitment_steps"),
        (
            "evaluation.baselines.random_card.sampling=uniform",
            "renamed to evaluation.baselines.random_published",
        ),
        ("populations=shipped", "populations=shipped: renamed to populations=development"),
        ("reward=card", "renamed to reward=published"),
        ("reward=card_stability", "renamed to reward=published_stability"),
        ("training=card", "renamed to training=published"),
        ("training/curriculum=card", "renamed to training/curriculum=published"),
        ("designer=random_card", "renamed to designer=random_published"),
        ("+experiment=replicate_card", "renamed to experiment=replicate_published"),
    ],
)
def test_an_old_name_says_what_it_was_renamed_to(old: str, new: str) -> None:
    assert new in failure("task=compare", old)


@pytest.mark.parametrize(
    ("choice", "old", "new"),
    [
        ("designer=distilled", "designer.kept=1", "designer.commitment_steps"),
        ("designer=distilled", "designer.lessons=x", "designer.data"),
        (
            "training=planned",
            "training.sft.teacher.kept=1",
            "training.sft.teacher.commitment_steps",
        ),
        ("training=planned", "training.sft.teacher.lessons=x", "training.sft.teacher.data"),
    ],
)
def test_an_old_name_in_a_group_says_what_it_was_renamed_to(
    choice: str, old: str, new: str
) -> None:
    assert f"renamed to {new}" in failure("task=compare", "population=varied", choice, old)


def test_an_old_name_in_a_file_says_what_it_was_renamed_to(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    old = "# @package _global_\ntask: compare\nmarket: { rules: classic }\n"
    (tmp_path / "experiment" / "mine.yaml").write_text(old)
    answer = run(f"hydra.searchpath=[file://{tmp_path}]", "+experiment=mine", cwd=tmp_path)
    assert answer.returncode == 1
    assert "market.rules: renamed to market.name" in answer.stderr


def test_nothing_to_run_says_so() -> None:
    assert "+experiment=NAME" in failure()


def test_a_population_without_a_name_says_so() -> None:
    message = failure("task=compare", "population.name=???")
    assert message == "population.name: not set"


def test_no_arguments_show_how_to_begin(tmp_path: Path) -> None:
    answer = run(cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.strip() == first_screen().strip()
    assert help_text().startswith(first_screen())
    assert "+experiment=grpo_stage3" in answer.stderr and "Traceback" not in answer.stderr


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_lists_every_group_and_its_options(group: str) -> None:
    listing = help_text().split("\ngroups\n")[1].splitlines()
    (line,) = [each for each in listing if each.startswith(f"  {group} ")]
    listed = line.split(maxsplit=1)[1].split(", ")
    assert listed == sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def test_the_default_mechanism_stands_once() -> None:
    assert composed("task=compare").mechanism == Mechanism()
    lines = (CONF / "mechanism" / "default.yaml").read_text().splitlines()
    assert [line for line in lines if not line.startswith(("#", "defaults:"))] == []


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "run.py"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def test_help_and_dry_compose_do_without_the_heavy_libraries() -> None:
    script = (
        "import sys, run; from daedalus.config import help_text, register, to_config\n"
        "from hydra import compose, initialize_config_dir\n"
        "assert 'grpo_stage3' in help_text()\n"
        "register()\n"
        "with initialize_config_dir(str(run.CONF), version_base='1.3'):\n"
        "    to_config(compose('config', overrides=['+experiment=grpo_stage3']))\n"
        "print([name for name in ('torch', 'numba', 'pandas', 'wandb') if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_a_mistake_on_the_command_line_is_one_message(tmp_path: Path) -> None:
    answer = run("+experiment=boxplot", "training.grpo.stepz=3", cwd=tmp_path)
    assert answer.returncode == 1
    assert "Did you mean steps?" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not list(tmp_path.rglob("*.csv"))


@pytest.mark.slow
def test_sweep_leaves_one_tidy_table(tmp_path: Path) -> None:
    keys = ["population=stage0,stage1", "seed=0,1", "evaluation.episodes=4", "tracking=files"]
    answer = run("-m", "+experiment=baselines", *keys, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    tables = list(tmp_path.glob("outputs/sweeps/baselines/*/sweep.csv"))
    assert len(tables) == 1
    table = pd.read_csv(tables[0])
    assert len(table) == 4 * 4  # jobs x designers
    assert set(zip(table["population"], table["seed"], strict=True)) == {
        (stage, seed) for stage in ("stage0", "stage1") for seed in (0, 1)
    }
    assert table.groupby(["population", "seed"])["designer"].nunique().eq(4).all()
    seeds = pd.read_csv(tables[0].with_name("seeds.csv"))
    assert len(seeds) == 2 * 4  # populations x designers
    assert (seeds["seeds"] == 2).all()
    first = table[(table["population"] == "stage0") & (table["designer"] == "random")]
    assert seeds.loc[0, "mean"] == pytest.approx(first["mean"].mean())
    assert (seeds["mean_low"] <= seeds["mean"]).all() and (
        seeds["mean"] <= seeds["mean_high"]
    ).all()


@pytest.mark.slow
def test_sweeping_the_designer_keeps_both_columns(tmp_path: Path) -> None:
    keys = ["designer=heuristic,random_published", "evaluation.episodes=4", "tracking=files"]
    answer = run("-m", "+experiment=boxplot", *keys, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    table = pd.read_csv(next(tmp_path.glob("outputs/sweeps/boxplot/*/sweep.csv")))
    assert set(table["override.designer"]) == {"heuristic", "random_published"}
    assert {"heuristic", "random_published", "random"} <= set(table["designer"])


@pytest.mark.slow
def test_a_changed_baseline_is_played_beside_the_shipped_one(tmp_path: Path) -> None:
    keys = ["designer.mechanism.reserve_price=0.9", "evaluation.episodes=4", "tracking=files"]
    answer = run("+experiment=boxplot", *keys, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    table = pd.read_csv(next(tmp_path.glob("outputs/boxplot/*/summary.csv")))
    means = table.set_index("designer")["mean"]
    assert means["informed_greedy_changed"] < 0.1 < means["informed_greedy"]


def test_resume_finds_the_newest_run_that_was_started_and_not_finished(tmp_path: Path) -> None:
    for name, files in {
        "2026-01-01": ["config.yaml", "finished"],
        "2026-01-02": ["config.yaml"],
        "2026-01-03": ["config.yaml", "finished"],
        "2026-01-04": [],  # refused before it began
    }.items():
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).touch()
    fresh = str(tmp_path / "2026-01-05")
    assert run_directory(fresh, resume=True) == str(tmp_path / "2026-01-02")
    assert run_directory(fresh, resume=False) == fresh
    (tmp_path / "2026-01-02" / "finished").touch()
    assert run_directory(fresh, resume=True) == fresh


def test_a_comparison_of_trained_models_asks_for_their_sweep() -> None:
    assert "name the folder of a sweep" in failure("+experiment=leaderboard_trained")


def test_curricula_have_their_stages() -> None:
    for name, count in {"none": 0, "mixture": 1, "published": 5}.items():
        stages = composed("task=grpo", f"training/curriculum={name}").training.curriculum.stages
        assert len(stages) == count
