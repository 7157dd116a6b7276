"""Language models that bid for visitors: recorded, asked live and slowly, and in trouble."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests

from daedalus.launch.config.mistakes import ConfigError
from daedalus.market.mechanism import Mechanism
from daedalus.service.openenv.catalogue import ASKED_MARKET, ASKED_POPULATION, Catalogue
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.errors import FieldError
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.openenv.warm_up import warm_up
from daedalus.service.page.offer import make_offer
from experiments.serve import asked_market
from tests.design.designers import chat_double
from tests.design.language_bidders.scripted import asked_values, equilibrium
from tests.launch.config.composing import composed
from tests.service.conftest import serving
from tests.untrained import leave_untrained_model

ASKED = {"population": ASKED_POPULATION, "market": ASKED_MARKET}
BEGIN = {"session_id": "a", "seed": 3, "episode_length": 3} | ASKED
FIRST_PRICE = {"auction_type": "first_price", "reserve_price": 0.0, "reveal_reserve": True}
OTHER = FIRST_PRICE | {"reserve_price": 0.37}


@contextmanager
def asked(catalogue: Catalogue, folder: Path, *overrides: str) -> Iterator[Catalogue]:
    config = composed("+experiment=serve", *overrides)
    with asked_market(config, folder) as found:
        assert found is not None
        yield catalogue.with_asked_market(found)


@pytest.fixture(scope="module")
def recorded(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    with asked(catalogue, tmp_path_factory.mktemp("recorded"), "bidder=recorded") as found:
        yield found


@contextmanager
def live(
    catalogue: Catalogue,
    folder: Path,
    respond: chat_double.Respond,
    *overrides: str,
    seconds: float = 20.0,
) -> Iterator[tuple[chat_double.Server, str]]:
    """Serve with a model that is asked: the model's server, and the address."""
    with chat_double.serving(respond) as server:
        model = ["bidder=endpoint", "bidder.model=m", f"bidder.base_url={server.url}"]
        model += ["bidder.retries=0", f"service.design_timeout={seconds}"]
        with (
            asked(catalogue, folder, *model, *overrides) as found,
            serving(found, design_timeout=seconds) as address,
        ):
            yield server, address


def rational(_: int, body: dict[str, Any]) -> chat_double.Reply:
    """Bid the equilibrium."""
    question = body["messages"][1]["content"]
    return chat_double.Reply(json.dumps(equilibrium(question, asked_values(question))))


def slowly(seconds: float, count: int, body: dict[str, Any]) -> chat_double.Reply:
    """Bid the equilibrium, and take time over the first question."""
    reply = rational(count, body)
    reply.delay = 0.0 if count else seconds
    return reply


def post(address: str, path: str, **body: Any) -> requests.Response:
    return requests.post(f"{address}{path}", json=body, timeout=30)


def step(address: str, **action: Any) -> requests.Response:
    return post(address, "/step", session_id="a", action=action)


def get(address: str, path: str) -> Any:
    return requests.get(f"{address}{path}", params={"session_id": "a"}, timeout=30).json()


def test_without_a_bidder_nothing_is_offered(catalogue: Catalogue, tmp_path: Path) -> None:
    with asked_market(composed("+experiment=serve"), tmp_path) as found:
        assert found is None
    assert all(each.asked is None for each in make_offer(catalogue, []).populations)


