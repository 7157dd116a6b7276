"""A chat model behind an endpoint: the real client against a server on a real socket."""

from __future__ import annotations

import json
import socket
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daedalus.design.designers.endpoint import EndpointSettings
from daedalus.design.language import chat_client
from daedalus.design.language.answer_file import AnswerFile
from daedalus.design.language.chat_client import EndpointError, make_chat_ask, make_chat_replies
from daedalus.design.language.reply import Reply as Said
from daedalus.market.allowed import Between
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism_schema import mechanism_schema
from tests.design.designers.chat_double import VALID, Reply, Respond, always, serving

KEY, VARIABLE = "sk-very-secret/51423", "DAEDALUS_TEST_KEY"
KEPT = "No answer is kept; the designer's setting cache=FILE keeps them"


def chats(count: int) -> list[list[dict[str, str]]]:
    return [[{"role": "user", "content": str(number)}] for number in range(count)]


def ask(settings: EndpointSettings, count: int = 1) -> list[str]:
    replies = make_chat_replies(settings)(chats(count), np.random.default_rng(0))
    return [each.text for each in replies]


def failure(respond: Respond, **changes: Any) -> str:
    with serving(respond) as server, pytest.raises(EndpointError) as caught:
        ask(server.settings(**changes))
    return str(caught.value)


def test_the_request_is_a_chat_completion_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    with serving(always()) as server:
        settings = server.settings(
            api_key_variable=VARIABLE, temperature=0.5, max_tokens=99, extra={"top_p": 0.9}
        )
        assert ask(settings) == [VALID]
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    assert request["headers"]["content-type"] == "application/json"
    seed = request["body"].pop("seed")
    assert 0 <= seed < 2**31
    assert request["body"] == {
        "model": "m",
        "messages": chats(1)[0],
        "temperature": 0.5,
        "max_tokens": 99,
        "top_p": 0.9,
    }


def test_what_a_server_does_not_know_can_be_left_out() -> None:
    with serving(always()) as server:
        ask(server.settings(temperature=None, max_tokens=None, send_seed=False))
    assert set(server.requests[0]["body"]) == {"model", "messages"}


def test_the_key_of_another_service_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(always()) as server:
        ask(server.settings())
    assert KEY not in str(server.requests[0]["headers"])


def test_seeds_depend_on_the_generator_alone_and_differ_between_chats() -> None:
    with serving(always()) as server:
        for _ in range(2):
            ask(server.settings(concurrency=1), 3)
    seeds = [request["body"]["seed"] for request in server.requests]
    assert seeds[:3] == seeds[3:] and len(set(seeds)) == 3


def test_chats_are_sent_side_by_side_and_answers_keep_their_order() -> None:
    four = threading.Barrier(4, timeout=60)  # the server answers once four chats have arrived

    def echo(_: int, body: dict[str, Any]) -> Reply:
        four.wait()
        number = body["messages"][0]["content"]
        return Reply(number, delay=0.0 if int(number) % 2 else 0.03)

    with serving(echo) as server:
        settings = server.settings(concurrency=4)
        assert ask(settings, 12) == [str(number) for number in range(12)]
    assert server.most_at_once == 4
    assert len(server.requests) == 12


@pytest.mark.slow
def test_a_busy_server_is_asked_again_when_it_says() -> None:
    wait = 0.8  # longer than the first wait of one's own choice, 0.5
    busy = Reply(status=429, body={"error": "busy"}, headers={"Retry-After": str(wait)})
    with serving(lambda count, _: Reply() if count else busy) as server:
        assert ask(server.settings(retries=1)) == [VALID]
    first, second = (request["time"] for request in server.requests)
    assert second - first >= wait


@pytest.mark.slow
def test_the_first_failure_for_good_stops_the_rest() -> None:
    def fail(count: int, _: dict[str, Any]) -> Reply:
        """Hold each worker, after the first failures, for long enough that it is stopped."""
        return Reply(status=500, body={"error": "out of memory"}, delay=1.0 if count > 1 else 0.0)

    with serving(fail) as server:
        with pytest.raises(EndpointError, match="out of memory"):
            ask(server.settings(concurrency=2), 50)
    assert len(server.requests) < 10


