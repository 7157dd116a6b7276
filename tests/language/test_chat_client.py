"""A chat model behind an endpoint: the real client against a server on a real socket."""

from __future__ import annotations

import socket
import threading
import traceback
from typing import Any

import numpy as np
import pytest

from daedalus.designers.endpoint import EndpointSettings
from daedalus.language.chat_client import EndpointError, make_chat_replies
from daedalus.market.schema import mechanism_schema
from tests.designers.chat_double import VALID, Reply, Respond, always, serving

KEY, VARIABLE = "sk-very-secret-51423", "DAEDALUS_TEST_KEY"


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


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    wait = 0.8  # longer than the first wait of one's own choice, 0.5
    busy = Reply(status=429, body={"error": "busy"}, headers={"Retry-After": str(wait)})
    with serving(lambda count, _: Reply() if count else busy) as server:
        assert ask(server.settings(retries=1)) == [VALID]
    first, second = (request["time"] for request in server.requests)
    assert second - first >= wait


def test_a_failure_of_the_server_is_retried() -> None:
    with serving(lambda count, _: Reply(status=200 if count else 500)) as server:
        assert ask(server.settings(retries=1)) == [VALID]
    assert len(server.requests) == 2


def test_the_first_failure_for_good_stops_the_rest() -> None:
    with serving(always(status=500, body={"error": "out of memory"}, delay=0.02)) as server:
        with pytest.raises(EndpointError, match="out of memory"):
            ask(server.settings(concurrency=2), 50)
    assert len(server.requests) < 10


@pytest.mark.parametrize("kind", ["text", "json_object", "json_schema"])
def test_the_format_is_asked_for_as_the_setting_says(kind: str) -> None:
    with serving(always()) as server:
        ask(server.settings(response_format=kind))
    asked = server.requests[0]["body"].get("response_format")
    assert (
        asked == (None if kind == "text" else asked) and (asked or {"type": kind})["type"] == kind
    )
    if kind == "json_schema":
        assert asked["json_schema"]["strict"] is True
        assert asked["json_schema"]["schema"] == mechanism_schema()


def test_a_slow_server_is_given_up() -> None:
    message = failure(always(delay=0.5), timeout=0.1)
    assert "timeout" in message and "0.1 s" in message and "raise timeout" in message


def test_no_server_says_where_one_was_looked_for() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(EndpointError, match=f"no server at {url}.*refused.*start it"):
        ask(EndpointSettings(base_url=url, model="m", retries=0))


def test_an_unknown_model_is_answered_with_those_there_are() -> None:
    missing = always(status=404, body={"error": {"message": "no such model"}})
    message = failure(missing, model="nn")
    assert "'nn'" in message and "no such model" in message and "choose one of m, n" in message


def test_an_address_without_its_version_is_recognised() -> None:
    with serving(always(status=404, body={})) as server:
        settings = server.settings(base_url=server.url.removesuffix("/v1"))
        with pytest.raises(EndpointError, match="end in /v1"):
            ask(settings)


@pytest.mark.parametrize("body", [b"<html>hello</html>", {"error": "overloaded"}, b"{"])
def test_a_page_that_is_no_chat_is_not_an_answer(body: Any) -> None:
    kind = "text/html" if body == b"<html>hello</html>" else "application/json"
    assert "not with a chat" in failure(always(body=body, headers={"Content-Type": kind}))


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(EndpointError, match=f"export {VARIABLE}="):
        make_chat_replies(EndpointSettings(model="m", api_key_variable=VARIABLE))


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "refuses"), (429, "quota"), (400, "=null"), (403, "account"), (502, "log")],
)
def test_refusals_say_what_to_do_and_never_the_key(
    status: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    told = always(status=status, body={"error": {"message": f"will not do, {KEY}"}})
    with serving(told) as server, pytest.raises(EndpointError, match=advice) as caught:
        ask(server.settings(api_key_variable=VARIABLE))
    assert "will not do" in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))
