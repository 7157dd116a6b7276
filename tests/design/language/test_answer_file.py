"""Answers outlive their run, whatever happens to it."""

from __future__ import annotations

import gzip
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daedalus.checks import CannotRunError
from daedalus.design.language.answer_file import (
    AnswerFile,
    key_of,
    number_of_answers,
    recorded_answers,
)
from daedalus.design.language.reply import Reply

CHAT = [{"role": "user", "content": "Wie viel? …"}]
OPTIONS = {"temperature": 0.0}
ANSWER = Reply("[1, 2]", 30, 4)


def chat(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": str(number)}]


def test_answers_come_back_under_model_options_and_chat(tmp_path: Path) -> None:
    AnswerFile(tmp_path / "new" / "a.jsonl").add("m", OPTIONS, CHAT, ANSWER)
    found = AnswerFile(tmp_path / "new" / "a.jsonl")
    assert found.get(key_of("m", OPTIONS, CHAT)) == ANSWER
    others = [("n", OPTIONS, CHAT), ("m", {"temperature": 1.0}, CHAT), ("m", OPTIONS, chat(1))]
    assert all(found.get(key_of(*each)) is None for each in others)


@pytest.mark.parametrize("left", [1, 5, 60, -1])
def test_a_torn_line_costs_one_answer_alone(tmp_path: Path, left: int) -> None:
    path = tmp_path / "a.jsonl"
    first = AnswerFile(path)
    first.add("m", OPTIONS, chat(0), ANSWER)
    whole = path.read_bytes()
    first.add("m", OPTIONS, chat(1), ANSWER)
    torn = path.read_bytes()[len(whole) :][:left]
    path.write_bytes(whole + torn)
    AnswerFile(path).add("m", OPTIONS, chat(2), ANSWER)
    found = AnswerFile(path)
    known = [found.get(key_of("m", OPTIONS, chat(each))) is not None for each in range(3)]
    assert known == [True, left == -1, True]  # of -1 only the end of the line is missing
    path.write_bytes(torn)
    AnswerFile(path)  # a run that was killed during its first answer goes on


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "a.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: file.add("m", OPTIONS, chat(each), ANSWER), range(100)))
    assert len(recorded_answers(tmp_path / "a.jsonl")) == 100


def test_other_files_are_refused_and_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "bids.csv"
    path.write_text("auction,bid\n1,2\n")
    with pytest.raises(CannotRunError, match=r"bids\.csv: it holds no answers of models"):
        AnswerFile(path)
    assert path.read_text() == "auction,bid\n1,2\n"


def test_recordings_are_of_one_model(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    AnswerFile(path).add("m", OPTIONS, CHAT, ANSWER)
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert recorded_answers(packed) == recorded_answers(path) == {key_of("", {}, CHAT): ANSWER}
    AnswerFile(path).add("n", OPTIONS, CHAT, ANSWER)
    with pytest.raises(CannotRunError, match="answers of 2 models or options; keep those of one"):
        recorded_answers(path)
    packed.write_bytes(b"no gzip")
    with pytest.raises(CannotRunError, match="is not packed by gzip, or torn"):
        recorded_answers(packed)
    with pytest.raises(CannotRunError, match="does not exist; name a file of answers"):
        recorded_answers(tmp_path / "none.jsonl")


def line(**changes: Any) -> bytes:
    """Return a line of a file of answers, to the third chat, with some fields changed."""
    usual = {"key": key_of("m", OPTIONS, chat(2)), "model": "m", "options": OPTIONS}
    usual |= {"chat": chat(2), "text": "a", "prompt_tokens": 1, "completion_tokens": 1}
    return json.dumps(usual | changes).encode()


BAD = [
    line(text=None),
    line(prompt_tokens="12"),
    line(completion_tokens={}),
    line(key=["a"]),
    line(chat="a"),
    line(options=None),
    line(reason=1),
    line()[:40],
    line()[20:],
    line()[:40] + line(),
    line().replace(b'"text": "a"', b'"text": "\xff"'),
    b"\0" * 512,
    b"[" * 100_000,
    b'{"key": "a"}',
    b"null",
    b"NaN",
    b'"text"',
    b"<<<<<<< HEAD",
]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_that_cannot_be_read_is_named_and_asked_again(
    bad: bytes, place: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.jsonl"
    for number in range(2):
        AnswerFile(path).add("m", OPTIONS, chat(number), ANSWER)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:place], bad, *lines[place:]]))
    assert number_of_answers(path) == 2
    with caplog.at_level(logging.WARNING):
        file = AnswerFile(path)
    assert f"1 of 3 answers cannot be read, the first in line {place + 1};" in caplog.text
    assert [file.get(key_of("m", OPTIONS, chat(each))) for each in range(3)] == [ANSWER] * 2 + [
        None
    ]
    file.add("m", OPTIONS, chat(2), ANSWER)
    found = AnswerFile(path)
    assert [found.get(key_of("m", OPTIONS, chat(each))) for each in range(3)] == [ANSWER] * 3
    assert len(recorded_answers(path)) == 3


@pytest.mark.parametrize("bad", [line(text=[]), line()[:40], b"\0" * 512, b"", b"\n\n"])
def test_a_file_of_bad_lines_alone_goes_on(bad: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(bad)
    AnswerFile(path).add("m", OPTIONS, CHAT, ANSWER)
    assert AnswerFile(path).get(key_of("m", OPTIONS, CHAT)) == ANSWER


def test_an_editor_s_marks_do_not_matter(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.jsonl"
    AnswerFile(path).add("m", OPTIONS, CHAT, ANSWER)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    with caplog.at_level(logging.WARNING):
        assert AnswerFile(path).get(key_of("m", OPTIONS, CHAT)) == ANSWER
    assert number_of_answers(path) == 1 and not caplog.text


def test_a_surrogate_that_was_kept_is_read_as_what_can_be_sent(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line(text="half \ud83d"))
    assert AnswerFile(path).get(key_of("m", OPTIONS, chat(2))) == Reply("half \ufffd", 1, 1)


ANY_TEXT = st.text() | st.text(st.characters(categories=["Cs", "Cc", "Zl"]))


@given(ANY_TEXT, ANY_TEXT, st.integers(0, 2**53), st.text())
def test_what_is_kept_is_read_again_equal(
    tmp_path_factory: pytest.TempPathFactory, text: str, reason: str, tokens: int, asked: str
) -> None:
    path = tmp_path_factory.mktemp("kept") / "a.jsonl"
    reply, question = Reply(text, tokens, 0, reason), [{"role": "user", "content": asked}]
    AnswerFile(path).add("m", OPTIONS, question, reply)
    assert AnswerFile(path).get(key_of("m", OPTIONS, question)) == reply


@pytest.mark.parametrize("fields", [(None,), ([],), ("a", "1"), ("a", 1, None), ("a", True)])
def test_no_other_reply_can_be_made(fields: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        Reply(*fields)