STRICT = {"name": "mechanism", "strict": True, "schema": mechanism_schema()}


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("text", None),
        ("json_object", {"type": "json_object"}),
        ("json_schema", {"type": "json_schema", "json_schema": STRICT}),
    ],
)
def test_the_format_is_asked_for_as_the_setting_says(kind: str, asked: object) -> None:
    with serving(always()) as server:
        ask(server.settings(response_format=kind))
    assert server.requests[0]["body"].get("response_format") == asked


def test_the_schema_is_that_of_what_the_goal_of_each_chat_allows() -> None:
    goal = Goal(allowed={"auction_type": ("vcg",), "reserve_price": Between(0.1, 0.3)})
    with serving(always()) as server:
        settings = server.settings(response_format="json_schema", concurrency=1)
        make_chat_replies(settings)(chats(2), np.random.default_rng(0), [goal, ANYTHING])
    asked = [each["body"]["response_format"]["json_schema"]["schema"] for each in server.requests]
    assert asked == [mechanism_schema(goal.allowed), mechanism_schema()]
    assert asked[0]["properties"]["auction_type"]["enum"] == ["vcg"]


def test_a_slow_server_is_given_up() -> None:
    message = failure(always(delay=0.5), timeout=0.1)
    assert "timeout" in message and "0.1 s" in message and "raise timeout" in message


def test_no_server_says_where_one_was_looked_for() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(EndpointError, match=f"no server at {url}.*refused.*start it"):
        ask(EndpointSettings(base_url=url, model="m", retries=0))


def test_an_unknown_model_is_answered_with_where_they_are_listed() -> None:
    missing = always(status=404, body={"error": {"message": "no such model"}})
    message = failure(missing, model="nn")
    assert "'nn'" in message and "no such model" in message and "/v1/models lists" in message


def test_an_address_without_its_version_is_recognised() -> None:
    with serving(always(status=404, body={})) as server:
        settings = server.settings(base_url=server.url.removesuffix("/v1"))
        with pytest.raises(EndpointError, match="end in /v1"):
            ask(settings)


