"""Players over HTTP and over WebSockets, which measure a service."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect

ACTION: dict[str, Any] = {"auction_type": "second_price", "reserve_price": 0.18}
EPISODE_LENGTH = 1000  # steps
_LENGTH = b"content-length: "
_ENDED = b'"done":true'


@dataclass
class Pace:
    """Measurements of the players.

    Attributes:
        seconds: Duration of the play.
        latencies: Seconds between the due time of each step and its answer.
        refused: Number of steps and resets with another status than 200.
    """

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    refused: int = 0


async def play(players: Sequence[Player], seconds: float, rate: float | None = None) -> Pace:
    """Let all players step for a while, on a schedule or as fast as the service answers.

    On a schedule, a latency counts from the due time of the step, even if the player's last step
    is still under way. So a slow service cannot hide its delay.

    When its episode ends, a player begins the next one. This is no step, and it counts in no
    latency, except that on a schedule it may delay the next step.

    Args:
        players: At least one; each plays one step at a time.
        seconds: Duration, in seconds; steps under way at the end are finished.
        rate: Steps a second of all players together, evenly spaced; None for no schedule.
    """
    pace, began = Pace(), time.perf_counter()
    apart = None if rate is None else len(players) / rate

    async def one(player: Player, first: float) -> None:
        due = began + first
        while due < began + seconds:
            now = time.perf_counter()
            if apart is not None and now < due:
                await asyncio.sleep(due - now)
            elif now >= began + seconds:
                return
            pace.refused += await player.step() != 200
            pace.latencies.append(time.perf_counter() - due)
            if player.ended:
                pace.refused += await player.begin() != 200
            due = time.perf_counter() if apart is None else due + apart

    stagger = 0.0 if apart is None else apart / len(players)
    await asyncio.gather(*(one(each, place * stagger) for place, each in enumerate(players)))
    pace.seconds = time.perf_counter() - began
    return pace


class HttpPlayer:
    """A session over HTTP on a connection of its own.

    General clients take as long for a request as the service does, so this one is minimal. It
    takes a reset for each episode.

    Attributes:
        ended: Whether its episode has ended; then a step would change nothing.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        host: str,
        name: str,
        episodes: Iterator[dict[str, Any]],
    ) -> None:
        self.ended = False
        self._reader, self._writer = reader, writer
        self._resets = (
            _post(host, "/reset", {"session_id": name} | episode) for episode in episodes
        )
        self._step = _post(host, "/step", {"session_id": name, "action": ACTION})

    async def begin(self) -> int:
        """Begin the next episode and return the status of the answer."""
        return await self._ask(next(self._resets))

    async def step(self) -> int:
        """Play a step and return the status of the answer."""
        return await self._ask(self._step)

    async def close(self) -> None:
        """Close the connection; the session ends when it has been idle for long."""
        self._writer.close()

    async def _ask(self, request: bytes) -> int:
        self._writer.write(request)
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
            _, _, length = head.partition(_LENGTH)
            body = await self._reader.readexactly(int(length.split(b"\r\n")[0]))
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("the service closed the connection") from error
        self.ended = _ENDED in body
        return int(head[9:12])


class WebSocketPlayer:
    """A session over OpenEnv's WebSocket, with the methods of ``HttpPlayer``."""

    def __init__(self, socket: ClientConnection, episodes: Iterator[dict[str, Any]]) -> None:
        self.ended = False
        self._socket = socket
        self._episodes = episodes

    async def begin(self) -> int:
        """Begin the next episode; return 200 if it began, otherwise 422."""
        return await self._ask({"type": "reset", "data": next(self._episodes)})

    async def step(self) -> int:
        """Play a step; return 200 if it was played, otherwise 422."""
        return await self._ask({"type": "step", "data": ACTION})

    async def close(self) -> None:
        """Close the socket, which ends the session."""
        await self._socket.close()

    async def _ask(self, message: dict[str, Any]) -> int:
        await self._socket.send(json.dumps(message))
        answer = await self._socket.recv(decode=False)
        self.ended = _ENDED in answer
        return 200 if b'"type":"observation"' in answer[:40] else 422


Player = HttpPlayer | WebSocketPlayer


async def http_players(
    address: str, count: int, episode_length: int = EPISODE_LENGTH
) -> list[HttpPlayer]:
    """Open sessions over HTTP, with the same names every time, and begin an episode in each.

    Args:
        address: Address of the service, such as ``http://127.0.0.1:8000``.
        count: Number of sessions; no two play the same episode.
        episode_length: Steps of an episode, after which the session's next one begins.

    Raises:
        ConnectionError: A session was refused.
    """
    place = urlsplit(address)
    players = []
    for number in range(count):
        episodes = _episodes(number, count, episode_length)
        reader, writer = await asyncio.open_connection(place.hostname, place.port or 80)
        player = HttpPlayer(reader, writer, place.netloc, f"load-{number}", episodes)
        _require(await player.begin())
        players.append(player)
    return players


async def websocket_players(
    address: str, count: int, episode_length: int = EPISODE_LENGTH
) -> list[WebSocketPlayer]:
    """Open WebSocket sessions and begin an episode in each, see ``http_players``.

    Raises:
        ConnectionError: A session was refused.
    """
    url = address.replace("http", "ws", 1) + "/ws"
    players = []
    for number in range(count):
        socket = await connect(url, compression=None)
        player = WebSocketPlayer(socket, _episodes(number, count, episode_length))
        _require(await player.begin())
        players.append(player)
    return players


def _episodes(number: int, count: int, length: int) -> Iterator[dict[str, Any]]:
    """Yield the resets of one of ``count`` sessions."""
    for seed in itertools.count(number, count):
        yield {"episode_length": length, "seed": seed}


def _require(status: int) -> None:
    if status != 200:
        raise ConnectionError(f"the service answered {status}; raise service.*_sessions")


def _post(host: str, path: str, body: dict[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text
