"""The OpenEnv side: the official validator and client against a server that runs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
from openenv.core import GenericEnvClient
from websockets.sync.client import connect

from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import EpisodeError
from daedalus.service.openenv.messages import DaedalusAction, DaedalusState

ROOT = Path(__file__).parents[3]
BEGIN = {"seed": 5, "population": "stage4", "n_agents": 9, "episode_length": 3}


def openenv(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "openenv.cli", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_the_validator_accepts_the_server_and_the_package(address: str) -> None:
    for arguments in (("--url", address), ("--level", "static")):
        answer = openenv("validate", *arguments)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert "Verdict: PASS" in answer.stdout


def played(address: str, begin: dict) -> list:
    with GenericEnvClient(base_url=address).sync() as env:
        first = env.reset(**begin)
        steps = [env.step({"reserve_price": 0.1 * step}) for step in range(3)]
        assert [each.done for each in steps] == [False, False, True]
        return [first.observation, *[(each.observation, each.reward) for each in steps]]


def test_same_seed_same_episode(address: str) -> None:
    episode = played(address, BEGIN)
    assert played(address, BEGIN) == episode
    assert played(address, BEGIN | {"seed": 6})[1:] != episode[1:]
    assert played(address, BEGIN | {"market": "classic"})[1:] != episode[1:]
    assert episode[0]["population_proxies"]["total_bidders"] == 9


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
    alone = played(address, BEGIN)
    with (
        GenericEnvClient(base_url=address).sync() as one,
        GenericEnvClient(base_url=address).sync() as other,
    ):
        first = one.reset(**BEGIN)
        other.reset(seed=99, population="stage0")
        together = [first.observation]
        for step in range(3):
            other.step({"reserve_price": 0.9})
            result = one.step({"reserve_price": 0.1 * step})
            together.append((result.observation, result.reward))
    assert together == alone


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


def test_the_typed_client_speaks_in_types(address: str) -> None:
    with DaedalusClient(base_url=address).sync() as env:
        result = env.reset(**BEGIN)
        assert result.observation.mechanism.to_mechanism().reserve_price == 0.1
        result = env.step(DaedalusAction(reserve_price=0.3, coalition_policy="restrict"))
        assert result.observation.mechanism.coalition_policy == "restrict"
        assert result.reward == result.observation.reward == result.metadata["scores"]["composite"]
        state = env.state()
    assert isinstance(state, DaedalusState)
    assert (state.population, state.n_agents, state.rewards) == ("stage4", 9, [result.reward])


@pytest.mark.slow
def test_the_client_does_without_the_server() -> None:
    script = (
        "import sys, daedalus.service.openenv.client\n"
        "ours = {name for name in sys.modules if name.startswith('daedalus')}\n"
        "print(sorted(each for each in ours if 'service' in each or 'env' in each))\n"
        "print([name for name in ('numba', 'torch', 'hydra') if name in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = [
        f"daedalus.service{name}"
        for name in ("", ".openenv", ".openenv.client", ".openenv.messages", ".openenv.ranges")
    ]
    assert answer.stdout.splitlines() == [str(modules), "[]"]


def test_rubrics_score_every_term(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3)
    observation = environment.step(DaedalusAction())
    names = {name: each.last_score for name, each in environment.rubric.named_rubrics()}
    assert set(names) == {"welfare", "fairness", "participation", "stability"}
    assert names | {"composite": observation.reward} == observation.metadata["scores"]
    environment.reset(3)
    assert environment.rubric.last_score is None and environment.state.scores == {}


def test_an_ended_episode_stays_as_it_is(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3, episode_length=1)
    last = environment.step(DaedalusAction())
    after = environment.step(DaedalusAction(reserve_price=0.5))
    assert last.done and after.done and after.reward == 0.0
    assert after.market_outcomes == last.market_outcomes
    assert environment.state.rewards == [last.reward]


def test_closing_twice_is_closing_once(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3)
    environment.close()
    environment.close()
    for call in (environment.reset, lambda: environment.step(DaedalusAction())):
        with pytest.raises(EpisodeError, match="connect again"):
            call()


def test_a_step_over_http_does_not_wait_for_the_network(address: str) -> None:
    with requests.Session() as session:
        session.post(f"{address}/reset", json={"session_id": "quick", "seed": 1})
        took = []
        for _ in range(10):
            began = time.perf_counter()
            session.post(f"{address}/step", json={"session_id": "quick", "action": {}})
            took.append(time.perf_counter() - began)
    assert min(took) < 0.02