def test_a_page_that_is_no_chat_is_not_an_answer() -> None:
    page = always(body=b"<html>hello</html>", headers={"Content-Type": "text/html"})
    assert "not with a chat" in failure(page)


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(EndpointError, match=f"export {VARIABLE}="):
        make_chat_replies(EndpointSettings(model="m", api_key_variable=VARIABLE))


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "=null"), (401, "refuses"), (402, "=null"), (403, "refuses"), (405, "=null"),
        (408, "=null"), (409, "=null"), (413, "=null"), (418, "=null"),
        (429, "quota"), (502, "log"), (503, "failed"), (529, "failed"),
    ],
)  # fmt: skip
def test_refusals_say_what_to_do_and_never_the_key(
    status: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    told = always(status=status, body={"error": {"message": f"will not do, {KEY}"}})
    with serving(told) as server, pytest.raises(EndpointError, match=advice) as caught:
        ask(server.settings(api_key_variable=VARIABLE))
    assert "will not do" in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


FILTERED = {
    "error": {
        "code": "content_filter",
        "message": "The response was filtered.",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
}


def one_reply(respond: Respond, **changes: Any) -> Said:
    with serving(respond) as server:
        return make_chat_ask(server.settings(**changes), {"m": {}})(chats(1)[0], 1)


@pytest.mark.parametrize("status", [200, 400, 403, 422, 451])
def test_a_filtered_prompt_is_one_refused_answer_of_many(status: int) -> None:
    def third_is_filtered(_: int, body: dict[str, Any]) -> Reply:
        filtered = body["messages"][0]["content"] == "2"
        return Reply(status=status, body=FILTERED) if filtered else Reply()

    with serving(third_is_filtered) as server:
        assert ask(server.settings(), 5) == [VALID, VALID, "", VALID, VALID]
    reason = one_reply(always(status=status, body=FILTERED)).reason
    assert reason.startswith("content filter: ") and "The response was filtered." in reason


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_other_statuses_end_the_run_whatever_they_speak_of(status: int) -> None:
    assert "The response was filtered" in failure(always(status=status, body=FILTERED))


def test_the_words_of_a_provider_are_shown_in_one_line_before_the_advice() -> None:
    error = {"error": {"code": 502, "message": "Provider\n\x1b[31m ill"}, "choices": None}
    message = failure(always(body=error))
    assert f"answers, but not with a chat ({json.dumps(error)})" in message
    long = failure(always(status=404, body=b"<p>no</p>" * 1000))
    assert len(long) < 600 and long.endswith("does base_url end in /v1?. " + KEPT)
    message = failure(always(status=400, body=b"<html>\n<b>Bad</b> \x00 \xff</html>"))
    assert "(400: <html> <b>Bad</b> \ufffd \ufffd</html>)" in message


@pytest.mark.parametrize("wait", ["3600", "1e400", "Fri, 31 Dec 9999 23:59:59 GMT"])
@pytest.mark.parametrize("retries", [0, 2])
def test_a_long_wait_ends_the_run(wait: str, retries: int) -> None:
    busy = always(status=429, body={"error": "busy"}, headers={"Retry-After": wait})
    with serving(busy) as server, pytest.raises(EndpointError) as caught:
        ask(server.settings(retries=retries))
    assert len(server.requests) == 1
    assert "too busy (429:" in str(caught.value)


@pytest.mark.slow
def test_a_wait_that_makes_no_sense_is_the_client_s_own() -> None:
    busy = always(status=429, body={"error": "busy"}, headers={"Retry-After": "é"})
    with serving(busy) as server, pytest.raises(EndpointError, match=r"too busy .*raise retries"):
        ask(server.settings(retries=1))
    assert len(server.requests) == 2


@pytest.mark.slow
def test_redirects_are_followed_to_a_chat_or_told() -> None:
    with serving(always()) as there:
        to = {"Location": f"{there.url}/chat/completions"}
        assert one_reply(always(status=307, body={}, headers=to)).text == VALID
        assert "(501: " in failure(always(status=302, body={}, headers=to))
    assert "(304: " in failure(always(status=304, body=b""))
    for location in ("/v1/chat/completions", "ftp://x"):
        message = failure(always(status=307, body={}, headers={"Location": location}))
        assert "no server at" in message
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        to = {"Location": f"http://127.0.0.1:{free.getsockname()[1]}/v1"}
    assert "no server at" in failure(always(status=307, body={}, headers=to))


@pytest.mark.slow
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"hello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_a_response_that_breaks_off_is_a_sentence(raw: bytes) -> None:
    with serving(always(raw=raw)) as server, pytest.raises(EndpointError) as caught:
        ask(server.settings(retries=1))
    assert "no server at" in str(caught.value) and len(server.requests) == 2


def test_strange_encodings_of_a_response_are_read() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=nonsense\r\n\r\n"
    assert one_reply(always(raw=head + Reply().payload())).text == VALID
    plain = {"Content-Type": "text/html; charset=latin-1"}
    assert one_reply(always(text="é", headers=plain)).text == "é"
    assert one_reply(always(text="half \ud83d")).text == "half \ufffd"


def test_a_response_that_trickles_for_ever_is_given_up() -> None:
    since = time.monotonic()
    message = failure(always(pause=0.05), timeout=0.3)
    assert "took longer than 0.3 s" in message
    assert time.monotonic() - since < 5


def test_a_response_that_fills_the_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_client, "MOST_BYTES", 2**20)
    assert "longer than 1 MiB" in failure(always(text="x" * 2**21))


def test_messages_are_sent_as_all_servers_take_them() -> None:
    said = [("system", "s\ud83d"), ("user", "q"), ("assistant", " "), ("user", "again")]
    chat = [{"role": role, "content": content} for role, content in said]
    with serving(always()) as server:
        make_chat_ask(server.settings(), {"m": {}})(chat, 1)
        chat[2]["content"] = "x" * 10**5
        make_chat_ask(server.settings(), {"m": {}})(chat, 1)
    first, second = (request["body"]["messages"] for request in server.requests)
    assert first == [
        {"role": "system", "content": "s\ufffd"},
        {"role": "user", "content": "q\nagain"},
    ]
    assert [len(each["content"]) for each in second] == [2, 1, 4000, 5]


def test_keys_are_trimmed_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f" {KEY}\n")
    with serving(always(text=f"the key is {KEY}")) as server:
        assert ask(server.settings(api_key_variable=VARIABLE)) == ["the key is ***"]
    assert server.requests[0]["headers"]["authorization"] == f"Bearer {KEY}"
    escaped = b'{"error": "' + KEY.replace("/", r"\/").encode() + b'"}'
    for told in ({"error": {"message": "x" * 265 + KEY}}, b"y" * 285 + KEY.encode(), escaped):
        message = failure(always(status=400, body=told), api_key_variable=VARIABLE)
        assert "y" * 285 in message or "x" * 265 in message or "***" in message
        assert KEY[:6] not in message
    for strange in (f"{KEY}\nsecond", f"{KEY}é"):
        monkeypatch.setenv(VARIABLE, strange)
        with pytest.raises(EndpointError, match=f"{VARIABLE} holds characters") as caught:
            make_chat_replies(EndpointSettings(model="m", api_key_variable=VARIABLE))
        assert KEY not in str(caught.value)


