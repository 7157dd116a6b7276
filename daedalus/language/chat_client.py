"""Client of an OpenAI-compatible server: one chat at a time, or many as a ``generate`` function."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import openai
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
from tqdm import tqdm

from daedalus.checks import CannotRunError
from daedalus.language.chat_server import ChatServer
from daedalus.language.prompt import Generate, Message
from daedalus.language.reply import Ask, Reply
from daedalus.market.schema import mechanism_schema

_NO_KEY = "none"  # the client requires a key; servers without keys ignore it
_PATIENCE = 5.0  # seconds before a progress bar is shown
_SHOWN_MODELS = 20
_SHOWN_WORDS = 300  # characters of the server's message about a failure

_LEAVE_OUT = "temperature=null, max_tokens=null, send_seed=false or response_format=text"
_ADVICE: dict[type[openai.OpenAIError], str] = {
    openai.APITimeoutError: "timeout: {url} took longer than {timeout} s in each of {attempts}; "
    "raise timeout, or lower concurrency or max_tokens",
    openai.APIConnectionError: "base_url: no server at {url} in {attempts} ({said}); "
    "start it, or give its address",
    openai.NotFoundError: "model: {model!r} is not at {url} ({said}); {offered}",
    openai.AuthenticationError: "api_key_variable: {url} refuses {key} ({said}); "
    "name the environment variable that holds a valid key",
    openai.PermissionDeniedError: "api_key_variable: {url} refuses {key} ({said}); "
    "use the key of an account that may use {model}",
    openai.RateLimitError: "concurrency: {url} was too busy in {attempts} ({said}); "
    "lower concurrency, raise retries, or see to the account's quota",
    openai.InternalServerError: "{url} failed in {attempts} ({said}); see the server's log",
    openai.OpenAIError: "{url} does not accept the request ({said}); leave out what it does not "
    f"know with {_LEAVE_OUT}",
}
"""Advice for each kind of failure. The first kind that fits is used."""


class EndpointError(CannotRunError):
    """The endpoint gave no answer. The message says what to change."""


def make_chat_generate(settings: ChatServer) -> Generate:
    """Return a function from chats to completions, which come in the same order.

    It asks ``concurrency`` chats at a time. It returns answers as they are: the designer judges
    them.

    Raises:
        EndpointError: The key is missing. The returned function raises it too: if the server
            cannot be reached, is too slow, refuses, has no such model, or fails in all attempts.
    """
    ask = make_chat_ask(settings, {"mechanism": mechanism_schema()})

    def generate(chats: Sequence[list[Message]], rng: np.random.Generator) -> list[str]:
        seeds = rng.integers(2**31, size=len(chats)).tolist()
        with ThreadPoolExecutor(settings.concurrency) as pool:
            answers = pool.map(ask, chats, seeds)
            progress = tqdm(
                answers, "asking", len(chats), leave=False, delay=_PATIENCE, disable=None
            )
            return [answer.text for answer in progress]

    return generate


def make_chat_ask(settings: ChatServer, schema: Mapping[str, object]) -> Ask:
    """Return a function that asks the server for one reply. Threads may share it.

    Args:
        settings: The server.
        schema: The JSON schema under its name that ``response_format: json_schema`` asks for.

    Raises:
        EndpointError: See ``make_chat_generate``.
    """
    client = OpenAI(
        base_url=settings.base_url,
        api_key=_api_key(settings),
        timeout=settings.timeout,
        max_retries=settings.retries,
    )
    formats = _formats(schema)

    def ask(chat: list[Message], seed: int) -> Reply:
        options = _options(settings, seed, formats.get(settings.response_format))
        return _reply(client, settings, chat, options)

    return ask


def _api_key(settings: ChatServer) -> str:
    name = settings.api_key_variable
    if name and not os.environ.get(name):
        raise EndpointError(f"api_key_variable: {name} is not set; run `export {name}=KEY` before")
    return os.environ[name] if name else _NO_KEY


def _reply(
    client: OpenAI, settings: ChatServer, chat: list[Message], options: dict[str, Any]
) -> Reply:
    """Return the model's reply without the key. It is empty if the model declined to answer."""
    try:
        answer = client.chat.completions.create(
            model=settings.model,
            messages=cast(list[ChatCompletionMessageParam], chat),
            extra_body=settings.extra,
            **options,
        )
    except openai.OpenAIError as error:  # its text or request may hold the key
        raise EndpointError(_advice(error, client, settings)) from None
    except json.JSONDecodeError:
        answer = None
    if not isinstance(answer, ChatCompletion) or not answer.choices:
        raise EndpointError(
            f"base_url: {settings.base_url} answers, but not with a chat; does it end in /v1?"
        )
    text = answer.choices[0].message.content or ""
    text = text.replace(client.api_key, "***") if settings.api_key_variable else text
    told = answer.usage
    if told is None:
        return Reply(text)
    return Reply(text, told.prompt_tokens or 0, told.completion_tokens or 0)


def _options(
    settings: ChatServer, seed: int, response_format: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the optional fields of the request that the settings ask for."""
    wanted: dict[str, Any] = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "seed": seed if settings.send_seed else None,
        "response_format": response_format,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _formats(schema: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Return what requests say for each format but ``text``, which needs no words."""
    ((name, each),) = schema.items()
    strict = {"name": name, "strict": True, "schema": each}
    return {
        "json_object": {"type": "json_object"},
        "json_schema": {"type": "json_schema", "json_schema": strict},
    }


def _advice(error: openai.OpenAIError, client: OpenAI, settings: ChatServer) -> str:
    """Return what failed and what to do about it, without the key."""
    advice = next(text for kind, text in _ADVICE.items() if isinstance(error, kind))
    return advice.format(
        url=settings.base_url,
        model=settings.model,
        timeout=settings.timeout,
        attempts=f"{settings.retries + 1} attempts",
        key=settings.api_key_variable or "a request without a key",
        said=_said(error).replace(client.api_key, "***"),
        offered=_offered(client) if isinstance(error, openai.NotFoundError) else "",
    )


def _said(error: openai.OpenAIError) -> str:
    """Return the server's message, or the reason why there is none."""
    if isinstance(error, openai.APIStatusError):
        return f"{error.status_code}: {error.response.text[:_SHOWN_WORDS]}"
    return str(error.__cause__ or error)


def _offered(client: OpenAI) -> str:
    """Return the models that the server lists."""
    try:
        names = [model.id for model in client.models.list()]
    except openai.OpenAIError:
        return "it lists no models either: does base_url end in /v1?"
    return f"choose one of {', '.join(names[:_SHOWN_MODELS])}"
