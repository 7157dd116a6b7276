"""The kinds of bidders: a server on a real socket, a model in this process, and a recording."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from daedalus.checks import CannotRunError
from daedalus.design.language.chat_client import EndpointError
from daedalus.design.language_bidders.asking import BudgetSpentError, Costs
from daedalus.design.language_bidders.bid_answer import BIDS_SCHEMA
from daedalus.design.language_bidders.questions import AGAIN
from daedalus.design.language_bidders.settings import (
    BidderContext,
    BidderSettings,
    EndpointBidder,
    LocalBidder,
    RecordedBidder,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.python_bidders import PlayedMarket
from daedalus.market.seeds import market_seeds
from daedalus.training.generation import make_ask
from daedalus.training.model import load_language_model
from tests.design.designers.chat_double import Reply, always, serving
from tests.design.language_bidders.scripted import THREE
from tests.untrained import leave_untrained_model

SETTINGS = MarketSettings(rounds_per_step=2, scored_rounds=2, warmup_rounds=0)
RULES = Mechanism("first_price", 0.0, reveal_reserve=True)


def no_model(*_: object) -> Any:
    raise AssertionError("a model was loaded")


def context(folder: Path, load: Any = no_model) -> BidderContext:
    return BidderContext(SETTINGS, folder, load)


def revenue(settings: BidderSettings, folder: Path, load: Any = no_model) -> tuple[float, Costs]:
    """Play two steps of two markets; return the revenue and what the answers took."""
    player, asker = settings.build(context(folder, load))
    market = PlayedMarket(THREE, {"bidder": player})
    state = market.reset(market_seeds(0, "bidders", 2))
    outcome = market.play(state, Mechanisms.repeat(RULES, 2), 4)
    return float(outcome.field("revenue").mean()), asker.costs


def by_question(_: int, body: dict[str, Any]) -> Reply:
    """Bid a share of the values that depends on the question, and tell the tokens."""
    share = sum(map(ord, body["messages"][1]["content"])) % 50 + 50
    text = str([share * each // 100 for each in (20, 40, 60, 80, 100)])
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    payload = Reply(text).payload()[:-1] + f', "usage": {usage}}}'.replace("'", '"').encode()
    return Reply(body=payload)


def endpoint(url: str, **changes: Any) -> EndpointBidder:
    usual: dict[str, Any] = {"base_url": url, "model": "m", "retries": 0}
    return EndpointBidder(**(usual | changes))


# 1 question in the first step, in which all know the same, and 3 x 2 in the second.
QUESTIONS = 7


def test_a_server_is_asked_each_question_once_and_never_again(tmp_path: Path) -> None:
    with serving(by_question) as server:
        first, costs = revenue(endpoint(server.url), tmp_path)
        assert len(server.requests) == QUESTIONS
        assert 0 < first < 1 and costs.seconds > 0
        told = costs.questions, costs.calls, costs.prompt_tokens, costs.completion_tokens
        assert told == (QUESTIONS, QUESTIONS, 100 * QUESTIONS, 10 * QUESTIONS)
        second, again = revenue(endpoint(server.url), tmp_path)
        assert len(server.requests) == QUESTIONS
    assert second == first
    assert again == Costs(questions=QUESTIONS)
    recorded, _ = revenue(RecordedBidder(file=str(tmp_path / "answers.jsonl")), tmp_path)
    assert recorded == first


def test_another_model_or_option_is_asked_anew(tmp_path: Path) -> None:
    with serving(by_question) as server:
        for changes in ({}, {"model": "n"}, {"temperature": 1.0}, {"extra": {"top_p": 0.5}}):
            _, costs = revenue(endpoint(server.url, **changes), tmp_path)
            assert costs.calls == QUESTIONS
    with pytest.raises(CannotRunError, match="4 models or options"):
        revenue(RecordedBidder(file=str(tmp_path / "answers.jsonl")), tmp_path)


def test_a_budget_stops_and_the_next_run_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    with serving(by_question) as server:
        expected, _ = revenue(endpoint(server.url), tmp_path / "whole")
        for _ in range(2):
            with pytest.raises(BudgetSpentError, match=r"all 3 calls are made.*resume=true"):
                revenue(endpoint(server.url, max_calls=3), tmp_path / "parts")
        found, costs = revenue(endpoint(server.url, max_calls=3), tmp_path / "parts")
        assert len(server.requests) == 2 * QUESTIONS
    assert found == expected and costs.calls == 1


def test_seats_are_asked_side_by_side(tmp_path: Path) -> None:
    six = threading.Barrier(6, timeout=60)  # the server answers once six seats have asked

    def together(count: int, body: dict[str, Any]) -> Reply:
        if count:  # the first question is the same for all six, and comes alone
            six.wait()
        return by_question(count, body)

    with serving(together) as server:
        revenue(endpoint(server.url, concurrency=6), tmp_path)
    assert server.most_at_once == 6


@pytest.mark.parametrize("text", ["I would bid about half.", " "])
def test_strange_answers_stay_out_and_are_read_again(text: str, tmp_path: Path) -> None:
    with serving(always(text=text)) as server:
        for calls in (2 * QUESTIONS, 0):  # each is asked twice
            found, costs = revenue(endpoint(server.url), tmp_path)
            assert found == 0 and costs.calls == calls
    assert all(each["body"]["messages"][-1]["content"].strip() for each in server.requests)


def test_a_run_that_a_server_ended_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    def fails_at_first(count: int, body: dict[str, Any]) -> Reply:
        return Reply(status=500, body={}) if count == 4 else by_question(count, body)

    with serving(by_question) as server:
        expected, _ = revenue(endpoint(server.url), tmp_path / "whole")
    with serving(fails_at_first) as server:
        with pytest.raises(EndpointError):
            revenue(endpoint(server.url, concurrency=1), tmp_path / "parts")
        found, costs = revenue(endpoint(server.url, concurrency=1), tmp_path / "parts")
    assert found == expected and 0 < costs.calls <= QUESTIONS - 4
    assert len(server.requests) == QUESTIONS + 1  # nothing is asked twice but what failed


def test_one_refused_question_of_many_is_counted_and_its_bidder_asked_once_more(
    tmp_path: Path,
) -> None:
    filtered = Reply(status=400, body={"error": {"code": "content_filter", "message": "no"}})

    def refuses_the_first(count: int, body: dict[str, Any]) -> Reply:
        return filtered if count == 0 else by_question(count, body)

    with serving(refuses_the_first) as server:
        found, costs = revenue(endpoint(server.url), tmp_path)
        _, again = revenue(endpoint(server.url), tmp_path)
    assert found > 0 and costs.refused == again.refused == 1 and again.calls == 0
    assert costs.reason == again.reason
    said = '{"error": {"code": "content_filter", "message": "no"}}'
    assert costs.reason == f"content filter: 400: {said}"
    _, replayed = revenue(RecordedBidder(file=str(tmp_path / "answers.jsonl")), tmp_path)
    assert (replayed.refused, replayed.reason) == (1, costs.reason)
    assert costs.questions == len(server.requests) == QUESTIONS + 1
    first, second = (request["body"]["messages"] for request in server.requests[:2])
    assert len(first) == len(second) == 2 and second[1]["content"].endswith(AGAIN)


def test_a_server_may_decode_by_the_schema_of_bids(tmp_path: Path) -> None:
    with serving(by_question) as server:
        revenue(endpoint(server.url, response_format="json_schema"), tmp_path)
    schema = server.requests[0]["body"]["response_format"]["json_schema"]
    assert schema == {"name": "bids", "strict": True, "schema": BIDS_SCHEMA}


def test_a_missing_recording_is_a_sentence(tmp_path: Path) -> None:
    with serving(by_question) as server:
        revenue(endpoint(server.url), tmp_path)
    settings = RecordedBidder(file=str(tmp_path / "answers.jsonl"), facts="You are timid.")
    with pytest.raises(CannotRunError, match="lacks 1 answers of this round; play what was"):
        revenue(settings, tmp_path)


@pytest.mark.slow
def test_a_local_model_plays_an_episode(tmp_path: Path) -> None:
    leave_untrained_model(tmp_path / "model")
    asks = []

    def load(source: str, temperature: float, pattern: str) -> Any:
        asks.append(make_ask(load_language_model(source), temperature, pattern))
        return asks[-1]

    settings = LocalBidder(source=str(tmp_path / "model"), temperature=1.0)
    first, costs = revenue(settings, tmp_path, load)
    assert first > 0 and costs.calls == QUESTIONS and costs.prompt_tokens > 100 * QUESTIONS
    assert revenue(settings, tmp_path)[0] == first and len(asks) == 1  # all answers are known
    fresh, _ = revenue(settings, tmp_path / "new", load)
    assert fresh == first  # an answer depends on its chat alone
    with pytest.raises(CannotRunError, match="no model; choose one, as in model=smollm2"):
        LocalBidder().build(context(tmp_path))
