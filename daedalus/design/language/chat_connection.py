"""A connection to a chat server, whose responses end: in time, and before they fill the memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import cast

import httpx

from daedalus.design.language.chat_body import NoReplyError

MOST_BYTES = 2**24
"""Longest body of a response."""

_SINCE = "since"


def bounded_client(timeout: float) -> httpx.Client:
    """Return a client of HTTP that gives up a response after ``timeout`` seconds or ``MOST_BYTES``.

    Timeouts of httpx are those of a single read, so that a server which sends a byte now and then
    would hold it for ever.

    Reading raises:
        httpx.ReadTimeout: The whole response took longer.
        NoReplyError: It is longer.
    """

    def begin(request: httpx.Request) -> None:
        request.extensions.setdefault(_SINCE, time.monotonic())  # redirects share it

    def bound(response: httpx.Response) -> None:
        response.stream = _Bounded(response, timeout)

    return _ClosingClient(
        event_hooks={"request": [begin], "response": [bound]},
        follow_redirects=True,
        limits=httpx.Limits(max_connections=None),
        timeout=timeout,
    )


class _ClosingClient(httpx.Client):
    """A client that closes its connections when nobody holds it, as those of openai do."""

    def __del__(self) -> None:
        if not self.is_closed:
            self.close()


class _Bounded(httpx.SyncByteStream):
    """The body of a response."""

    def __init__(self, response: httpx.Response, timeout: float) -> None:
        self._stream = cast(httpx.SyncByteStream, response.stream)
        self._request = response.request
        self._end = response.request.extensions[_SINCE] + timeout

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > MOST_BYTES:
                raise NoReplyError(f"its body is longer than {MOST_BYTES // 2**20} MiB")
            if time.monotonic() > self._end:
                raise httpx.ReadTimeout("the response does not end", request=self._request)
            yield part

    def close(self) -> None:
        self._stream.close()
