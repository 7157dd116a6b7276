"""Visitors in numbers, to measure a service: players over HTTP and WebSockets, and their pace."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect

ACTION: dict[str, Any] = {"auction_type": "second_price", "reserve_price": 0.18}
EPISODE: dict[str, Any] = {"episode_length": 1000}
_LENGTH = b"content-length: "


class Player(Protocol):
    """One session of a service."""

    async def step(self) -> int:
        """Play a step and return the answer's status."""

    async def close(self) -> None:
        """Leave."""


@dataclass
class Pace:
    """What players saw.

    Attributes:
        seconds: How long they played.
        latencies: Seconds from when each step was due to its answer.
        refused: Steps that were answered otherwise than with 200.
    """

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    refused: int = 0


async def play(players: Sequence[Player], seconds: float, rate: float | None = None) -> Pace:
    """Have all players step for a while, on a schedule or each as soon as it is answered.

    With a schedule a step that has to wait for its player's last one waits on the clock, so that
    a service that falls behind cannot slow down those who measure it.

    Args:
        players: At least one; a player's steps follow each other.
        seconds: For how long, in seconds; what is under way then is finished.
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
            status = await player.step()
            after = time.perf_counter()
            pace.latencies.append(after - due)
            pace.refused += status != 200
            due = after if apart is None else due + apart

    stagger = 0.0 if apart is None else apart / len(players)
    await asyncio.gather(*(one(each, place * stagger) for place, each in enumerate(players)))
    pace.seconds = time.perf_counter() - began
    return pace


class HttpPlayer(asyncio.Protocol):
    """A session over HTTP on a connection of its own.

    General clients take as long for a request as the service does, hence this plain one.
    """

    def __init__(self, step: bytes) -> None:
        self._request = step
        self._received = b""
        self._answer: asyncio.Future[int] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Read until the answer is whole."""
        self._received += data
        head, gap, body = self._received.partition(b"\r\n\r\n")
        _, _, length = head.partition(_LENGTH)
        if gap and len(body) >= int(length.split(b"\r\n")[0]):
            self._received = b""
            if self._answer is not None:
                self._answer.set_result(int(head[9:12]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail whoever waits for an answer."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("the service closed the connection"))

    async def step(self) -> int:
        """Play a step and return the answer's status."""
        return await self.ask(self._request)

    async def ask(self, request: bytes) -> int:
        """Send a request and return its answer's status."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    async def close(self) -> None:
        """Close the connection; the session ends when it has been idle for long enough."""
        if self._transport is not None:
            self._transport.close()


class WebSocketPlayer:
    """A session over OpenEnv's WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def step(self) -> int:
        """Play a step; 200 if it was played, otherwise 422."""
        return await self._ask({"type": "step", "data": ACTION})

    async def reset(self, seed: int) -> int:
        """Begin an episode; 200 if it began, otherwise 422."""
        return await self._ask({"type": "reset", "data": EPISODE | {"seed": seed}})

    async def close(self) -> None:
        """Close the socket, which ends the session."""
        await self._socket.close()

    async def _ask(self, message: dict[str, Any]) -> int:
        await self._socket.send(json.dumps(message))
        answer = await self._socket.recv()
        return 200 if b'"type":"observation"' in _encoded(answer)[:40] else 422


async def http_players(address: str, count: int) -> list[HttpPlayer]:
    """Open sessions over HTTP, the same ones every time, and begin an episode in each.

    Args:
        address: Such as ``http://127.0.0.1:8000``.
        count: Number of sessions.

    Raises:
        ConnectionError: A session was refused.
    """
    place, loop = urlsplit(address), asyncio.get_running_loop()
    players = []
    for number in range(count):
        name = f"load-{number}"
        step = _post(place.netloc, "/step", {"session_id": name, "action": ACTION})
        begin = _post(place.netloc, "/reset", EPISODE | {"session_id": name, "seed": number})
        _, player = await loop.create_connection(
            lambda step=step: HttpPlayer(step), place.hostname, place.port
        )
        _require(await player.ask(begin))
        players.append(player)
    return players


async def websocket_players(address: str, count: int) -> list[WebSocketPlayer]:
    """Open WebSocket sessions and begin an episode in each.

    Raises:
        ConnectionError: A session was refused.
    """
    url = address.replace("http", "ws", 1) + "/ws"
    players = []
    for number in range(count):
        player = WebSocketPlayer(await connect(url, compression=None))
        _require(await player.reset(number))
        players.append(player)
    return players


def _require(status: int) -> None:
    if status != 200:
        raise ConnectionError(f"the service answered {status}; raise service.*_sessions")


def _post(host: str, path: str, body: dict[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text


def _encoded(message: str | bytes) -> bytes:
    return message.encode() if isinstance(message, str) else message
