"""Designer against adversary in verifiers: the real library, and a stub of a chat server."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import daedalus
from daedalus.doors.adversary import Moves
from tests.design.designers import chat_double
from tests.design.designers.chat_double import Reply
from tests.doors.plugs.own_market import RULES, SHORT, answer, earned
from tests.doors.plugs.rollouts import episodes, rewards_of_command, vf

TRAITS = {
    "discretion": 0.4,
    "expected_surplus": 0.04,
    "learning_rate": 0.1,
    "outside_option": 0.25,
}
MOVE = json.dumps({"bidders": {"dropout": 5, "rota": 3}} | TRAITS)


def respond(move: str, number: int, body: dict[str, Any]) -> Reply:
    """Answer as the attacker or as the designer."""
    return Reply(move) if body["model"] == "attacker" else answer(number, body)


def episode(move: str, designer_fails: bool = False) -> tuple[Any, chat_double.Server]:
    """Let two models play the episode of seed 5."""
    import verifiers_adversary
    from verifiers_market import MarketsConfig

    def reply(number: int, body: dict[str, Any]) -> Reply:
        if designer_fails and body["model"] == "m":
            return Reply(status=400)
        return respond(move, number, body)

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
    (played,), server = episodes(env, reply)
    return played, server


def test_each_agent_has_a_trace_and_a_reward_of_its_own() -> None:
    played, server = episode(MOVE)
    assert played.ok, played.errors
    adversary, designer = (played.by_agent[name][0] for name in ("adversary", "designer"))
    moves = Moves(daedalus.make("mixture").env.market.population)
    composition = moves.composition({"dropout": 5, "rota": 3}, TRAITS)
    assert designer.reward == pytest.approx(earned(5, RULES, composition), abs=1e-12)
    assert adversary.reward == -designer.reward != 0 and adversary.metrics == {"valid": 1.0}
    bodies = [each["body"] for each in server.requests]
    assert [each["model"] for each in bodies] == ["attacker", "m", "m", "m"]
    assert "dropout: opt_out, shade, withdraw" in adversary.branches[-1].messages[0].content
    read = "".join(str(each["messages"]) for each in bodies[1:])
    assert "outside_option" not in read  # the designer is not told the move


def test_a_move_that_is_refused_leaves_the_bidders_of_the_population() -> None:
    played, _ = episode(MOVE.replace("0.25", "0.5"))
    adversary, designer = (played.by_agent[name][0] for name in ("adversary", "designer"))
    assert designer.reward == pytest.approx(earned(5, RULES, "mixture"), abs=1e-12)
    assert adversary.reward == -designer.reward and adversary.metrics == {"valid": 0.0}


def test_a_designer_that_could_not_play_pays_the_adversary_nothing() -> None:
    played, _ = episode(MOVE, designer_fails=True)
    adversary, designer = (played.by_agent[name][0] for name in ("adversary", "designer"))
    assert not designer.ok and "reward" not in adversary.rewards


def test_the_page_s_command_plays_both(tmp_path: Path) -> None:
    more = ["--env.adversary.model", "attacker", "--env.taskset.episodes", "1"]
    more += ["--env.taskset.overrides", json.dumps([SHORT]), "--output-dir", str(tmp_path)]
    adversary, designer = rewards_of_command(
        "verifiers-adversary", tmp_path, partial(respond, MOVE), *more
    )
    assert adversary == -designer != 0
