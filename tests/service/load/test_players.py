"""Players: each plays episode after episode, and the service serves two hundred of them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import requests
from websockets.asyncio.client import connect

from daedalus.service.load.players import WebSocketPlayer, http_players, play
from daedalus.service.load.service_process import ServiceProcess
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.settings import ServiceSettings
from experiments.bench_service import Load, put_on, settled

LENGTH = 3  # steps of an episode
SESSIONS = 200
SPARE = 3  # descriptors that a server may open once and keep


def stands(steps: int, seeds: count[int]) -> dict[str, int]:
    """Return where so many steps leave a session whose episodes have these seeds."""
    seed = next(seed for episode, seed in enumerate(seeds) if episode == steps // LENGTH)
    return {"step_count": steps % LENGTH, "seed": seed, "episode_length": LENGTH}


@pytest.mark.slow
def test_a_player_over_http_outlives_its_episodes(address: str) -> None:
    async def lives() -> int:
        players = await http_players(address, 2, LENGTH)
        pace = await play(players[1:], seconds=1.0)
        await asyncio.gather(*(player.close() for player in players))
        assert pace.refused == 0
        return len(pace.latencies)

    steps = asyncio.run(lives())
    state = requests.get(f"{address}/state", params={"session_id": "load-1"}, timeout=5).json()
    assert steps > 2 * LENGTH
    assert state | stands(steps, count(1, 2)) == state


@pytest.mark.slow
def test_a_player_over_a_websocket_outlives_its_episodes(address: str) -> None:
    async def lives() -> None:
        episodes = ({"episode_length": LENGTH, "seed": seed} for seed in count(7))
        async with connect(address.replace("http", "ws") + "/ws") as socket:
            player = WebSocketPlayer(socket, episodes)
            await player.begin()
            pace = await play([player], seconds=1.0, rate=50.0)
            await socket.send(json.dumps({"type": "state"}))
            state = json.loads(await socket.recv())["data"]
        steps = len(pace.latencies)
        assert pace.refused == 0 and steps > LENGTH
        assert state | stands(steps, count(7)) == state

    asyncio.run(lives())


@pytest.mark.slow
def test_two_hundred_sessions_are_played_and_let_go(catalogue: Catalogue, tmp_path: Path) -> None:
    settings = ServiceSettings(port=0, websocket_sessions=SESSIONS)
    long = replace(catalogue, max_episode_length=settings.max_episode_length)
    load = Load("WebSocket", SESSIONS, rate=200.0, seconds=3.0)
    with ServiceProcess(settings, long, tmp_path / "log") as server:
        before = server.usage()
        pace, _, during = asyncio.run(put_on(server, load))
        after = settled(server, replace(before, descriptors=before.descriptors + SPARE))
    assert during.websocket_sessions == SESSIONS
    assert pace.refused == 0 and len(pace.latencies) >= 1.5 * SESSIONS  # of 3 offered to each
    assert after.websocket_sessions == 0 and after.descriptors <= before.descriptors + SPARE
    assert "Traceback" not in (tmp_path / "log").read_text()
