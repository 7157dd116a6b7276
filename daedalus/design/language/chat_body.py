"""The body of a chat server's response: a reply, a refused one, or what the server says instead."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from daedalus.design.language.reply import Reply, in_one_line

SHOWN = 300
"""Most characters of a server's words that a message quotes."""

_TEXT_PARTS = ("text", "output_text", None)
_JSON_TYPES = {dict: "an object", int: "a number", float: "a number", bool: "true or false"}
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_NESTED = ("error", "errors")
_WORDS = ("message", "detail", "msg", "error_msg", "error_message", "title", "reason")
_LABELS = ("code", "type", "status", "reason")
_DEEPEST = 8  # levels at which an error is searched
_STREAM = re.compile(r"\s*(data|event|id|retry)?:")

_FILTER_LABEL = re.compile(
    r"content[_ -]?(filter|policy|management|moderation|safety|violation|block)"
    r"|responsible_?ai|safety|moderation|flagged|sensitive_(content|word)|data_?inspection"
    r"|prohibited_?content|guardrail",
    re.IGNORECASE,
)
_FILTER_WORDS = re.compile(
    r"content[_ -]?(filter|policy|management|moderation)|content exists risk|high[ -]risk"
    r"|(inappropriate|unsafe|sensitive) content|(prompt|input|content|request) was flagged"
    r"|flagged (as|by|for) |safety (system|filter|check)|content violates|prohibited_content",
    re.IGNORECASE,
)
"""How providers say that a filter of contents refused, in codes and in words."""


class NoReplyError(ValueError):
    """A body holds no reply. The message says what it holds instead, in one line."""


class ReportedError(NoReplyError):
    """The server reports an error in place of a reply. The message is what it says."""


def read_reply(body: bytes) -> Reply:
    """Return the reply in the body of a response.

    Where a chat has no words, the reply is empty and gives a reason. It is never what a model
    thought, nor what it wanted to call.

    Raises:
        ReportedError: The body is an error of the server.
        NoReplyError: It is something else.
    """
    data = read_json(body)
    if not isinstance(data, Mapping):
        raise _no_reply(data, body)
    if said := _error_of(data):
        if is_filtered(data):
            return Reply("", reason=f"content filter: {said}")
        raise ReportedError(said)
    if "choices" not in data:
        raise _no_reply(data, body)
    text, reason = _first(data["choices"])
    usage = data.get("usage")
    told = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    return Reply(text, *told, reason)


