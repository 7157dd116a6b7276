"""The published script: one mechanism, or results of episodes, from a model on disk."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import inference
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.language.prompt import PromptSettings
from daedalus.doors.inference import design
from daedalus.launch.config.compose import compose_config
from daedalus.market.mechanism import Mechanism, mechanism_from_mapping
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.runs.folder import RunFolder
from daedalus.runs.pretrained import read_pretrained
from daedalus.training.trained_prompt import write_manner
from experiments import publish
from tests import forked
from tests.hub_cache import leave_snapshot
from tests.launch.config.composing import composed
from tests.runs.trained_runs import leave_trained_run
from tests.untrained import leave_untrained_model

ROOT = Path(__file__).parents[1]
SHORT = [
    "--constrained",
    "--n-episodes",
    "3",
    "market.episode_length=2",
    "evaluation.resamples=100",
]


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Leave a model that has learnt nothing, in a folder whose name wants quoting."""
    folder = tmp_path_factory.mktemp("run") / "it's a=1, b" / "model"
    folder.parent.mkdir()
    leave_untrained_model(folder)
    return folder


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Run the script in a folder of its own, and return what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("daedalus.runs.waiting.SILENCE", 600.0)

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["inference.py", *map(str, arguments)])
        inference.main()
        out, said = capsys.readouterr()
        run.said = said
        return out

    run.errors = lambda: run.said
    return run


def test_a_model_may_reason_before_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = format_mechanism(Mechanism())
    said = [f"<think>Not {answer}, or is it?</think>{answer}"]
    monkeypatch.setattr(
        "daedalus.doors.inference._load",
        lambda _: LanguageModelDesigner(lambda *_: said, PromptSettings()),
    )
    config = compose_config("+experiment=boxplot", "designer=pretrained")
    assert design(config) == Mechanism()


@pytest.mark.slow
def test_without_options_the_newest_designer_sets_one_mechanism(
    ask, untrained: Path, tmp_path: Path
) -> None:
    run = tmp_path / "outputs" / "run"
    leave_trained_run(run)
    shutil.copytree(untrained, run / "model", dirs_exist_ok=True)
    smoke = leave_trained_run(tmp_path / "outputs" / "smoke", "+experiment=smoke", time=2**32)
    told = ask("--constrained")
    assert parse_mechanism(told).valid
    assert ask.errors().startswith(
        f"passed over {smoke.relative_to(tmp_path)}: its run was a smoke test, which teaches "
        f"nothing\ndesigner: {(run / 'model').relative_to(tmp_path)}\n"
    )
    ask("--constrained", "reward=revenue")
    assert "pretrained one of grpo_world" in (said := ask.errors())
    assert "it was trained for R with the bidders of world" in said
    assert "and not for revenue with those of stage3\n" in said
    assert "+experiment=search population=stage3 market=strategic seed=0 reward=revenue" in said
    warm = ["--constrained", "--repo-id", untrained, "designer.temperature=1.0", "--seed"]
    assert ask(*warm, 1) == ask(*warm, 1) != ask(*warm, 2)


