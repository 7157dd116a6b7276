"""Environments of verifiers, whose models are stubs of a chat server."""

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

from tests.design.designers import chat_double

vf = pytest.importorskip("verifiers.v1", reason="tested elsewhere: make test-plugs")

ROOT = Path(__file__).parents[3]


def episodes(env: Any, respond: chat_double.Respond) -> tuple[list[Any], chat_double.Server]:
    """Play all episodes of an environment; the server has what its models were asked."""

    async def play(url: str) -> list[Any]:
        client = vf.EvalClientConfig(base_url=url, api_key_var="KEY")
        context = vf.ModelContext(model="m", client=client)
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task)]
            return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))

    with chat_double.serving(respond) as server:
        return asyncio.run(play(server.url)), server


def rollouts(env: Any, respond: chat_double.Respond) -> list[Any]:
    """Return the trace of each episode of an environment with one model."""
    return [each.traces[0] for each in episodes(env, respond)[0]]


def rewards_of_command(
    environment: str, folder: Path, respond: chat_double.Respond, *more: str
) -> list[float]:
    """Run the page's command once; return the reward of each trace of its episode."""
    page = (ROOT / "docs" / "plugs.md").read_text(encoding="utf-8")
    ((path, told),) = re.findall(rf"^PYTHONPATH=(\S+) vf-eval ({environment} .*)$", page, re.M)
    command = Path(sys.executable).with_name("vf-eval")
    places = os.pathsep.join(str(ROOT / each) for each in path.split(":"))
    with chat_double.serving(respond) as server:
        given = told.replace("ADDRESS/v1", server.url).replace("MODEL", "m").split()
        done = subprocess.run(
            [command, *given, "--no-push", *more],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": places},
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    (results,) = folder.rglob("traces.jsonl")
    (episode,) = [json.loads(line) for line in results.read_text().splitlines()]
    return [each["rewards"]["reward"]["score"] for each in episode["traces"]]
