"""The environment of verifiers, played on a stub of a chat server in the real library."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import daedalus
from daedalus.market.parsing import format_mechanism
from tests.design.designers import chat_double
from tests.design.designers.chat_double import Reply

vf = pytest.importorskip("verifiers.v1", reason="tested elsewhere: make test-plugs")

ROOT = Path(__file__).parents[3]
SHORT = "market.episode_length=3"
RULES = [daedalus.Mechanism("first_price", 0.2), daedalus.Mechanism("vcg"), daedalus.Mechanism()]


def answer(_: int, body: dict[str, Any]) -> Reply:
    """Answer each turn with a mechanism of its own."""
    turn = sum(each["role"] == "assistant" for each in body["messages"])
    return Reply(format_mechanism(RULES[turn]))


def earned(seed: int, rules: list[daedalus.Mechanism], population: str = "stage4") -> float:
    own = daedalus.make(population, SHORT)
    own.reset(seed)
    return sum(own.step(each).reward for each in rules) / 3


def rollouts(respond: chat_double.Respond) -> list[Any]:
    """Let a model play the episodes of seeds 5 and 6, and return their traces."""
    import verifiers_market

    tasks = verifiers_market.MarketsConfig(
        id="verifiers-market", population="stage4", overrides=[SHORT], episodes=2, first_seed=5
    )
    env = vf.load_environment(verifiers_market.MarketsEnvConfig(taskset=tasks))

    async def play(url: str) -> list[Any]:
        client = vf.EvalClientConfig(base_url=url, api_key_var="KEY")
        context = vf.ModelContext(model="m", client=client)
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task)]
            done = await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))
        return [each.traces[0] for each in done]

    with chat_double.serving(respond) as server:
        return asyncio.run(play(server.url))


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "deploy")
    monkeypatch.setenv("KEY", "none")


def test_a_model_plays_the_episodes_of_its_seeds() -> None:
    for seed, trace in zip((5, 6), rollouts(answer), strict=True):
        assert trace.ok, trace.errors
        assert trace.reward == pytest.approx(earned(seed, RULES), abs=1e-12)
        assert trace.metrics == {"valid": 1.0}
        chat = trace.branches[-1].messages
        assert [each.role for each in chat] == ["system", *["user", "assistant"] * 3]
        assert "Answer with one JSON object" in chat[0].content
        assert [each.content for each in chat[2::2]] == [format_mechanism(each) for each in RULES]


def test_an_answer_without_a_mechanism_earns_nothing_and_is_told_so() -> None:
    def falter(number: int, body: dict[str, Any]) -> Reply:
        said = answer(number, body)
        return said if len(body["messages"]) == 2 else Reply("a fine market")

    for seed, trace in zip((5, 6), rollouts(falter), strict=True):
        assert trace.reward == pytest.approx(earned(seed, RULES[:1]), abs=1e-12)
        assert trace.metrics["valid"] == pytest.approx(1 / 3)
        assert "refused and earned nothing" in trace.branches[-1].messages[5].content


def test_the_page_s_command_takes_the_environment(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "plugs.md").read_text()
    ((path, told),) = re.findall(r"^PYTHONPATH=(\S+) vf-eval (verifiers-market .*)$", page, re.M)
    command = Path(sys.executable).with_name("vf-eval")
    with chat_double.serving(answer) as model:
        given = told.replace("ADDRESS/v1", model.url).replace("MODEL", "m").split()
        places = os.pathsep.join(str(ROOT / each) for each in path.split(":"))
        more = ["--no-push", "-n", "1", "--env.taskset.first-seed", "6"]
        done = subprocess.run(
            [command, *given, *more, "--env.taskset.overrides", json.dumps([SHORT])],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": places},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    (results,) = tmp_path.rglob("traces.jsonl")
    (episode,) = [json.loads(line) for line in results.read_text().splitlines()]
    score = episode["traces"][0]["rewards"]["reward"]["score"]
    assert score == pytest.approx(earned(6, RULES, "world"), abs=1e-12)
