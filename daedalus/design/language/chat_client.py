"""Client of an OpenAI-compatible server: one chat at a time, or many side by side.

Its responses end: in time, and before they fill the memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import httpx
import numpy as np
import openai
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from tqdm import tqdm

from daedalus.checks import CannotRunError
from daedalus.design.language.answer_file import AnswerFile, key_of
from daedalus.design.language.chat_body import NoReplyError, is_filtered, read_reply, words_of
from daedalus.design.language.chat_server import ChatServer
from daedalus.design.language.prompt import Generate, Message
from daedalus.design.language.reply import Ask, Reply, in_one_line, well_formed
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism_schema import mechanism_schema

_AskOne = Callable[[list[Message], int, Mapping[str, object]], Reply]

_NO_KEY = "none"  # the client requires a key; servers without keys ignore it
_PATIENCE = 5.0  # seconds before a progress bar is shown
_LONGEST_SAID = 4000  # characters of a model's answer that are sent again
_FILTERING = (400, 403, 422, 451)  # statuses of responses to one prompt that a filter refuses
_LONGEST_TOLD = 300  # characters that a message quotes of a server
_SINCE = "since"
MOST_BYTES = 2**24
"""Longest body of a response."""

_KEY = "api_key_variable: {url} refuses {key} ({said}); name the variable of a key that may use it"
_ADVICE: tuple[tuple[type[Exception], str], ...] = (
    (openai.AuthenticationError, _KEY),
    (openai.PermissionDeniedError, _KEY),
    (
        openai.NotFoundError,
        "model: {model!r} is not at {url} ({said}); take one that {url}/models lists; does "
        "base_url end in /v1?",
    ),
    (
        openai.RateLimitError,
        "concurrency: {url} is too busy ({said}); lower concurrency, raise retries, or see to the "
        "account's quota",
    ),
    (openai.InternalServerError, "{url} failed ({said}); see the server's log"),
    (
        openai.APITimeoutError,
        "timeout: {url} took longer than {timeout} s; raise timeout, or lower concurrency or "
        "max_tokens",
    ),
    (
        openai.APIConnectionError,
        "base_url: no server at {url} answers ({said}); start it, give its address, or see its log",
    ),
    (
        NoReplyError,
        "base_url: {url} answers, but not with a chat ({said}); does it end in /v1?",
    ),
    (
        Exception,
        "{url} does not accept the request ({said}); if this names a field, leave it out with "
        "temperature=null, max_tokens=null, send_seed=false or response_format=text",
    ),
)
"""What to do, by the kind of error; the first that fits."""


class EndpointError(CannotRunError):
    """The endpoint gave no answer. The message says what to change."""


def make_chat_replies(settings: ChatServer, answers: AnswerFile | None = None) -> Generate[Reply]:
    """Return a function from chats to replies, which come in the same order.

    It asks ``concurrency`` chats at a time. It returns answers as they are: the designer judges
    them. What the file of answers has is not asked for again, and new ones are added.

    Raises:
        EndpointError: The key is missing. The returned function raises it too: if the server
            cannot be reached, is too slow, refuses, has no such model, or fails in all attempts.
    """
    ask = _asking(settings, answers)

    def replies(
        chats: Sequence[list[Message]], rng: np.random.Generator, goals: Sequence[Goal] = ()
    ) -> list[Reply]:
        seeds = rng.integers(2**31, size=len(chats)).tolist()
        asked = goals or [ANYTHING] * len(chats)
        schemas = [{"mechanism": mechanism_schema(each.allowed)} for each in asked]
        with ThreadPoolExecutor(settings.concurrency) as pool:
            asking = pool.map(ask, chats, seeds, schemas)
            progress = tqdm(
                asking, "asking", len(chats), leave=False, delay=_PATIENCE, disable=None
            )
            try:
                return list(progress)
            except EndpointError as error:
                raise EndpointError(f"{error}{_what_is_kept(answers)}") from None

    return replies


def _what_is_kept(answers: AnswerFile | None) -> str:
    if answers is None:
        return ". No answer is kept; the designer's setting cache=FILE keeps them"
    if not answers.path.exists():
        return ""
    path = answers.path
    return f". The answers so far are in {path}; the designer's setting cache={path} uses them"


def make_chat_ask(settings: ChatServer, schema: Mapping[str, object]) -> Ask:
    """Return a function that asks the server for one reply. Threads may share it.

    Whatever the server sends is a reply, an empty reply with its reason, or an ``EndpointError``.
    ``response_format: json_schema`` asks for the schema, which stands under its name.

    Raises:
        EndpointError: See ``make_chat_replies``.
    """
    ask = _asking(settings)
    return lambda chat, seed: ask(chat, seed, schema)


def _asking(settings: ChatServer, answers: AnswerFile | None = None) -> _AskOne:
    """Return a function from a chat, a seed and a schema to the server's reply, or the known one.

    It keeps each new reply among the answers.
    """
    client = OpenAI(
        base_url=settings.base_url,
        api_key=_api_key(settings),
        timeout=settings.timeout,
        max_retries=settings.retries,
        http_client=_bounded_client(settings.timeout),  # type: ignore[arg-type]  # it takes httpx too
    )

    def ask(chat: list[Message], seed: int, schema: Mapping[str, object]) -> Reply:
        options = _options(settings, seed, schema)
        if answers is None:
            return _reply(client, settings, chat, options)
        how = options | {"seed": seed, "extra": settings.extra}
        reply = answers.get(key_of(settings.model, how, chat))
        if reply is None:
            reply = _reply(client, settings, chat, options)
            answers.add(settings.model, how, chat, reply)
        return reply

    return ask


def _api_key(settings: ChatServer) -> str:
    name = settings.api_key_variable
    key = os.environ.get(name, "").strip() if name else _NO_KEY
    if not key:
        raise EndpointError(f"api_key_variable: {name} is not set; run `export {name}=KEY` before")
    if not (key.isascii() and key.isprintable()):
        raise EndpointError(
            f"api_key_variable: {name} holds characters that a key cannot have, such as a line "
            f"end; run `export {name}=KEY` before"
        )
    return key


def _reply(
    client: OpenAI, settings: ChatServer, chat: list[Message], options: dict[str, Any]
) -> Reply:
    """Return the model's reply without the key, or an empty one that says why it has no words."""
    try:
        response = client.chat.completions.with_raw_response.create(
            model=settings.model,
            messages=cast(list[ChatCompletionMessageParam], _sendable(chat)),
            extra_body=settings.extra,
            **options,
        )
        reply = read_reply(response.content)
    except (openai.OpenAIError, NoReplyError) as error:  # its text or request may hold the key
        said = _masked(_said_by(error), client, settings)
        if not _refuses_one(error):
            raise EndpointError(_advice(error, said[:_LONGEST_TOLD], settings)) from None
        reply = Reply("", reason=f"content filter: {said}")
    text, reason = (_masked(each, client, settings) for each in (reply.text, reply.reason))
    return replace(reply, text=text, reason=reason[:_LONGEST_TOLD])