@pytest.mark.slow
def test_where_nothing_was_trained_the_designer_of_the_package_answers(
    tmp_path: Path,
) -> None:
    answer = forked.run("inference.py", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert f"designer: {read_pretrained()}\n" in answer.stderr
    told = json.loads(answer.stdout)
    assert mechanism_from_mapping(told).to_dict() == told


@pytest.mark.slow
def test_a_published_model_is_asked_by_its_name(
    ask,
    trained_run: RunFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = ["hub.repo=OWNER/NAME", "hub.dry_run=true"]
    checkpoint = f"designer.checkpoint={trained_run.model}"
    publish.main(composed("+experiment=publish", checkpoint, *settings), tmp_path)
    capsys.readouterr()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    leave_snapshot(RunFolder(tmp_path).published, "OWNER/NAME", tmp_path / "cache")
    told = ask("--repo-id", "OWNER/NAME", "--constrained")
    assert parse_mechanism(told).valid
    assert told == ask("--repo-id", trained_run.model, "--constrained")
    with pytest.raises(SystemExit, match="OWNER/OTHER"):
        ask("--repo-id", "OWNER/OTHER", "--constrained")


@pytest.mark.slow
def test_results_pair_the_designer_with_the_baselines_if_asked(
    ask, untrained: Path, tmp_path: Path
) -> None:
    asked = ["--repo-id", untrained, "--population", "stage4", *SHORT]
    shown = ask(*asked, "--baseline", "--output", tmp_path / "a" / "first.json")
    results = json.loads((tmp_path / "a" / "first.json").read_text())
    names = ["random", "informed_greedy", "trained"]
    assert list(results["rewards"]) == [each["designer"] for each in results["summary"]] == names
    assert (results["population"], results["n_episodes"]) == ("stage4", 3)
    means = {name: sum(rewards) / 3 for name, rewards in results["rewards"].items()}
    for row in results["differences"]:
        expected = means[row["designer"]] - means[row["reference"]]
        assert row["difference"] == pytest.approx(expected)
        assert row["difference_low"] <= expected <= row["difference_high"]
    assert "trained" in shown and "paired differences" in shown and "first.json" in shown
    shown = ask(*asked)
    alone = json.loads((tmp_path / inference.RESULTS).read_text())
    assert alone["rewards"]["trained"] == results["rewards"]["trained"]
    assert len(set(alone["rewards"]["trained"])) == 3
    assert alone["differences"] == [] and "paired differences" not in shown


@pytest.mark.slow
def test_a_model_of_many_objectives_is_asked_for_the_reward(
    ask, untrained: Path, tmp_path: Path
) -> None:
    many = Path(shutil.copytree(untrained, tmp_path / "model"))
    prompt = PromptSettings(weights=["revenue", "welfare"])
    write_manner(prompt, True, many)
    told = [ask("--repo-id", many, f"reward={each}") for each in ("revenue", "welfare")]
    assert all(parse_mechanism(each).valid for each in told)
    with pytest.raises(SystemExit, match=r"composite; .* of revenue, welfare alone, so choose a"):
        ask("--repo-id", many)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--repo-id", "/nowhere"], "holds no model"),
        (["--repo-id", "nobody/nothing"], "OWNER/NAME"),
        (["--repo-id", "MODEL"], "give --constrained"),
        (["--repo-id", "MODEL", "--n-episodes", "1"], "from 2 up"),
        (["--repo-id", "MODEL", "--baseline", "--output", "/"], "name a file"),
        (["--repo-id", "MODEL", "--baseline", "--output", f"{__file__}/new.json"], "be written"),
    ],
)
def test_mistakes_say_what_to_do(ask, untrained: Path, arguments: list[str], hint: str) -> None:
    with pytest.raises(SystemExit, match=hint):
        ask(*[untrained if each == "MODEL" else each for each in arguments])


@pytest.mark.slow
def test_a_script_that_is_refused_prints_nothing(tmp_path: Path) -> None:
    refused = forked.run("inference.py", "--repo-id", "/nowhere", cwd=tmp_path)
    assert refused.returncode == 1 and not refused.stdout
    assert "holds no model" in refused.stderr and "Traceback" not in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_interrupted_run_leaves_the_last_results(untrained: Path, tmp_path: Path) -> None:
    results = tmp_path / inference.RESULTS
    results.parent.mkdir()
    results.write_text("of the last run")
    asked = ["--repo-id", str(untrained), "--constrained", "--n-episodes", "5000"]
    command = [sys.executable, str(ROOT / "inference.py"), *asked]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "Loading weights" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "Stopped; nothing was written. To start anew: " in errors
    assert list(tmp_path.rglob("*.json")) == [results]
    assert results.read_text() == "of the last run"
