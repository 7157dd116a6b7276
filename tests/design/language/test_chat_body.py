"""Bodies of responses: a reply, an empty one with its reason, or what the server says instead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from daedalus.design.language.chat_body import NoReplyError, is_filtered, read_reply
from daedalus.design.language.reply import Reply

TEXT = "[1, 2, 3, 4, 5]"


def body(choice: Any = None, **fields: Any) -> bytes:
    return json.dumps({"choices": [choice]} | fields).encode()


def saying(content: Any, finish_reason: Any = "stop", **message: Any) -> bytes:
    said = {"role": "assistant", "content": content} | message
    return body({"message": said, "finish_reason": finish_reason})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (TEXT, TEXT),
        ([{"type": "thinking", "thinking": "[5]"}, {"type": "text", "text": TEXT}], TEXT),
        ([{"type": "text", "text": TEXT[:5]}, {"type": "text", "text": TEXT[5:]}], TEXT),
        ([{"type": "image_url", "image_url": {}}, 3, None, [], {"text": "a"}, "b"], "ab"),
        ([{"type": "text", "text": 5}, {"type": ["text"], "text": "c"}, {"text": "a"}], "a"),
        ([{"type": "reasoning", "text": "[9]"}, {"type": "output_text", "text": "a"}], "a"),
        ("half \ud83d", "half \ufffd"),
        ("\ude00 half", "\ufffd half"),
        ([{"text": "\ud83d"}, {"text": "\ude00"}], "\U0001f600"),
        ("nul \0 bell \a", "nul \0 bell \a"),
    ],
)
def test_the_parts_of_text_are_the_reply(content: Any, text: str) -> None:
    assert read_reply(saying(content)) == Reply(text)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (saying(None), "empty: the answer has no text"),
        (saying(""), "empty"),
        (saying("  \n"), "empty"),
        (saying([]), "empty"),
        (saying({"text": TEXT}), "empty"),
        (saying([{"type": "thinking", "thinking": TEXT}]), "empty"),
        (saying(None, tool_calls=[{"id": "1"}]), "empty"),
        (saying(None, refusal="I can't \0\nhelp"), "declined: the model wrote \"I can't \ufffd h"),
        (saying([{"type": "refusal", "refusal": "No."}]), "empty"),
        (saying(None, reasoning_content=TEXT), "empty"),
        (saying(None, "length", reasoning=TEXT), "cut off: the answer ended before its first word"),
        (saying(None, "content_filter"), "content filter: the server held the answer back"),
        (saying("", "SAFETY"), "content filter: the server held the answer back (SAFETY)"),
        (body({"message": None}), "empty"),
        (body({"message": TEXT}), "empty"),
        (body({"message": None, "finish_reason": "content_filter"}), "content filter"),
        (body({"text": TEXT, "index": 0}), "empty"),
        (body(None), "empty"),
        (body([TEXT]), "empty"),
        (b'{"choices": []}', "empty"),
        (body(error={"code": "content_filter", "message": "The prompt."}), "content filter: "),
    ],
)
def test_what_has_no_words_is_an_empty_reply_with_its_reason(sent: bytes, reason: str) -> None:
    reply = read_reply(sent)
    assert reply.text == "" and reply.reason.startswith(reason)
    assert ": " in reply.reason and reply.reason.isprintable()


@pytest.mark.parametrize(
    "sent",
    [
        {"error": {"code": 502, "message": "Provider ill"}, "choices": None},
        {"error": ["overloaded"], "choices": []},
        {"choices": [{"error": {"message": "broke"}, "message": {"content": "a"}}]},
        {"choices": {"0": {"message": {"content": "a"}}}},
        {"object": "error", "message": "no such model", "code": 404},
        [{"error": {"message": "in a list"}}],
        {},
        None,
        "a string",
    ],
)
def test_json_that_is_no_chat_is_told_as_it_came(sent: Any) -> None:
    with pytest.raises(NoReplyError) as caught:
        read_reply(json.dumps(sent).encode())
    assert str(caught.value) == json.dumps(sent)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", "the body is empty"),
        (b"\xef\xbb\xbf \n", "the body is empty"),
        (b"<html>\n<b>Bad</b> \x00 \xff</html>", "<html> <b>Bad</b> \ufffd \ufffd</html>"),
        (b'{"choices": [{"mess', '{"choices": [{"mess'),
        (b'data: {"choices": []}\n\ndata: [DONE]\n', 'data: {"choices": []} data: [DONE]'),
        (b"[" * 100_000, "[" * 100_000),
        (b"9" * 10_000, "9" * 10_000),
        (b'{"error": "a\\/b\\u002b\\u00e9"}', '{"error": "a/b+\u00e9"}'),
    ],
)
def test_what_is_no_chat_is_told_in_one_line(sent: bytes, said: str) -> None:
    with pytest.raises(NoReplyError) as caught:
        read_reply(sent)
    assert str(caught.value) == said


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_body_is_read_in_its_encoding(encoding: str) -> None:
    sent = json.dumps({"choices": [{"message": {"content": "é😀"}}]}, ensure_ascii=False)
    assert read_reply(sent.encode(encoding)) == Reply("é😀")
    assert read_reply(saying("A").replace(b"A", b"caf\xe9 b")) == Reply("caf\ufffd b")


@pytest.mark.parametrize("told", [{"prompt_tokens": 3, "completion_tokens": "4"}, None, [], 7])
def test_tokens_count_if_they_are_whole_numbers(told: Any) -> None:
    sent = {"choices": [{"message": {"content": "a"}}], "usage": told}
    first = 3 if isinstance(told, dict) else 0
    assert read_reply(json.dumps(sent).encode()) == Reply("a", first, 0)
    for strange in (True, -1, 1.5, 10**300, float("nan"), {}):
        sent["usage"] = {"prompt_tokens": strange}
        assert read_reply(json.dumps(sent).encode()) == Reply("a")


@pytest.mark.parametrize(
    ("error", "filtered"),
    [
        ({"error": {"code": "content_filter", "message": "x", "innererror": {"code": "y"}}}, True),
        ({"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}, True),
        ({"error": {"code": "content_policy_violation"}}, True),
        ({"error": {"type": "content_filter", "message": "considered high risk"}}, True),
        ({"error": {"message": "Content Exists Risk", "code": "invalid_request_error"}}, True),
        ({"error": {"code": "data_inspection_failed"}}, True),
        ({"error": {"code": "1301"}, "contentFilter": [{"level": 0}]}, True),
        ({"error": {"code": 403, "message": 'Your input was flagged for "x".'}}, True),
        ({"code": "x", "error": "Content violates usage guidelines."}, True),
        ({"error": {"message": "Output blocked by content filtering policy"}}, True),
        (
            {"error": {"message": "Provider", "metadata": {"raw": '{"code":"content_filter"}'}}},
            True,
        ),
        ([{"error": {"status": "PROHIBITED_CONTENT"}}], True),
        ({"error": {"message": "Unknown field temperature", "code": "invalid_request"}}, False),
        ({"detail": [{"loc": ["body", "safety_settings"], "msg": "not permitted"}]}, False),
        ({"error": {"message": "context length exceeded", "param": "messages"}}, False),
        ({"error": {"message": "Your account breaks our usage policies."}}, False),
        ("content_filter", True),
        (None, False),
    ],
)
def test_refusals_of_filters_are_known_in_the_forms_of_their_providers(
    error: Any, filtered: bool
) -> None:
    assert is_filtered(json.dumps(error)) is filtered
