"""The body of a chat server's response: a reply, or an empty one with its reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from daedalus.design.language.reply import Reply, in_one_line

_TEXT_PARTS = ("text", "output_text", None)
_FILTER = re.compile(
    r"content[_ -]?(filter|policy|management|moderation)|responsible_?ai|data_?inspection"
    r"|content exists risk|high[ -]risk|content violates|prohibited_?content"
    r"|(inappropriate|unsafe|sensitive)[_ ]content|sensitive_word|guardrail"
    r"|was flagged|flagged (as|by|for) |(code|type|status|reason)\W{1,4}safety\b|^safety$",
    re.IGNORECASE,
)
"""How providers say that a filter of contents refused, in codes and in words."""


class NoReplyError(ValueError):
    """A body holds no reply. The message is what it holds instead, in one line."""


def read_reply(body: bytes) -> Reply:
    """Return the reply in the body of a response.

    Where a chat has no words, the reply is empty and gives a reason. It is never what a model
    thought, nor what it wanted to call.

    Raises:
        NoReplyError: The body is no chat, or an error of the server.
    """
    data = _mapping(_parsed(body))
    choices = data.get("choices")
    choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = _mapping(choice.get("message"))
    text = _text(message.get("content"))
    usage = _mapping(data.get("usage"))
    tokens = _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")
    if not isinstance(choices, list) or data.get("error") or choice.get("error"):
        return _filtered(body)
    if text.strip():
        return Reply(text, *tokens)
    return Reply("", *tokens, _why_no_text(message.get("refusal"), choice.get("finish_reason")))


def words_of(body: bytes) -> str:
    """Return the words of a body in one line, in which JSON escapes no character that it need not.

    So a key in it can be found.
    """
    text = body.decode("utf-8-sig", "replace")
    with suppress(ValueError, RecursionError):
        text = json.dumps(json.loads(text), ensure_ascii=False)
    return in_one_line(text)


def is_filtered(said: str) -> bool:
    """Return whether a server says that a filter of contents refused the prompt or the answer."""
    return bool(_FILTER.search(said))


def _parsed(body: bytes) -> Any:
    """Return the JSON in a body; None if there is none."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def _mapping(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _filtered(body: bytes) -> Reply:
    """Return an empty reply if a filter refused.

    Raises:
        NoReplyError: None did.
    """
    said = words_of(body)
    if not is_filtered(said):
        raise NoReplyError(said or "the body is empty")
    return Reply("", reason=f"content filter: {said}")


def _text(content: object) -> str:
    """Return a content's text, or that of its parts of text."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [{"text": each} if isinstance(each, str) else _mapping(each) for each in content]
    texts = (each.get("text") for each in parts if each.get("type") in _TEXT_PARTS)
    return "".join(each for each in texts if isinstance(each, str))


def _why_no_text(refusal: object, ending: object) -> str:
    if isinstance(refusal, str) and refusal.strip():
        return f"declined: the model wrote {in_one_line(refusal)!r}"
    if ending == "length":
        return "cut off: the answer ended before its first word; raise max_tokens"
    if is_filtered(str(ending)):
        return f"content filter: the server held the answer back ({in_one_line(str(ending))})"
    return "empty: the answer has no text"


def _tokens(usage: Mapping[str, Any], name: str) -> int:
    """Return a number of tokens; 0 if the server tells none that makes sense."""
    count = usage.get(name)
    return count if type(count) is int and 0 <= count < 2**53 else 0
