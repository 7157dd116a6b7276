"""Bodies in JSON: the refusal of a body that cannot be read names the place."""

from __future__ import annotations

import pytest

BROKEN: dict[str, tuple[bytes, str]] = {
    "a second comma": (b'{"seed": 1,\n "n_agents": 8,,}', "key must be a string at line 2 column"),
    "cut": (b'{"seed": 1', "EOF while parsing an object at line 1 column 10"),
    "more than one": (b'{"seed": 1} x', "trailing characters at line 1 column 13"),
    "a long number": (b'{"seed": ' + b"9" * 5000 + b"}", "number out of range at line 1 column"),
    "too deep": (b'{"seed":\n' + b"[" * 9000, "recursion limit exceeded at line 2 column 20"),
    "no text": (b'{"seed": "\xff"}', "invalid unicode code point at line 1 column 11"),
}


@pytest.mark.parametrize("path", ["/reset", "/step", "/api/design", "/mcp"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_cannot_be_read_gets_the_reason_and_the_place(reach, path, name) -> None:
    body, reason = BROKEN[name]
    answer = reach().post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    (problem,) = answer.json()["detail"]
    assert problem["field"] == "body" and problem["value"] is None
    assert problem["allowed"].startswith(f"give valid JSON: {reason}")


def test_every_form_of_unicode_is_read_as_before(reach) -> None:
    client, header = reach(), {"Content-Type": "application/json; charset=utf-16"}
    answer = client.post("/reset", content='{"seed": 1}'.encode("utf-16"), headers=header)
    assert answer.status_code == 200 and answer.json()["info"]["seed"] == 1