@pytest.mark.slow
def test_recorded_bidders_that_are_to_remember_are_refused(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    for memory in (0, 5):
        with asked(catalogue, tmp_path, "bidder=recorded", f"bidder.memory={memory}"):
            pass
    refused = asked(catalogue, tmp_path, "bidder=recorded", "bidder.memory=3")
    with pytest.raises(ConfigError, match="know no past"), refused:
        pass


def test_the_market_and_its_bidders_go_together(recorded: Catalogue) -> None:
    assert recorded.playable(ASKED_MARKET) == [ASKED_POPULATION]
    assert recorded.markets[ASKED_MARKET].rounds_per_step == 10
    assert not any(ASKED_POPULATION in recorded.playable(each) for each in ("strategic", "classic"))
    offered = make_offer(recorded, []).populations[-1]
    assert (offered.name, offered.bidders, offered.markets) == (ASKED_POPULATION, 3, [ASKED_MARKET])
    assert offered.asked is not None and offered.asked.recorded
    assert offered.asked.model == "SmolLM2" and len(offered.asked.rules) == 5
    for wrong in ({"market": "strategic"}, {"n_agents": 8}, {"population": "stage0"}):
        with pytest.raises(FieldError):
            recorded.build(recorded.options(**ASKED | wrong))


def test_recorded_answers_play_all_their_rules_and_refuse_others(recorded: Catalogue) -> None:
    with serving(recorded) as address:
        assert post(address, "/reset", **BEGIN | {"episode_length": 6}).ok
        rules = get(address, "/api/catalogue")["populations"][-1]["asked"]["rules"]
        for each in rules:
            assert step(address, **each["mechanism"]).json()["info"]["scores"]
        refused = step(address, **OTHER)
        assert refused.status_code == 422
        assert "are recorded, and not for these rules" in refused.json()["error"]
        state = get(address, "/state")
        assert state["step_count"] == 5 and state["mechanism"] == rules[-1]["mechanism"]
        assert step(address, **FIRST_PRICE).json()["done"]


def test_what_people_watch_is_replayed_and_what_would_ask_more_is_refused(
    recorded: Catalogue,
) -> None:
    with serving(
        recorded, designers={"planner": Looking()}, makers={"search": no_search}
    ) as address:
        post(address, "/reset", **BEGIN)
        played = step(address, **FIRST_PRICE).json()
        arena, reveal = get(address, "/api/arena")["rounds"], get(address, "/api/reveal")
        prices = [each["clearing_price"] for each in played["observation"]["market_outcomes"]]
        assert [each["price"] for each in arena] == prices and len(prices) == 10
        assert {each["menu"][0] for each in reveal["bidders"]} == {"language_model"}
        for bids, values in zip((each["bids"] for each in arena), reveal["values"], strict=True):
            assert all(0 <= bid <= value for bid, value in zip(bids, values, strict=True))
        assert get(address, "/api/truth")["regrets"] == {}
        for path, more in (
            ("/fork", {"mechanisms": [FIRST_PRICE]}),
            ("/api/design", {"designer": "search"}),
            ("/api/design", {"designer": "planner"}),
        ):
            refused = post(address, path, session_id="a", **more)
            assert refused.status_code == 422
            assert "would ask its language model" in refused.json()["detail"][0]["allowed"]


def no_search(_: Any) -> Any:
    raise AssertionError("a search began")


class Looking:
    """A designer that would look at copies of the episode, as the planner does."""

    def watch(self, _: Any) -> None:
        raise AssertionError("a planner began")

    def propose(self, *_: Any) -> Any:
        raise AssertionError("a planner proposed")


def test_openenv_plays_it_too(recorded: Catalogue) -> None:
    with serving(recorded) as address, DaedalusClient(base_url=address).sync() as env:
        env.reset(seed=3, **ASKED)
        first = env.step(DaedalusAction(**FIRST_PRICE))
        with pytest.raises(RuntimeError, match="recorded, and not for these rules"):
            env.step(DaedalusAction(**OTHER))
        assert env.step(DaedalusAction(**FIRST_PRICE)).done and first.reward is not None


@pytest.mark.slow
def test_others_are_served_while_a_slow_model_is_asked(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    with (
        live(catalogue, tmp_path, partial(slowly, 0.8)) as (server, address),
        ThreadPoolExecutor(1) as visitor,
    ):
        post(address, "/reset", **BEGIN)
        first = visitor.submit(step, address, **OTHER)
        waits = []
        while not first.done():
            waits.append(requests.get(f"{address}/health", timeout=9).elapsed.total_seconds())
        assert first.result().json()["observation"]["round_number"] == 1
        assert len(waits) > 5 and np.median(waits) < 0.5
        assert len(server.requests) == 1  # all know the same
        assert step(address, **OTHER).ok and len(server.requests) == 4
        post(address, "/reset", **BEGIN)
        assert step(address, **OTHER).json() == first.result().json()
        assert len(server.requests) == 4


@pytest.mark.slow
def test_a_reset_meanwhile_plays_no_step_of_the_old_episode(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    def interrupted(count: int, body: dict[str, Any]) -> chat_double.Reply:
        post(address, "/reset", **BEGIN)
        return rational(count, body)

    with live(catalogue, tmp_path, interrupted) as (_, address):
        post(address, "/reset", **BEGIN)
        late = step(address, **OTHER)
        assert late.status_code == 409 and "went on while" in late.json()["error"]
        assert get(address, "/state")["step_count"] == 0
        assert step(address, **OTHER).ok


def test_a_budget_ends_the_asking_in_a_sentence(catalogue: Catalogue, tmp_path: Path) -> None:
    with live(catalogue, tmp_path, rational, "bidder.max_calls=1") as (server, address):
        post(address, "/reset", **BEGIN)
        assert step(address, **OTHER).ok
        spent = step(address, **FIRST_PRICE)
        assert spent.status_code == 502 and "asks it nothing new any more" in spent.json()["error"]
        assert get(address, "/state")["step_count"] == 1 and len(server.requests) == 1
        post(address, "/reset", **BEGIN)
        assert step(address, **OTHER).ok  # its answers are known


def test_a_model_in_trouble_is_a_sentence_and_rubbish_stays_out(
    catalogue: Catalogue, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def ill(count: int, body: dict[str, Any]) -> chat_double.Reply:
        if count == 0:
            return chat_double.Reply(status=500, body={"error": "secret words"})
        return chat_double.Reply("I would bid about half.")

    with live(catalogue, tmp_path, ill) as (server, address):
        post(address, "/reset", **BEGIN)
        with caplog.at_level(logging.ERROR):
            failed = step(address, **OTHER)
        assert failed.status_code == 502 and "failed; the server's log says" in failed.text
        assert "secret words" not in failed.text and "secret words" in caplog.text
        silent = step(address, **OTHER)
        assert silent.ok and len(server.requests) == 3
        assert not any(sum(each["bids"]) for each in get(address, "/api/arena")["rounds"])


@pytest.mark.slow
def test_who_waits_too_long_is_told_and_finds_the_answer_later(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    with live(catalogue, tmp_path, partial(slowly, 0.5), seconds=0.1) as (server, address):
        post(address, "/reset", **BEGIN)
        late = step(address, **OTHER)
        assert late.status_code == 502 and "took longer than 0.1 seconds" in late.json()["error"]
        for _ in range(20):
            if (found := step(address, **OTHER)).ok:
                break
        assert found.ok and len(server.requests) == 1


def test_a_market_is_made_ready_without_asking(catalogue: Catalogue, tmp_path: Path) -> None:
    with chat_double.serving(rational) as server:
        model = ["bidder=endpoint", "bidder.model=m", f"bidder.base_url={server.url}"]
        with asked(catalogue, tmp_path, *model) as found, ThreadPoolExecutor(1) as thread:
            thread.submit(warm_up, found).result()
        assert not server.requests and Mechanism(**FIRST_PRICE) in found.asked_market.rules.values()


@pytest.mark.slow
def test_a_model_in_this_process_bids(catalogue: Catalogue, tmp_path: Path) -> None:
    leave_untrained_model(tmp_path / "model")
    model = ["bidder=local", f"bidder.source={tmp_path / 'model'}"]
    with (
        asked(catalogue, tmp_path, *model) as found,
        serving(found, design_timeout=60.0) as address,
    ):
        post(address, "/reset", **BEGIN)
        assert step(address, **OTHER).ok
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 1
