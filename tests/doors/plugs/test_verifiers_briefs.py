"""The environment of briefs in verifiers, answered by a stub of a chat server in the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from daedalus.doors.briefs import benchmark
from daedalus.market.parsing import format_mechanism
from tests.design.designers.chat_double import Reply
from tests.doors.plugs.own_briefs import OTHER, OWN, rewards, write
from tests.doors.plugs.rollouts import rewards_of_command, rollouts, vf


def answered(path: str, answer: str) -> list[Any]:
    """Let a model give the same answer to every brief of a file, and return the traces."""
    import verifiers_briefs

    tasks = verifiers_briefs.BriefsConfig(id="verifiers-briefs", briefs=path)
    env = vf.load_environment(verifiers_briefs.BriefsEnvConfig(taskset=tasks))
    return rollouts(env, lambda *_: Reply(answer))


def test_a_model_answers_briefs_and_is_rewarded(tmp_path: Path) -> None:
    path = write(tmp_path)
    for mechanism, kept in ((OWN, [1.0, 1.0]), (OTHER, [0.0, 1.0])):
        traces = answered(path, format_mechanism(mechanism))
        assert all(each.ok for each in traces), [each.errors for each in traces]
        expected = rewards(benchmark(path), mechanism)
        assert [each.reward for each in traces] == pytest.approx(expected, abs=1e-12)
        assert [each.metrics["rules_kept"] for each in traces] == kept
        chat = traces[0].branches[-1].messages
        assert [each.role for each in chat] == ["system", "user", "assistant"]
        assert chat[0].content.endswith("Every winner pays its own bid.")


def test_an_answer_without_a_mechanism_earns_nothing(tmp_path: Path) -> None:
    for trace in answered(write(tmp_path), "a fine market"):
        assert trace.ok, trace.errors
        assert trace.reward == 0.0 and trace.metrics == {"rules_kept": 0.0, "valid": 0.0}


def test_the_page_s_command_takes_the_environment(tmp_path: Path) -> None:
    reply = Reply(format_mechanism(OTHER))
    (score,) = rewards_of_command("verifiers-briefs", tmp_path, lambda *_: reply, "-n", "1")
    assert score == rewards(benchmark("wordings"), OTHER)[0]
