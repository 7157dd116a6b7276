"""Questions to a slow model: equal ones are asked once, and abandoned ones not at all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from daedalus.service.sessions.shared_answers import SharedAnswers

pytestmark = pytest.mark.anyio


class Slow:
    """Work that waits until it may answer, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = threading.Event()

    def work(self, question: str) -> Callable[[], str]:
        def answer() -> str:
            self.asked.append(question)
            self.may_answer.wait(10)
            return question.upper()

        return answer


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def answers() -> Iterator[SharedAnswers]:
    found: SharedAnswers[str] = SharedAnswers("test", places=2)
    yield found
    found.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.001)


async def test_equal_questions_share_one_answer_now_and_later(
    answers: SharedAnswers, slow: Slow
) -> None:
    asking = [asyncio.ensure_future(answers.ask("a", slow.work("a"), 5)) for _ in range(9)]
    await until(lambda: slow.asked == ["a"])
    assert answers.waiting == 1 and answers.has_place("b")
    slow.may_answer.set()
    assert {(await each).result() for each in asking} == {"A"}
    assert (await answers.ask("a", slow.work("a"), 5)).result() == "A"
    assert answers.waiting == 0 and slow.asked == ["a"]


async def test_a_place_belongs_to_a_question_and_not_to_an_asker(
    answers: SharedAnswers, slow: Slow
) -> None:
    asking = [asyncio.ensure_future(answers.ask(each, slow.work(each), 5)) for each in "ab"]
    await until(lambda: answers.waiting == 2)
    assert answers.has_place("a") and answers.has_place("b") and not answers.has_place("c")
    slow.may_answer.set()
    assert [(await each).result() for each in asking] == ["A", "B"]
    assert answers.has_place("c")


async def test_a_question_that_nobody_waits_for_gives_its_place_back(
    answers: SharedAnswers, slow: Slow
) -> None:
    first = asyncio.ensure_future(answers.ask("a", slow.work("a"), 5))
    await until(lambda: slow.asked == ["a"])
    left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    leaver = asyncio.ensure_future(answers.ask("b", slow.work("b"), 5, left))
    stayer = asyncio.ensure_future(answers.ask("b", slow.work("b"), 5))
    await until(lambda: answers.waiting == 2)
    left.set_result(None)
    assert not (await leaver).done() and answers.waiting == 2  # another one waits for it
    stayer.cancel()
    await asyncio.wait([stayer])
    assert answers.waiting == 1
    again = asyncio.ensure_future(answers.ask("b", slow.work("b"), 5))
    slow.may_answer.set()
    assert ((await first).result(), (await again).result()) == ("A", "B")
    assert slow.asked == ["a", "b"]


async def test_work_that_has_begun_keeps_its_place_until_its_end(
    answers: SharedAnswers, slow: Slow
) -> None:
    assert not (await answers.ask("a", slow.work("a"), 0.05)).done()
    assert answers.waiting == 1
    assert not (await answers.ask("b", slow.work("b"), 0.05)).done()
    assert answers.waiting == 1  # it had not begun
    slow.may_answer.set()
    await until(lambda: answers.waiting == 0)
    assert slow.asked == ["a"]


async def test_work_that_can_be_stopped_ends_with_its_last_asker(
    answers: SharedAnswers, slow: Slow
) -> None:
    left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    stop = slow.may_answer.set
    leaver, stayer = (
        asyncio.ensure_future(answers.ask("a", slow.work("a"), 5, each, stop))
        for each in (left, None)
    )
    await until(lambda: slow.asked == ["a"])
    left.set_result(None)
    assert not (await leaver).done() and not slow.may_answer.is_set()
    stayer.cancel()
    await asyncio.wait([stayer])
    assert slow.may_answer.is_set() and answers.waiting == 0
    assert (await answers.ask("a", slow.work("a"), 5, None, stop)).result() == "A"


async def test_a_failure_is_told_and_not_kept(
    answers: SharedAnswers, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> str:
        raise OSError("no such model")

    assert isinstance((await answers.ask("a", broken, 5)).exception(), OSError)
    assert (await answers.ask("a", lambda: "A", 5)).result() == "A"
    assert "an answer failed" in caplog.text


async def test_the_oldest_answers_are_forgotten(slow: Slow) -> None:
    slow.may_answer.set()
    answers: SharedAnswers[str] = SharedAnswers("test", places=2, capacity=2)
    for question in "abacab":
        await answers.ask(question, slow.work(question), 5)
    answers.close()
    assert answers.lookup("b") == "B" and answers.lookup("c") is None
    assert slow.asked == ["a", "b", "c", "b"]


async def test_a_visitor_claims_one_question_at_a_time(answers: SharedAnswers, slow: Slow) -> None:
    assert answers.claim("v", "a")
    asking = asyncio.ensure_future(answers.ask("a", slow.work("a"), 5))
    await until(lambda: slow.asked == ["a"])
    assert answers.claim("v", "a") and not answers.claim("v", "b") and answers.claim("w", "b")
    slow.may_answer.set()
    await asking
    assert answers.claim("v", "b")


async def test_a_question_that_has_its_answer_needs_no_claim(
    answers: SharedAnswers, slow: Slow
) -> None:
    await answers.ask("b", lambda: "B", 5)
    assert answers.claim("v", "a")
    asking = asyncio.ensure_future(answers.ask("a", slow.work("a"), 5))
    await until(lambda: slow.asked == ["a"])
    assert answers.claim("v", "b") and not answers.claim("v", "c")
    slow.may_answer.set()
    await asking