def read_json(body: bytes) -> Any:
    """Return the JSON in a body, whatever its encoding; None if there is none."""
    try:
        return json.loads(body.decode(json.detect_encoding(body), "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def is_filtered(data: object) -> bool:
    """Return whether an error says that a filter of contents refused the prompt or the answer."""
    return any(map(_FILTER_LABEL.search, _labels(data))) or bool(
        _FILTER_WORDS.search(message_in(data))
    )


def message_in(data: object) -> str:
    """Return the server's words in an error, in one line of bounded length; empty if none."""
    return in_one_line(_words(data, _DEEPEST))[:SHOWN]


def _words(data: object, depth: int) -> str:
    if isinstance(data, list):
        data = data[0] if data else None
    if isinstance(data, str):
        return data
    if not depth or not isinstance(data, Mapping):
        return ""
    nested = (_words(data.get(name), depth - 1) for name in _NESTED)
    own = (
        _words(data[name], depth - 1)
        for name in _WORDS
        if isinstance(data.get(name), str | Mapping)  # a list tells where an input is wrong as well
    )
    words = next((each for each in (*nested, *own) if each.strip()), "")
    metadata = data.get("metadata")  # a broker passes on what its provider said
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return f"{words}: {raw}" if isinstance(raw, str) else words


def _labels(data: object, depth: int = _DEEPEST) -> list[str]:
    """Return the codes and types of an error, at any level of it."""
    if not depth or not isinstance(data, Mapping | list):
        return []
    if isinstance(data, list):
        return [label for each in data for label in _labels(each, depth - 1)]
    own = [str(data[name]) for name in _LABELS if isinstance(data.get(name), str)]
    own += [str(name) for name in data if "filter" in str(name).lower()]
    return own + [label for each in data.values() for label in _labels(each, depth - 1)]


def _error_of(data: Mapping[str, Any]) -> str:
    """Return the error that a body or a choice reports, in words; empty if it reports none."""
    error = data.get("error")
    if not error or (isinstance(error, Mapping) and not any(error.values())):
        return ""
    words = message_in(error) or "an error without words"
    code = error.get("code") if isinstance(error, Mapping) else None
    if not isinstance(code, str | int) or str(code) in words:
        return words
    return f"{in_one_line(str(code))[:SHOWN]}: {words}"


def _no_reply(data: object, body: bytes) -> NoReplyError:
    """Return the error of a body that is no chat."""
    said = message_in(data) if isinstance(data, Mapping | list) else ""
    return ReportedError(said) if said else NoReplyError(_begins(body))


def _begins(body: bytes) -> str:
    """Return how a body that is no chat begins."""
    text = body.decode(errors="replace")
    if not text.strip("\ufeff \t\r\n"):
        return "the body is empty"
    if _STREAM.match(text):
        return "it streams; leave stream out of extra"
    return f"it begins {in_one_line(text)[:SHOWN]!r}"


def _first(choices: object) -> tuple[str, str]:
    """Return the text of the first choice; if it has none, why."""
    if not isinstance(choices, list) or not choices:
        return "", "no choice: the server sent no choice of an answer"
    choice = choices[0] if isinstance(choices[0], Mapping) else {}
    if said := _error_of(choice):
        raise ReportedError(said)
    message = choice.get("message")
    if not isinstance(message, Mapping):
        legacy = ", but a text as /completions does" if isinstance(choice.get("text"), str) else ""
        return "", _held_back(choice) or f"no message: the choice has no message{legacy}"
    text = _text(message.get("content"))
    return (text, "") if text.strip() else ("", _held_back(choice) or _why_no_text(message, choice))


def _text(content: object) -> str:
    """Return a content's text, or that of its parts of text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(_text_of_part(part) for part in content)


def _text_of_part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("type") not in _TEXT_PARTS:
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _held_back(choice: Mapping[str, Any]) -> str:
    """Return that a filter held the answer back, if the choice says so."""
    said = choice.get("finish_reason")
    if not isinstance(said, str) or not _FILTER_LABEL.search(said):
        return ""
    return f"content filter: the server held the answer back ({in_one_line(said)[:SHOWN]})"


def _why_no_text(message: Mapping[str, Any], choice: Mapping[str, Any]) -> str:
    content = message.get("content")
    if declined := _declined(message, content):
        return f"declined: the model wrote {in_one_line(declined)[:SHOWN]!r}"
    if choice.get("finish_reason") == "length":
        return "cut off: the answer ended before its first word; raise max_tokens"
    if message.get("tool_calls") or message.get("function_call"):
        return "no text: the model called a tool instead"
    if isinstance(content, list) and content:
        return "no text: none of the answer's parts is a text"
    if content is not None and not isinstance(content, str | list):
        return f"no text: the answer's content is {_JSON_TYPES[type(content)]}"
    if any(message.get(name) for name in _THOUGHTS):
        return "no text: the model only reasoned; raise max_tokens"
    return "empty: the answer has no text"


def _declined(message: Mapping[str, Any], content: object) -> str:
    """Return the words with which a model declined, or nothing."""
    parts: Sequence[object] = content if isinstance(content, list) else []
    for each in (message, *parts):
        refusal = each.get("refusal") if isinstance(each, Mapping) else None
        if isinstance(refusal, str) and refusal.strip():
            return refusal
    return ""


def _tokens(usage: object, name: str) -> int:
    """Return a number of tokens; 0 if the server tells none that makes sense."""
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if type(count) is int and 0 <= count < 2**53 else 0
