"""Designer against adversary in verifiers: the real library, and a stub of a chat server."""

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
from daedalus.doors.adversary import Moves
from daedalus.market.parsing import format_mechanism
from tests.design.designers import chat_double
from tests.design.designers.chat_double import Reply

vf = pytest.importorskip("verifiers.v1", reason="tested elsewhere: make test-plugs")

SHORT = "market.episode_length=2"
RULES = [daedalus.Mechanism("first_price", 0.2), daedalus.Mechanism("vcg")]
TRAITS = {
    "discretion": 0.4,
    "expected_surplus": 0.04,
    "learning_rate": 0.1,
    "outside_option": 0.25,
}
MOVE = json.dumps({"bidders": {"dropout": 5, "rota": 3}} | TRAITS)


def earned(seed: int, population: Any) -> float:
    own = daedalus.make(population, SHORT)
    own.reset(seed)
    return sum(own.step(each).reward for each in RULES) / len(RULES)


def episode(
    move: str, monkeypatch: pytest.MonkeyPatch, designer_fails: bool = False
) -> tuple[Any, chat_double.Server]:
    """Let two models play the episode of seed 5."""
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "deploy")
    monkeypatch.setenv("KEY", "none")
    import verifiers_adversary
    from verifiers_market import MarketsConfig

    def respond(_: int, body: dict[str, Any]) -> Reply:
        if designer_fails and body["model"] == "m":
            return Reply(status=400)
        return respond_with(move, body)

    tasks = MarketsConfig(
        id="verifiers-adversary",
        population="mixture",
        overrides=[SHORT],
        episodes=1,
        first_seed=5,
    )
    attacker = vf.AgentConfig(model="attacker", runtime={"type": "subprocess"})
    env = vf.load_environment(
        verifiers_adversary.AdversaryEnvConfig(taskset=tasks, adversary=attacker)
    )

    async def play(url: str) -> Any:
        client = vf.EvalClientConfig(base_url=url, api_key_var="KEY")
        async with env.serving():
            (slot,) = [slot for task in env.taskset for slot in env.slots(task)]
            return await env.run_slot(slot, vf.ModelContext(model="m", client=client))

    with chat_double.serving(respond) as server:
        return asyncio.run(play(server.url)), server


def respond_with(move: str, body: dict[str, Any]) -> Reply:
    """Answer as the attacker or as the designer."""
    turn = sum(each["role"] == "assistant" for each in body["messages"])
    return Reply(move if body["model"] == "attacker" else format_mechanism(RULES[turn]))


def test_each_agent_has_a_trace_and_a_reward_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    played, server = episode(MOVE, monkeypatch)
    assert played.ok, played.errors
    adversary, designer = (played.by_agent[name][0] for name in ("adversary", "designer"))
    moves = Moves(daedalus.make("mixture").env.market.population)
    composition = moves.composition({"dropout": 5, "rota": 3}, TRAITS)
    assert designer.reward == pytest.approx(earned(5, composition), abs=1e-12)
    assert adversary.reward == -designer.reward != 0 and adversary.metrics == {"valid": 1.0}
    bodies = [each["body"] for each in server.requests]
    assert [each["model"] for each in bodies] == ["attacker", "m", "m"]
    assert "dropout: opt_out, shade, withdraw" in adversary.branches[-1].messages[0].content
    read = "".join(str(each["messages"]) for each in bodies[1:])
    assert "outside_option" not in read  # the designer is not told the move


def test_a_move_that_is_refused_leaves_the_bidders_of_the_population(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played, _ = episode(MOVE.replace("0.25", "0.5"), monkeypatch)
    adversary, designer = (played.by_agent[name][0] for name in ("adversary", "designer"))
    assert designer.reward == pytest.approx(earned(5, "mixture"), abs=1e-12)
    assert adversary.reward == -designer.reward and adversary.metrics == {"valid": 0.0}


def test_a_designer_that_could_not_play_pays_the_adversary_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played, _ = episode(MOVE, monkeypatch, designer_fails=True)
    adversary, designer = (played.by_agent[name][0] for name in ("adversary", "designer"))
    assert not designer.ok and "reward" not in adversary.rewards


def test_the_page_s_command_plays_both(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs/plugs.md").read_text(encoding="utf-8")
    ((path, told),) = re.findall(r"^PYTHONPATH=(\S+) vf-eval (verifiers-adv.*)$", page, re.M)
    command = Path(sys.executable).with_name("vf-eval")
    more = ["--no-push", "--env.adversary.model", "attacker", "--env.taskset.episodes", "1"]
    more += ["--env.taskset.overrides", json.dumps([SHORT]), "--output-dir", str(tmp_path)]
    env = os.environ | {"KEY": "none", "PYTHONPATH": path}
    with chat_double.serving(lambda _, body: respond_with(MOVE, body)) as server:
        given = [{"ADDRESS/v1": server.url}.get(each, each) for each in told.split()]
        subprocess.run([command, *given, *more], cwd=root, env=env, check=True)
    (played,) = map(json.loads, next(tmp_path.rglob("traces.jsonl")).read_text().splitlines())
    adversary, designer = (each["rewards"]["reward"]["score"] for each in played["traces"])
    assert adversary == -designer != 0
