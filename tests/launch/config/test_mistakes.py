"""A mistake gets one message that says what to write, and an old name its new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launch.config.composing import failure, own_experiment

READERS = {
    "hub": "publish",
    "training": "grpo",
    "trainin": "grpo",
    "trainig": "grpo",
    "grpo": "grpo",
    "model": "grpo",
    "service": "bench_service",
    "adversary": "exploitability",
    "populations": "leaderboard",
}


def task_of(override: str) -> str:
    """Return a task that takes what an override changes."""
    group = override.lstrip("+").partition("=")[0].replace("/", ".").partition(".")[0]
    return READERS.get(group, "compare")


@pytest.mark.parametrize(
    ("overrides", "hints"),
    [
        (["+experiment=grpo_stag3"], ["Did you mean grpo_stage3?"]),
        (["mechanism.reserve_price=1.5"], ["reserve_price: 1.5", "from 0.0 to 0.9"]),
        (["+reward.weights.welfar=1"], ["welfar", "welfare"]),
        (["reward.weights.composit=1"], ["Did you mean reward.weights.composite?"]),
        (
            ["evaluation.baselines.randm.sampling=published"],
            ["Did you mean evaluation.baselines.random.sampling?"],
        ),
        (
            ["market=classic", "population.classic.groups.colluder.seats=[1,2]"],
            ["seat 1", "dropout_patient"],
        ),
        (["designer=language_model"], ["checkpoint", "`model` folder"]),
        (["designer=endpoint"], ["model: not set", "the server offers"]),
        (["designer=endpoint", "designer.api_key=x"], ["Did you mean designer.api_key_variable?"]),
        (["service.connections=200"], ["connections: 200", "more than websocket_sessions"]),
        (["reward.weights.composite=-1"], ["reward.weights.composite: -1.0", "from 0 up"]),
        (["model.pretrained=docs"], ["model.pretrained: 'docs'", "config.json"]),
        (["model.key_value_heads=0"], ["key_value_heads: 0", "a divisor of heads, 4"]),
        (["designer=distilled", "designer.data=README.md"], ["designer.data: README.md holds no"]),
        (["designer=null"], ["a group takes the name of one of its files"]),
        (["population=[stage1,stage2]"], ["choose one file of conf/population/"]),
    ],
)
def test_mistakes_say_what_to_write(overrides: list[str], hints: list[str]) -> None:
    message = failure(f"task={task_of(overrides[0])}", *overrides)
    for hint in hints:
        assert hint in message


@pytest.mark.parametrize(
    ("old", "named"),
    [
        ("training.grpo.siblings=1", "training.grpo.siblings"),
        ("training.grpo.siblings=0", "training.grpo.siblings"),
        ("+training.grpo.regret_pool=4", "training.grpo.regret_pool"),
        ("training.grpo.rollouts=episode", "training.grpo.rollouts"),
        ("training/curriculum=published", "training/curriculum"),
        ("+training/curriculum=published", "training/curriculum"),
        ("training.curriculum.stages.x.window=3", "training.curriculum.stages.x.window"),
        ("training=grpo_episode", "training/grpo_episode"),
        ("hub.adapter_only=true", "hub.adapter_only"),
        ("model.double_quantisation=true", "model.double_quantisation"),
        ("training.grpo.epsilon=0.1", "training.grpo.epsilon"),
        ("training.grpo.epsilon_high=0.28", "training.grpo.epsilon_high"),
        ("training.grpo.iterations=2", "training.grpo.iterations"),
    ],
)
def test_what_is_gone_is_refused_in_one_sentence(old: str, named: str) -> None:
    said = failure(f"task={task_of(old)}", old)
    place = "docs/log.md says why, and which commit has it"
    assert said == f"{named}: it is gone ({place}); leave it out"


TYPES = [
    ("training.grpo.learning_rate=fast", "training.grpo.learning_rate: fast; give a number"),
    ("training.grpo.steps=1.5", "training.grpo.steps: 1.5; give an integer"),
    ("training.grpo.steps=[1,2]", "training.grpo.steps: [1,2]; give an integer"),
    ("seed=null", "seed: null; give an integer"),
    ("seed=", "seed: empty; give an integer"),
    ("workers=x", "workers: x; give an integer or null"),
    ("resume=maybe", "resume: maybe; give true or false"),
    ("service.hosts=3", "service.hosts: 3; give a list as in [A,B]"),
    (
        "training.grpo=3",
        "training.grpo: 3; give the settings below it, as in training.grpo.KEY=VALUE",
    ),
    (
        "population.strategic.types=3",
        "population.strategic.types: 3; give the settings below it, as in "
        "population.strategic.types.NAME.KEY=VALUE",
    ),
    (
        "+populations.x=3",
        "populations.x: 3; give the settings below it, as in populations.x.KEY=VALUE",
    ),
]


@pytest.mark.parametrize(("override", "sentence"), TYPES)
def test_a_wrong_type_is_one_sentence_without_a_template(override: str, sentence: str) -> None:
    assert failure(f"task={task_of(override)}", override) == sentence


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        (
            "trainig.grpo.steps=3",
            "trainig.grpo.steps: no such setting. Did you mean training.grpo.steps?",
        ),
        ("grpo.steps=3", "grpo.steps: no such setting. Did you mean training.grpo.steps?"),
        (
            "training.grpo.stepz=3",
            "training.grpo.stepz: no such setting. Did you mean training.grpo.steps?",
        ),
        ("populatoin=stage3", "populatoin: no such setting. Did you mean population?"),
        ("+seed=3", "+seed=3: the setting exists; leave the + out"),
        (
            "allowed.auction_type=[vcg]",
            "allowed.auction_type: it is not restricted yet; write +allowed.auction_type",
        ),
        ("+population=stage1", "+population=NAME: one is chosen already; leave the + out"),
        ("boxplot", "boxplot: no setting; write KEY=VALUE"),
        (
            "seed=1,2",
            "seed=1,2: add -m to run a job for each value, or write seed=[1,2] for a list",
        ),
        ("~nothing", "~nothing: no such setting"),
    ],
)
def test_a_misspelt_override_is_one_sentence(override: str, sentence: str) -> None:
    assert failure(f"task={task_of(override)}", override) == sentence


@pytest.mark.parametrize("override", ["seed=[1", "seed==1"])
def test_what_the_grammar_refuses_is_one_sentence(override: str) -> None:
    told = failure("+experiment=boxplot", override)
    assert told.startswith(f"{override}: it cannot be read; put a value") and "\n" not in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trained", "told"),
    [
        ("trained=nowhere", "trained: there is no folder nowhere; name the folder of a sweep"),
        ("seed=0", "no runs to take; name the folder of a sweep, such as trained=FOLDER"),
    ],
)
def test_an_error_within_a_reference_is_said_once(trained: str, told: str) -> None:
    said = failure("+experiment=leaderboard_trained", trained)
    assert said.startswith(told) and "\n" not in said


def test_a_reference_to_nothing_names_its_setting() -> None:
    assert failure("+experiment=boxplot", "seed=${nope}") == (
        "seed: Interpolation key 'nope' not found"
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "defaults: [override /task: compare]\nseed: abc\n",
            "seed: 'abc'; give an integer (in experiment/mine.yaml)",
        ),
        (
            "defaults: [override /task: grpo]\ntraining: { grpo: { stepz: 3 } }\n",
            "training.grpo.stepz: no such setting. Did you mean training.grpo.steps? "
            "(in experiment/mine.yaml)",
        ),
        ("seed: [1\n", "experiment/mine.yaml, line 3: it is no YAML ("),
        (
            "defaults: [override /task: grpo, override /training/curriculum: published]\n",
            "training/curriculum: it is gone (docs/log.md says why",
        ),
    ],
)
def test_a_mistake_in_a_file_names_the_file(content: str, told: str, tmp_path: Path) -> None:
    said = failure(*own_experiment(tmp_path, f"# @package _global_\n{content}"))
    assert told in said and "\n" not in said


@pytest.mark.parametrize(
    ("place", "folder"),
    [
        ("population", "."),
        ("conf/population", "conf"),
        ("outputs/from_bids/now/population", "outputs/from_bids/now"),
    ],
)
def test_a_file_of_the_users_says_how_to_choose_it(
    place: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "patient.yaml").touch()
    monkeypatch.chdir(tmp_path)
    told = failure("+experiment=boxplot", "population=patient")
    assert told == (
        f"population: no option patient. {place}/patient.yaml has this name: "
        f"add --config-dir {folder}"
    )


def test_a_file_beside_the_user_has_to_be_in_the_folder_of_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "patient.yaml").touch()
    monkeypatch.chdir(tmp_path)
    told = failure("+experiment=boxplot", "population=patient")
    assert told.endswith("Move patient.yaml into a folder population/, and add --config-dir .")


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("designer=stage3", "Did you mean population=stage3?"),
        ("population=boxplot", "Did you mean +experiment=boxplot?"),
        ("population=honst", "Did you mean honest?"),
        ("designer=honest", "Did you mean population=honest?"),
    ],
)
def test_a_name_of_another_group_is_found_there(override: str, told: str) -> None:
    assert failure("+experiment=boxplot", override).endswith(told)


def test_a_name_of_nowhere_is_no_misspelling(tmp_path: Path) -> None:
    told = failure("+experiment=boxplot", "population=patient")
    assert "Did you mean" not in told and "Known here: academy" in told
    assert told.endswith("Your own lie in FOLDER/population/, and --config-dir FOLDER adds them.")


@pytest.mark.parametrize("head", ["", "# A question\n# @package _global_\n"])
def test_an_experiment_without_its_first_line_says_what_to_write(head: str, tmp_path: Path) -> None:
    text = f"{head}defaults: [override /task: compare]\nseed: 3\n"
    told = failure(*own_experiment(tmp_path, text))
    assert told == (
        "experiment/mine.yaml: write `# @package _global_` into its first line, before any other "
        "comment"
    )


SHARE = "population.strategic.types.shader.share: -1.0; give a finite number from 0 up"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Write a population with a negative share, another one made of it, and an experiment."""
    for name, text in {
        "population/bad": "defaults: [stage1, _self_]\nname: bad\n"
        "strategic: { types: { shader: { share: -1 } } }\n",
        "population/child": "defaults: [bad, _self_]\nname: child\n",
        "experiment/own": "# @package _global_\ndefaults: [override /task: compare]\n"
        "evaluation: { episodes: 1 }\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


@pytest.mark.parametrize("population", ["bad", "child"])
def test_a_value_of_a_file_names_the_file(mine: Path, population: str) -> None:
    said = failure(f"hydra.searchpath=[file://{mine}]", "task=compare", f"population={population}")
    assert said == f"{SHARE} (in {mine}/population/bad.yaml)"


def test_a_value_of_an_experiment_names_the_experiment(mine: Path) -> None:
    said = failure(f"hydra.searchpath=[file://{mine}]", "+experiment=own")
    assert said.startswith("evaluation.episodes: 1; ")
    assert said.endswith(f" (in {mine}/experiment/own.yaml)")


def test_a_value_of_the_command_line_names_no_file() -> None:
    assert failure("task=compare", "population.strategic.types.shader.share=-1") == SHARE
