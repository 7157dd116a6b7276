"""What failed at a chat server, and what to do about it, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
import openai
from openai import OpenAI

from daedalus.design.language.chat_body import (
    SHOWN,
    NoReplyError,
    ReportedError,
    message_in,
    read_json,
)
from daedalus.design.language.chat_server import ChatServer
from daedalus.design.language.reply import in_one_line

_SHOWN_MODELS = 20
_RETRY_COUNT = "x-stainless-retry-count"  # the client's header: how many requests came before

_LEAVE_OUT = "temperature=null, max_tokens=null, send_seed=false or response_format=text"
_UNAUTHORISED = "api_key_variable: {url} refuses {key} ({said}); "
_ACCOUNT = f"{_UNAUTHORISED}use the key of an account that may use {{model}}"
_FAILED = "{url} failed in {attempts} ({said}); see the server's log"
_NO_CHAT = "base_url: {url} answers, but not with a chat ({said}); does it end in /v1?"
_REPORTED = "{url} answers with an error, not with a chat ({said}); see the server's log"
_REDIRECTED = (
    "base_url: {url} redirects, and there nobody takes chats ({said}); give the address behind it"
)
_NOT_ACCEPTED = (
    "{url} does not accept the request ({said}); leave out what it does not know with "
    f"{_LEAVE_OUT}"
)
_BUSY = (
    "concurrency: {url} was too busy in {attempts} ({said}); lower concurrency, raise retries, or "
    "see to the account's quota"
)
_BUSY_FOR_LONG = (
    "concurrency: {url} was too busy in {attempts} ({said}) and wants no further one soon{wait}; "
    "run the same command later, or see to the account's quota"
)
_BY_STATUS: Mapping[int, str] = {
    401: f"{_UNAUTHORISED}name the environment variable that holds a valid key",
    402: _ACCOUNT,
    403: _ACCOUNT,
    404: "model: {model!r} is not at {url} ({said}); {offered}",
    405: "base_url: {url} takes no chats ({said}); does it end in /v1?",
    408: _FAILED,
    409: _FAILED,
    413: "{url} finds the request too long ({said}); shorten what the prompt tells",
    429: _BUSY,
}
"""Advice by status. All from 500 up are failures; others say that the request is not accepted."""

_TIMEOUT = (
    "timeout: {url} took longer than {timeout} s in {attempts}; "
    "raise timeout, or lower concurrency or max_tokens"
)
_NO_SERVER = "base_url: no server at {url} in {attempts} ({said}); start it, or give its address"
_LED_NOWHERE = "base_url: {url} redirects to where no server is ({said}); give the right address"
_BROKEN = "base_url: {url} broke off in {attempts} ({said}); see the server's log"


def advice(
    error: openai.OpenAIError | NoReplyError, body: bytes, client: OpenAI, settings: ChatServer
) -> str:
    """Return what failed and what to do about it. Beside the body, it may hold the key.

    Args:
        error: What the client raised.
        body: Body of the response that failed, as far as it may be shown; empty if there is none.
        client: Who asked.
        settings: The server.
    """
    return _template(error, settings).format(
        url=settings.base_url,
        model=settings.model,
        timeout=settings.timeout,
        attempts=_in_words(_attempts(error, settings)),
        key=settings.api_key_variable or "a request without a key",
        said=_said(error, body),
        wait=_wait(error),
        offered=_offered(client) if isinstance(error, openai.NotFoundError) else "",
    )


def _template(error: Exception, settings: ChatServer) -> str:
    if isinstance(error, openai.APIStatusError):
        return _template_of_status(error, settings)
    if isinstance(error, openai.APITimeoutError):
        return _TIMEOUT
    if isinstance(error, openai.APIConnectionError):
        return _template_of_connection(error)
    if isinstance(error, ReportedError):
        return _REPORTED
    return _NO_CHAT if isinstance(error, NoReplyError) else _NOT_ACCEPTED


def _template_of_connection(error: openai.APIConnectionError) -> str:
    cause = error.__cause__
    if not isinstance(cause, httpx.ConnectError):
        return _BROKEN
    return _NO_SERVER if cause.request.url == error.request.url else _LED_NOWHERE


def _template_of_status(error: openai.APIStatusError, settings: ChatServer) -> str:
    status = error.status_code
    early = _attempts(error, settings) <= settings.retries
    if status == 429 and (early or (settings.retries == 0 and _wait(error))):
        return _BUSY_FOR_LONG
    moved = bool(error.response.history) and status in (404, 405)
    if moved or 300 <= status < 400:
        return _REDIRECTED
    return _BY_STATUS.get(status, _FAILED if status >= 500 else _NOT_ACCEPTED)


def _attempts(error: Exception, settings: ChatServer) -> int:
    """Return how many requests were made for the chat that failed."""
    if not isinstance(error, openai.APIError):
        return settings.retries + 1
    return int(error.request.headers.get(_RETRY_COUNT, settings.retries)) + 1


def _in_words(attempts: int) -> str:
    return f"{attempts} attempts" if attempts > 1 else "1 attempt"


def _wait(error: Exception) -> str:
    """Return what the server says of the time to wait, if it does."""
    if not isinstance(error, openai.APIStatusError):
        return ""
    told = error.response.headers.get("Retry-After")
    return f" (Retry-After: {in_one_line(told)[:SHOWN]})" if told else ""


def _said(error: Exception, body: bytes) -> str:
    """Return the server's message, or the reason why there is none."""
    if isinstance(error, openai.APIStatusError):
        words = message_in(read_json(body)) or in_one_line(body.decode(errors="replace"))
        return f"{error.status_code}: {words[:SHOWN]}"
    return in_one_line(str(error.__cause__ or error))[:SHOWN]


def _offered(client: OpenAI) -> str:
    """Return the models that the server lists."""
    try:
        listed = client.with_options(max_retries=0).models.with_raw_response.list().content
    except (openai.OpenAIError, NoReplyError):
        listed = b""
    names = _names(read_json(listed))
    if not names:
        return "it lists no models either: does base_url end in /v1?"
    return f"choose one of {', '.join(names[:_SHOWN_MODELS])}"


def _names(listed: object) -> list[str]:
    models = listed.get("data") if isinstance(listed, Mapping) else None
    named = (
        [each for each in models if isinstance(each, Mapping)] if isinstance(models, list) else []
    )
    return [in_one_line(each["id"])[:SHOWN] for each in named if isinstance(each.get("id"), str)]
