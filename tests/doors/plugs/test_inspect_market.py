"""The task of Inspect, played by its mock model in the real library."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="tested elsewhere: make test-plugs")

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model

from daedalus.doors.plugs.inspect_market import market
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.market.parsing import format_mechanism
from tests.doors.plugs.own_market import RULES, SHORT, earned

ROOT = Path(__file__).parents[3]

COMMAND = """
import sys
from inspect_ai._cli.main import main
from inspect_ai.model import ModelAPI, ModelOutput, modelapi

class Stub(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        return ModelOutput.from_content("stub", answer)

modelapi(name="stub")(Stub)
*sys.argv, answer = sys.argv
main()
"""
"""The command of Inspect, with a model that always gives its last argument as the answer."""


def evaluated(task: Task, answers: list[str], limit: int | None = None) -> EvalLog:
    """Let a model give one answer after the other in each sample."""

    def answer(messages: list[ChatMessage], *_: object) -> ModelOutput:
        turn = sum(each.role == "assistant" for each in messages)
        said = ModelOutput.from_content("mockllm/model", answers[turn])
        said.usage = ModelUsage()  # else Inspect downloads a tokenizer to count the tokens
        return said

    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = evaluate(task, model=model, display="none", limit=limit)
    assert log.status == "success", log.error
    return log


def played(answers: list[str], **options: Any) -> EvalLog:
    return evaluated(market(overrides=SHORT, **options), answers)


def test_a_model_plays_the_episodes_and_is_compared_with_a_designer() -> None:
    answers = [format_mechanism(each) for each in RULES]
    log = played(answers, population="stage4", episodes=2, first_seed=5)
    robust = compose_config("task=compare").designer.mechanism
    for seed, sample in zip((5, 6), log.samples, strict=True):
        value = sample.scores["earns"].value
        assert value["reward"] == pytest.approx(earned(seed, RULES), abs=1e-12)
        lead = earned(seed, RULES) - earned(seed, [robust] * 3)
        assert value["difference"] == pytest.approx(lead, abs=1e-12)
        assert value["valid"] == 1.0
        roles = [each.role for each in sample.messages]
        assert roles == ["system", *["user", "assistant"] * 3]
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    expected = sum(earned(seed, RULES) for seed in (5, 6)) / 2
    assert means["reward"] == pytest.approx(expected, abs=1e-12)


def test_an_answer_without_a_mechanism_earns_nothing_and_is_told_so() -> None:
    answers = [format_mechanism(RULES[0]), "a fine market", "another"]
    log = played(answers, population="stage4", episodes=1, first_seed=5, baseline="random")
    (sample,) = log.samples
    value = sample.scores["earns"].value
    assert value["reward"] == pytest.approx(earned(5, RULES[:1]), abs=1e-12)
    assert value["valid"] == pytest.approx(1 / 3)
    assert "refused and earned nothing" in sample.messages[5].text


@pytest.mark.slow
def test_a_trained_designer_may_be_the_baseline() -> None:
    pytest.importorskip("torch", reason="Inspect's own environment has no PyTorch")
    answers = [format_mechanism(each) for each in RULES]
    log = played(answers, population="stage4", episodes=1, first_seed=5, baseline="pretrained")
    value = log.samples[0].scores["earns"].value
    assert value["reward"] == pytest.approx(earned(5, RULES), abs=1e-12)
    assert 0 < value["reward"] - value["difference"] < 1


def test_a_mistake_says_what_to_write() -> None:
    with pytest.raises(ConfigError, match="stage9"):
        market(population="stage9")
    with pytest.raises(ConfigError, match="no_designer"):
        market(baseline="no_designer")


def test_the_page_s_command_finds_the_task_of_the_package(tmp_path: Path) -> None:
    """What pip would install is linked: the package, and the name of its task's module."""
    place = tmp_path / "site-packages"
    about = place / "daedalus-0.1.0.dist-info"
    about.mkdir(parents=True)
    (place / "daedalus").symlink_to(ROOT / "daedalus")
    (place / "conf").symlink_to(ROOT / "conf")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: daedalus\nVersion: 0.1.0\n")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    (module,) = points["inspect_ai"].values()
    (about / "entry_points.txt").write_text(f"[inspect_ai]\ndaedalus = {module}\n")

    page = (ROOT / "docs" / "plugs.md").read_text()
    (told,) = re.findall(r"^inspect (eval .*)$", page, re.M)
    told = told.replace("openai/gpt-5", "stub/m").replace("episodes=50", "episodes=1")
    words = [*shlex.split(told), "-T", f"overrides={SHORT}", "--display", "none"]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words, format_mechanism(RULES[0])],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = list_eval_logs(str(tmp_path))
    log = read_eval_log(found)
    assert log.eval.task == "daedalus/market" and log.eval.task_args["population"] == "world"
    first = log.results.scores[0]
    assert first.name == "reward" and first.metrics["mean"].value > 0