def _sendable(chat: list[Message]) -> list[Message]:
    """Return a chat as all servers take it: in UTF-8, no message empty, roles in turn.

    The model's own words are cut, because some models write without end.
    """
    sent: list[Message] = []
    for message in chat:
        role, content = message["role"], well_formed(message["content"])
        content = content[:_LONGEST_SAID] if role == "assistant" else content
        if not content.strip():
            continue
        if sent and sent[-1]["role"] == role:
            content = f"{sent.pop()['content']}\n{content}"
        sent.append({"role": role, "content": content})
    return sent


def _said_by(error: Exception) -> str:
    """Return what the server says, or why it says nothing, in one line."""
    if isinstance(error, openai.APIStatusError):
        return f"{error.status_code}: {words_of(error.response.content)}"
    return in_one_line(str(error.__cause__ or error))


def _refuses_one(error: Exception) -> bool:
    """Return whether a filter of contents refused this one prompt."""
    statused = isinstance(error, openai.APIStatusError) and error.status_code in _FILTERING
    return statused and is_filtered(_said_by(error))


def _advice(error: Exception, said: str, settings: ChatServer) -> str:
    """Return what failed and what to do about it, in one sentence."""
    return next(words for kind, words in _ADVICE if isinstance(error, kind)).format(
        url=settings.base_url,
        model=settings.model,
        timeout=settings.timeout,
        key=settings.api_key_variable or "a request without a key",
        said=said,
    )


def _masked(text: str, client: OpenAI, settings: ChatServer) -> str:
    return text.replace(client.api_key, "***") if settings.api_key_variable else text


def _options(settings: ChatServer, seed: int, schema: Mapping[str, object]) -> dict[str, Any]:
    """Return the optional fields of the request that the settings ask for."""
    ((name, each),) = schema.items()
    strict = {"name": name, "strict": True, "schema": each}
    formats = {
        "json_object": {"type": "json_object"},
        "json_schema": {"type": "json_schema", "json_schema": strict},
    }
    wanted: dict[str, Any] = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "seed": seed if settings.send_seed else None,
        "response_format": formats.get(settings.response_format),  # text needs no words
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _bounded_client(timeout: float) -> httpx.Client:
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
