"""The environment of briefs in verifiers, answered by a stub of a chat server in the library."""

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

from daedalus.doors.briefs import benchmark
from daedalus.market.parsing import format_mechanism
from tests.design.designers import chat_double
from tests.design.designers.chat_double import Reply
from tests.doors.plugs.own_briefs import OTHER, OWN, rewards, write

vf = pytest.importorskip("verifiers.v1", reason="tested elsewhere: make test-plugs")

ROOT = Path(__file__).parents[3]


def rollouts(path: str, answer: str) -> list[Any]:
    """Let a model give the same answer to every brief of a file, and return the traces."""
    import verifiers_briefs

    tasks = verifiers_briefs.BriefsConfig(id="verifiers-briefs", briefs=path)
    env = vf.load_environment(verifiers_briefs.BriefsEnvConfig(taskset=tasks))

    async def play(url: str) -> list[Any]:
        client = vf.EvalClientConfig(base_url=url, api_key_var="KEY")
        context = vf.ModelContext(model="m", client=client)
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task)]
            done = await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))
        return [each.traces[0] for each in done]

    with chat_double.serving(lambda *_: Reply(answer)) as server:
        return asyncio.run(play(server.url))


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "deploy")
    monkeypatch.setenv("KEY", "none")


def test_a_model_answers_briefs_and_is_rewarded(tmp_path: Path) -> None:
    path = write(tmp_path)
    for mechanism, kept in ((OWN, [1.0, 1.0]), (OTHER, [0.0, 1.0])):
        traces = rollouts(path, format_mechanism(mechanism))
        assert all(each.ok for each in traces), [each.errors for each in traces]
        expected = rewards(benchmark(path), mechanism)
        assert [each.reward for each in traces] == pytest.approx(expected, abs=1e-12)
        assert [each.metrics["rules_kept"] for each in traces] == kept
        chat = traces[0].branches[-1].messages
        assert [each.role for each in chat] == ["system", "user", "assistant"]
        assert chat[0].content.endswith("Every winner pays its own bid.")


def test_an_answer_without_a_mechanism_earns_nothing(tmp_path: Path) -> None:
    for trace in rollouts(write(tmp_path), "a fine market"):
        assert trace.ok, trace.errors
        assert trace.reward == 0.0 and trace.metrics == {"rules_kept": 0.0, "valid": 0.0}


def test_the_page_s_command_takes_the_environment(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "plugs.md").read_text()
    ((path, told),) = re.findall(r"^PYTHONPATH=(\S+) vf-eval (verifiers-briefs .*)$", page, re.M)
    command = Path(sys.executable).with_name("vf-eval")
    with chat_double.serving(lambda *_: Reply(format_mechanism(OTHER))) as model:
        given = told.replace("ADDRESS/v1", model.url).replace("MODEL", "m").split()
        places = os.pathsep.join(str(ROOT / each) for each in path.split(":"))
        done = subprocess.run(
            [command, *given, "--no-push", "-n", "1"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": places},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    (results,) = tmp_path.rglob("traces.jsonl")
    (episode,) = [json.loads(line) for line in results.read_text().splitlines()]
    score = episode["traces"][0]["rewards"]["reward"]["score"]
    assert score == rewards(benchmark("wordings"), OTHER)[0]
