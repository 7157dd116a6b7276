"""The environment of verifiers, played on a stub of a chat server in the real library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from daedalus.market.parsing import format_mechanism
from tests.design.designers import chat_double
from tests.design.designers.chat_double import Reply
from tests.doors.plugs.own_market import RULES, SHORT, answer, earned
from tests.doors.plugs.rollouts import rewards_of_command, rollouts, vf


def played(respond: chat_double.Respond) -> list[Any]:
    """Let a model play the episodes of seeds 5 and 6, and return their traces."""
    import verifiers_market

    tasks = verifiers_market.MarketsConfig(
        id="verifiers-market", population="stage4", overrides=[SHORT], episodes=2, first_seed=5
    )
    env = vf.load_environment(verifiers_market.MarketsEnvConfig(taskset=tasks))
    return rollouts(env, respond)


def test_a_model_plays_the_episodes_of_its_seeds() -> None:
    for seed, trace in zip((5, 6), played(answer), strict=True):
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

    for seed, trace in zip((5, 6), played(falter), strict=True):
        assert trace.reward == pytest.approx(earned(seed, RULES[:1]), abs=1e-12)
        assert trace.metrics["valid"] == pytest.approx(1 / 3)
        assert "refused and earned nothing" in trace.branches[-1].messages[5].content


def test_the_page_s_command_takes_the_environment(tmp_path: Path) -> None:
    more = ["-n", "1", "--env.taskset.first-seed", "6"]
    more += ["--env.taskset.overrides", json.dumps([SHORT])]
    (score,) = rewards_of_command("verifiers-market", tmp_path, answer, *more)
    assert score == pytest.approx(earned(6, RULES, "world"), abs=1e-12)