NAMES = ["error", "choices", "message", "content", "text", "type", "usage", "refusal", "code"]
NAMES += ["finish_reason", "prompt_tokens", "metadata", "raw", "errors", "detail", "reason"]
TEXTS = st.text() | st.text(st.characters(categories=["Cs", "Cc", "L"])) | st.sampled_from(NAMES)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=20,
)
CHATS = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"message": VALUES}) | VALUES, max_size=2)},
    optional={"error": VALUES, "usage": VALUES},
)
CONTENTS = st.fixed_dictionaries({"content": VALUES}, optional={"refusal": VALUES})
MESSAGES = CONTENTS.map(lambda message: {"choices": [{"message": message}]})
BODIES = (VALUES | CHATS | MESSAGES).map(lambda each: json.dumps(each).encode()) | st.binary()


@pytest.mark.slow
def test_any_body_with_any_status_is_a_reply_or_the_one_error() -> None:
    now: dict[str, Any] = {}
    with serving(lambda *_: Reply(**now)) as server:
        asking = make_chat_ask(server.settings(), {"m": {}})

        @given(BODIES, st.sampled_from([200, 200, 201, 400, 401, 403, 404, 429, 500]))
        @settings(deadline=None, max_examples=100)
        def sends(body: bytes, status: int) -> None:
            now.update(body=body, status=status)
            try:
                reply = asking(chats(1)[0], 1)
            except EndpointError as error:
                assert str(error).isprintable()
                return
            assert Said(**json.loads(json.dumps(vars(reply)))) == reply
            assert bool(reply.text) != bool(reply.reason)
            reply.text.encode()

        sends()


def test_answers_before_a_failure_are_kept_and_asked_for_once(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    fails = {2}

    def respond(count: int, _: dict[str, Any]) -> Reply:
        return Reply(status=401, body={}) if count in fails else Reply(f"answer {count}")

    with serving(respond) as server:
        settings = server.settings(concurrency=1)
        with pytest.raises(EndpointError, match=f"The answers so far are in {path}"):
            make_chat_replies(settings, AnswerFile(path))(chats(4), np.random.default_rng(0))
        before = len(server.requests)
        fails.clear()
        again = make_chat_replies(settings, AnswerFile(path))(chats(4), np.random.default_rng(0))
        assert len(server.requests) < before + 3  # the first two at least are not asked for again
        assert [each.text for each in again[:2]] == ["answer 0", "answer 1"]
        other = make_chat_replies(settings, AnswerFile(path))(chats(1), np.random.default_rng(1))
        assert other[0].text not in {each.text for each in again}  # another seed
        with pytest.raises(
            EndpointError, match="No answer is kept; the designer's setting cache=FILE"
        ):
            fails.update(range(100))
            make_chat_replies(settings)(chats(1), np.random.default_rng(0))
