"""Answers outlive their run, whatever happens to it."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daedalus.bidders.answers import AnswerFile, key_of, recorded_answers
from daedalus.checks import CannotRunError
from daedalus.language.reply import Reply

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
    with pytest.raises(CannotRunError, match=r"bids\.csv: it holds no answers of bidders"):
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
