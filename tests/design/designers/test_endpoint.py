"""A chat model as designer: its prompt, its answers, and a run in which it plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.endpoint import EndpointSettings
from daedalus.design.language.prompt import prompts
from daedalus.evaluation.answer_log import ACCEPTED, AnswerLog
from tests.design.designers.chat_double import VALID, Reply, serving
from tests.design.designers.observations import observe
from tests.design.search.markets import env_of

ROOT = Path(__file__).parents[3]
KEY, VARIABLE = "sk-very-secret-51423", "DAEDALUS_TEST_KEY"


@pytest.mark.parametrize("strict", [False, True])
def test_answers_that_are_no_mechanism_are_malformed(strict: bool) -> None:
    answers = [VALID, "I would raise the reserve.", f"```json\n{VALID}\n```", "", None]

    def respond(count: int, _: dict[str, Any]) -> Reply:
        return Reply(answers[count])

    with serving(respond) as server:
        settings = server.settings(concurrency=1, strict=strict)
        designer = settings.build(DesignerContext(env_of(), 0))
        proposal = designer.propose(observe(len(answers)), np.random.default_rng(0))
    assert proposal.malformed.tolist() == [False, True, strict, True, True]
    assert proposal[0].reserve_price == 0.25
    kinds = ["", "no object", "other text" if strict else "", "empty", "empty"]
    assert [each.parsed.kind for each in designer.answers] == kinds
    assert server.requests[0]["body"]["messages"] == prompts(observe(1), settings.prompt)[0]


def test_answers_without_words_are_counted_by_their_reason() -> None:
    filtered = {"error": {"code": "content_filter", "message": "The prompt was filtered."}}
    choices = [{"message": {"content": None, "refusal": "I can't."}}, {"message": None}]
    sent = [Reply(status=400, body=filtered), Reply(VALID[:9] + "\ud83d" + VALID[9:]), Reply()]
    sent += [Reply(body={"choices": [each]}) for each in choices]
    with serving(lambda count, _: sent[count]) as server:
        designer = server.settings(concurrency=1).build(DesignerContext(env_of(), 0))
        designer.propose(observe(len(sent)), np.random.default_rng(0))
    kinds = ["content filter", "missing fields", "", "declined", "empty"]
    assert [each.parsed.kind for each in designer.answers] == kinds
    assert designer.answers[0].parsed.reason == f"content filter: 400: {json.dumps(filtered)}"
    log = AnswerLog("stage3")
    log.add("endpoint", designer, 1, range(len(sent)))
    assert set(log.counts()["kind"]) == {ACCEPTED, *kinds} - {""}


def test_the_prompt_says_all_that_an_untrained_model_needs() -> None:
    system, user = prompts(observe(1), EndpointSettings(model="m").prompt)[0]
    text = system["content"]
    shown = {line.split(":")[0] for line in text.splitlines() if line.startswith("- ")}
    named = user["content"].replace("{", ",").replace("[", ",")
    for name in ("welfare", "collusion_signal", "clearing_price_trend"):
        assert f"- {name}" in shown and f",{name}:" in named


@pytest.mark.slow
def test_a_run_plays_the_endpoint_and_keeps_the_key_to_itself(tmp_path: Path) -> None:
    fenced = f"<think>hm</think>```json\n{VALID}\n```"
    with serving(lambda count, _: Reply(f"[b]No {KEY}" if count == 0 else fenced)) as server:
        command = ["run.py", "+experiment=boxplot", "designer=endpoint"]
        command += [f"designer.base_url={server.url}", "designer.model=m", "tracking=wandb"]
        command += [f"designer.api_key_variable={VARIABLE}", "evaluation.episodes=3"]
        command += [
            "market.episode_length=2",
            "designer.concurrency=1",
            f"hydra.run.dir={tmp_path}",
        ]
        environment = {**os.environ, VARIABLE: KEY, "WANDB_MODE": "offline", "OPENAI_LOG": "debug"}
        environment.pop("WANDB_API_KEY", None)
        answer = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
        )  # a fork would begin with PyTorch, which this run needs not
    assert answer.returncode == 0, answer.stderr
    assert len(server.requests) == 3 * 2
    assert server.requests[0]["headers"]["authorization"] == f"Bearer {KEY}"
    assert "endpoint" in (tmp_path / "summary.csv").read_text()
    assert VARIABLE in (tmp_path / "config.yaml").read_text()
    counts = pd.read_csv(tmp_path / "answers.csv")
    assert counts[["kind", "answers"]].to_numpy().tolist() == [["accepted", 5], ["no object", 1]]
    lines = (tmp_path / "answers.jsonl").read_text().splitlines()
    first, *others = [json.loads(line) for line in lines]
    assert first["text"] == "[b]No ***" and not first["accepted"] and len(others) == 5
    assert all(each["text"] == fenced and each["accepted"] for each in others)
    assert "endpoint: 1 of 6 answers were refused" in answer.stdout
    assert "it begins '[b]No ***'" in answer.stdout and "answers.jsonl" in answer.stdout
    steps = pd.read_csv(tmp_path / "steps.csv")
    steps = steps[steps["designer"] == "endpoint"]
    assert steps["valid"].sum() == 5 and steps["reserve_price"].dropna().tolist() == [0.25] * 5
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in answer.stdout + answer.stderr
