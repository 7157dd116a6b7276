"""Forks over HTTP, over a WebSocket and by the client: exact, bounded, and nothing moves."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import requests
from websockets.sync.client import connect

from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.lookahead import fork_rewards
from daedalus.doors.public import Market
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from daedalus.service.http.fork_routes import ForkAllowance
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.errors import CapacityError
from daedalus.service.openenv.messages import DaedalusAction
from tests.populations import in_both_markets
from tests.service.conftest import JSON_BODY, OBJECTIVES, serving

BEGIN = {"seed": 7, "population": "stage4", "n_agents": 9, "episode_length": 4}
THREE = [Mechanism(), Mechanism("vcg", 0.35), Mechanism("first_price", 0.2, shill_penalty=3.0)]
BODIES: list[dict[str, Any]] = [each.to_dict() for each in THREE]
ASKS = [{}, {"futures": 3, "horizon": 2, "seed": 5}, {"futures": 0}, {"futures": 0, "horizon": 3}]


def here(reward: RewardStack | None = None, market: str = "strategic") -> Episodes:
    """Return the episode of ``BEGIN`` after one step, in this process."""
    bidders = in_both_markets(4).in_market(market).of_size(9)
    env = DesignEnv.of(MarketSettings(market, episode_length=4), bidders, reward)
    episode = env.reset(market_seeds(7, "service", 1))
    episode.step(Mechanisms.stack([Mechanism()]))
    return episode


def begun(client: Any, address: str = "", **changes: Any) -> None:
    client.post(f"{address}/reset", json={"session_id": "a", **BEGIN, **changes})
    client.post(f"{address}/step", json={"session_id": "a", "action": {}})


def fork(client: Any, address: str = "", **changes: Any) -> Any:
    body = {"session_id": "a", "mechanisms": BODIES, **changes}
    return client.post(f"{address}/fork", json=body)


@pytest.mark.parametrize("market", ["strategic", "classic"])
@pytest.mark.parametrize("objective", ["composite", "revenue"])
def test_rewards_are_those_of_this_process_to_the_bit(client, market: str, objective: str) -> None:
    begun(client, objective=objective, market=market)
    episode = here(OBJECTIVES[objective], market)
    for ask in ASKS:
        expected = fork_rewards(episode, Mechanisms.stack(THREE), **ask).tolist()
        assert fork(client, **ask).json() == {"rewards": expected}
        assert len(set(expected)) == 3


def test_the_own_future_tells_the_next_step_and_nothing_moves(client) -> None:
    begun(client)
    before = client.get("/state", params={"session_id": "a"}).json()
    told = fork(client, futures=0).json()["rewards"]
    assert client.get("/state", params={"session_id": "a"}).json() == before
    step = client.post("/step", json={"session_id": "a", "action": BODIES[1]}).json()
    assert step["reward"] == told[1]
    begun(client)
    assert client.post("/step", json={"session_id": "a", "action": BODIES[1]}).json() == step


def test_the_client_and_a_market_here_ask_alike(address: str) -> None:
    market = Market(here().env)
    market.reset(seed=7)
    with DaedalusClient(base_url=address).sync() as session:
        session.reset(**BEGIN)
        first = session.step(DaedalusAction())
        assert first.reward == market.step(Mechanism()).reward
        for ask in ASKS:
            actions = [DaedalusAction(**each) for each in BODIES]
            assert session.fork(actions, **ask) == market.fork(THREE, **ask).tolist()
        told = session.fork([DaedalusAction(**BODIES[2])], futures=0)
        assert session.state().step_count == 1
        assert session.step(DaedalusAction(**BODIES[2])).reward == told[0]
        with pytest.raises(RuntimeError, match="horizon: 3 is not allowed; give 1 to 2"):
            session.fork(actions, horizon=3)
        assert session.step(DaedalusAction()).reward > 0


def exchange(socket: Any, *messages: Any) -> list[dict[str, Any]]:
    answers = []
    for message in messages:
        socket.send_text(message if isinstance(message, str) else json.dumps(message))
        answers.append(json.loads(socket.receive_text()))
    return answers


MESSAGE = {"type": "fork", "data": {"mechanisms": BODIES}}


def test_a_socket_refuses_what_is_wrong_and_goes_on(client) -> None:
    bad: dict[str, Any] = {
        "no data": {"type": "fork"},
        "a list": {"type": "fork", "data": []},
        "none": {"type": "fork", "data": {"mechanisms": []}},
        "no number": {"type": "fork", "data": {"mechanisms": [{}], "futures": "many"}},
        "no field": {"type": "fork", "data": {"mechanisms": [{"x": 1}]}},
        "more": {**MESSAGE, "x": 1},
        "too many": {"type": "fork", "data": {"mechanisms": [{}], "futures": 513}},
    }
    with client.websocket_connect("ws://localhost:8000/ws") as socket:
        (early,) = exchange(socket, MESSAGE)
        assert early["data"]["code"] == "EXECUTION_ERROR" and "reset first" in str(early)
        exchange(socket, {"type": "reset", "data": BEGIN}, {"type": "step", "data": {}})
        for name, message in bad.items():
            (answer,) = exchange(socket, message)
            assert answer["type"] == "error", name
            assert answer["data"]["code"] == "VALIDATION_ERROR", name
            assert "Traceback" not in str(answer) and len(str(answer)) < 3000
        state, answer, unknown = exchange(socket, {"type": "state"}, MESSAGE, '{"type": "forks"}')
        assert state["data"]["step_count"] == 1 and unknown["data"]["code"] == "UNKNOWN_TYPE"
        expected = fork_rewards(here(), Mechanisms.stack(THREE)).tolist()
        assert answer == {"type": "fork", "data": {"rewards": expected}}


def test_a_fork_on_a_socket_counts_as_use_of_its_session(client, monkeypatch) -> None:
    server, used = client.app.state.openenv, []
    monkeypatch.setattr(server, "_update_session_activity", lambda name, **_: used.append(name))
    with client.websocket_connect("ws://localhost:8000/ws") as socket:
        exchange(socket, {"type": "reset", "data": BEGIN})
        before = len(used)
        exchange(socket, MESSAGE)
        assert len(used) == before + 1 and used[-1] in server._sessions


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "many futures": (
        {"futures": 171},
        "x futures x horizon may be 512 at most, and are",
    ),
    "a million futures": ({"futures": 10**6, "horizon": 100}, "may be 512 at most"),
    "a million steps": ({"horizon": 10**6}, "give an integer from 1 to 100"),
    "beyond the end": ({"horizon": 4}, "give 1 to 3, the steps that are left"),
    "no step": ({"horizon": 0}, "give an integer from 1 to"),
    "a long number": ({"seed": 10**400}, "give an integer"),
    "no mechanism": ({"mechanisms": []}, "at least 1 item"),
    "too many mechanisms": ({"mechanisms": [{}] * 65}, "at most 64 items"),
    "a wrong mechanism": ({"mechanisms": [{"reserve_price": 2}]}, "give a number from 0.0 to 0.9"),
    "another field": ({"checkpoint": "/etc/passwd"}, "no such field"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_fork_that_costs_too_much_or_makes_no_sense_is_refused_at_once(client, name: str) -> None:
    begun(client)
    changes, words = REFUSED[name]
    began = time.perf_counter()
    answer = fork(client, **changes)
    took = time.perf_counter() - began
    assert answer.status_code == 422 and words in str(answer.json()["detail"]), answer.text
    assert took < 0.5 and len(answer.content) < 20_000
    assert client.get("/state", params={"session_id": "a"}).json()["step_count"] == 1


def test_the_own_future_counts_as_one(reach) -> None:
    client = reach(max_fork_steps=5)
    begun(client)
    assert fork(client, futures=0).status_code == 200
    refused = fork(client, futures=0, horizon=2).json()["detail"]
    assert "may be 5 at most, and are 6" in refused[0]["allowed"]


def test_a_long_list_is_not_read_to_its_end(client) -> None:
    begun(client)
    for entry in ("{}", '{"x":1}', "[]"):
        body = f'{{"session_id": "a", "mechanisms": [{",".join([entry] * 8000)}]}}'
        began = time.perf_counter()
        answer = client.post("/fork", content=body, headers=JSON_BODY)
        assert answer.status_code == 422 and len(answer.content) < 100_000
        assert time.perf_counter() - began < 0.5


def test_without_an_episode_or_with_forks_turned_off_it_is_said(reach) -> None:
    client = reach()
    assert fork(client).status_code == 404
    begun(client, episode_length=1)
    ended = fork(client)
    assert ended.status_code == 409 and "the episode has ended; reset first" in ended.text
    closed = reach(max_fork_steps=0)
    begun(closed)
    refused = fork(closed)
    assert refused.status_code == 409 and "service.max_fork_steps=512" in refused.text
    with closed.websocket_connect("ws://localhost:8000/ws") as socket:
        _, answer = exchange(socket, {"type": "reset", "data": BEGIN}, MESSAGE)
        assert "service.max_fork_steps=512" in answer["data"]["message"]


def by(visitor: str) -> dict[str, str]:
    return {"X-Forwarded-For": visitor}


def test_behind_a_trusted_proxy_a_visitor_forks_only_its_share(catalogue: Catalogue) -> None:
    limits = {"max_fork_steps": 24, "fork_steps_per_address": 1.0}
    with serving(catalogue, trusted_proxies=["127.0.0.1"], **limits) as address:
        with requests.Session() as greedy, requests.Session() as other:
            greedy.headers.update(by("192.0.2.1"))
            other.headers.update(by("192.0.2.2"))
            begun(greedy, address)
            codes = [fork(greedy, address).status_code for _ in range(3)]
            assert codes == [200, 503, 503]  # 24 steps each
            refused = fork(greedy, address)
            assert "your address has forked too much" in refused.json()["error"]
            assert 20 <= int(refused.headers["Retry-After"]) <= 24
            assert fork(other, address).status_code == 200
            step = {"session_id": "a", "action": {}}
            assert greedy.post(f"{address}/step", json=step).status_code == 200
        headers = by("192.0.2.1")
        url = address.replace("http", "ws")
        with connect(f"{url}/ws", additional_headers=headers) as socket:
            for message in ({"type": "reset", "data": BEGIN}, MESSAGE):
                socket.send(json.dumps(message))
                answer = json.loads(socket.recv(timeout=9))
            assert answer["data"]["code"] == "EXECUTION_ERROR"
            assert "forked too much" in answer["data"]["message"]


def test_without_a_trusted_proxy_an_address_is_not_counted(reach) -> None:
    client = reach(max_fork_steps=24, fork_steps_per_address=1.0)
    begun(client)
    assert [fork(client).status_code for _ in range(3)] == [200, 200, 200]


def test_an_allowance_is_won_back_and_forgotten() -> None:
    now = [100.0]
    allowance = ForkAllowance(50, 10.0, lambda: now[0])
    allowance.take("a", 50)
    for _ in range(3):  # a refusal costs nothing
        with pytest.raises(CapacityError) as caught:
            allowance.take("a", 20)
        assert caught.value.retry_after == pytest.approx(2.0)
    allowance.take("b", 50)
    now[0] += 2.0
    allowance.take("a", 20)
    assert len(allowance) == 2
    now[0] += 5.1
    allowance.take("c", 1)
    assert len(allowance) == 1
    for _ in range(9):
        ForkAllowance(50, None).take("a", 10**9)
