"""OpenEnv on the running server: its validator, its generic client, its schemas, no MCP tools."""

from __future__ import annotations

import json
import time

import pytest
import requests
from openenv.core import GenericEnvClient
from websockets.sync.client import connect

from daedalus.market.mechanism import FIELDS
from daedalus.service.http import openenv_routes
from daedalus.service.openenv.messages import DaedalusAction

BEGIN = {"seed": 5, "population": "stage4", "n_agents": 9, "episode_length": 3}


@pytest.mark.slow
def test_the_validator_accepts_the_server(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from openenv.cli.__main__ import main as openenv  # slow to import

    monkeypatch.setattr("sys.argv", ["openenv", "validate", "--url", address])
    with pytest.raises(SystemExit) as ended:
        openenv()
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed
    assert "Verdict: PASS" in printed.out


def test_a_bad_action_is_refused_and_the_session_goes_on(address: str) -> None:
    with GenericEnvClient(base_url=address).sync() as env:
        with pytest.raises(RuntimeError, match="reset first"):
            env.step({})
        env.reset(**BEGIN)
        for bad in ({"reserve_price": 2}, {"auction_type": "dutch"}, {"x": 1}):
            with pytest.raises(RuntimeError):
                env.step(bad)
        with pytest.raises(RuntimeError):
            env.reset(population="nobody")
        assert env.state()["step_count"] == 0
        assert env.step({"reserve_price": 0.2}).reward > 0.0
        assert env.state()["step_count"] == 1


def test_sessions_do_not_disturb_each_other(address: str) -> None:
    with (
        GenericEnvClient(base_url=address).sync() as one,
        GenericEnvClient(base_url=address).sync() as other,
    ):
        one.reset(**BEGIN)
        alone = [one.step({"reserve_price": 0.1 * step}).reward for step in range(3)]
        one.reset(**BEGIN)
        other.reset(seed=99, population="stage0")
        together = []
        for step in range(3):
            other.step({"reserve_price": 0.9})
            together.append(one.step({"reserve_price": 0.1 * step}).reward)
    assert together == alone and len(set(alone)) == 3


def wait_for_a_place(address: str) -> None:
    """Open a session as soon as the server has noticed that one was closed."""
    for _ in range(100):
        try:
            with GenericEnvClient(base_url=address).sync() as env:
                assert not env.reset().done
            return
        except (RuntimeError, ConnectionError):
            time.sleep(0.02)
    pytest.fail("the place was never released")


def test_capacity_is_reached_and_released(address: str) -> None:
    first, second = (GenericEnvClient(base_url=address).sync() for _ in range(2))
    with first, second:
        first.reset()
        second.reset()
        with pytest.raises((RuntimeError, ConnectionError), match=r"(?i)capacity|closed"):
            with GenericEnvClient(base_url=address).sync() as third:
                third.reset()
    wait_for_a_place(address)


BROKEN_FRAMES = ["[]", "{", "9" * 5000, '{"type": "step", "data": {"auction_type": "\\ud800"}}']


def test_frames_that_are_no_message_cost_nobody_else_a_session(address: str) -> None:
    with GenericEnvClient(base_url=address).sync() as env:
        first = env.reset(**BEGIN)
        for frame in BROKEN_FRAMES:
            with connect(address.replace("http", "ws") + "/ws") as stranger:
                stranger.send(frame)
                answer = json.loads(stranger.recv(timeout=5))
                assert answer["type"] == "error" and "Traceback" not in str(answer)
            wait_for_a_place(address)
        assert env.state()["step_count"] == first.observation["round_number"] == 0


def test_a_step_over_http_does_not_wait_for_the_network(address: str) -> None:
    with requests.Session() as session:
        session.post(f"{address}/reset", json={"session_id": "quick", "seed": 1})
        took = []
        for _ in range(10):
            began = time.perf_counter()
            session.post(f"{address}/step", json={"session_id": "quick", "action": {}})
            took.append(time.perf_counter() - began)
    assert min(took) < 0.035  # an acknowledgement that is delayed takes 0.04


def test_the_schemas_are_those_of_our_types_and_built_once(client, monkeypatch) -> None:
    built = []
    build = DaedalusAction.model_json_schema
    monkeypatch.setattr(DaedalusAction, "model_json_schema", lambda: built.append(1) or build())
    openenv_routes._schemas.cache_clear()
    first, again = client.get("/schema"), client.get("/schema")
    assert first.content == again.content and len(built) == 1
    schemas = first.json()
    assert set(FIELDS) < set(schemas["action"]["properties"])
    assert schemas["action"]["properties"]["reserve_price"]["maximum"] == 0.9
    assert "market_outcomes" in schemas["observation"]["properties"]
    assert {"seed", "population", "rewards"} < set(schemas["state"]["properties"])


def test_mcp_has_no_tools_and_opens_no_session(client) -> None:
    for number in range(9):
        create = {"jsonrpc": "2.0", "id": number, "method": "openenv/session/create"}
        answer = client.post("/mcp", json=create).json()
        assert answer["id"] == number and answer["error"]["code"] == -32601
    assert client.app.state.openenv.active_sessions == 0
