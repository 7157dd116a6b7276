"""What language models wrote: a sample of their answers, and counts of why some were refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pandas as pd

from daedalus.design.designers.language_model import Answer
from daedalus.design.env import Designer

ACCEPTED = "accepted"
WHOLE_EPISODES, MOST_WHOLE = 3, 60
"""Episodes of each designer whose answers are all kept, and how many answers at most."""
EACH_KIND = 5
"""Answers of each designer that are kept for each kind of refusal."""
LONGEST_TEXT = 4000
"""Most characters of a kept prompt or answer. Longer ones lose their middle."""
_LONGEST_REASON = 300  # characters of a reason on the console


class AnswerLog:
    """Keeps a bounded sample of answers in one population, and counts all of them.

    Attributes:
        sample: The kept answers, as they are written to ``answers.jsonl``.
    """

    def __init__(self, population: str) -> None:
        self.sample: list[dict[str, Any]] = []
        self._population = population
        self._counts: Counter[tuple[str, str]] = Counter()
        self._whole: Counter[str] = Counter()
        self._examples: dict[tuple[str, str], str] = {}

    def add(self, name: str, designer: Designer, step: int, episodes: Iterable[int]) -> None:
        """Note the answers of a designer's last proposal; most designers give none.

        Args:
            name: Name of the designer in tables.
            designer: The designer.
            step: Number of the step, from 1.
            episodes: Numbers of the episodes that it proposed for; a negative one has ended.
        """
        answers: list[Answer] = getattr(designer, "answers", [])
        for episode, answer in zip(episodes, answers, strict=False):
            if episode >= 0:
                self._note(name, step, episode, answer)

    def _note(self, name: str, step: int, episode: int, answer: Answer) -> None:
        kind = answer.parsed.kind or ACCEPTED
        self._counts[name, kind] += 1
        self._examples.setdefault((name, kind), answer.parsed.reason)
        whole = episode < WHOLE_EPISODES and self._whole[name] < MOST_WHOLE
        self._whole[name] += whole
        if whole or (kind != ACCEPTED and self._counts[name, kind] <= EACH_KIND):
            self.sample.append(
                {
                    "population": self._population,
                    "designer": name,
                    "episode": int(episode),
                    "step": int(step),
                    "accepted": answer.parsed.valid,
                    "reason": answer.parsed.reason or None,
                    "characters": len(answer.text),
                    "text": _cut(answer.text),
                    "prompt": _cut(answer.prompt),
                }
            )

    def counts(self) -> pd.DataFrame:
        """Return how many answers were accepted, and how many were refused for each kind of reason.

        Returns:
            ``population``, ``designer``, ``kind`` (``ACCEPTED``, or that of ``ParsedMechanism``),
            ``answers``, their ``share`` of the designer's answers, and the ``reason`` of the first.
            The kinds of a designer with most answers come first.
        """
        totals = Counter[str]()
        for (name, _), count in self._counts.items():
            totals[name] += count
        columns = ["population", "designer", "kind", "answers", "share", "reason"]
        order = list(totals)
        rows = [
            (self._population, name, kind, count, count / totals[name], self._examples[name, kind])
            for (name, kind), count in sorted(
                self._counts.items(), key=lambda each: (order.index(each[0][0]), -each[1])
            )
        ]
        return pd.DataFrame(rows, columns=columns)


def refusals(counts: pd.DataFrame) -> list[str]:
    """Return a sentence for each designer with refused answers: how many, and the main reason.

    Args:
        counts: The tables of ``AnswerLog.counts``, one below the other.
    """
    sentences = []
    for name, rows in counts.groupby("designer", sort=False):
        refused = rows[rows["kind"] != ACCEPTED]
        if refused.empty:
            continue
        by_kind = refused.groupby("kind")["answers"].sum()
        kind = str(by_kind.idxmax())
        reason = refused.loc[refused["kind"] == kind, "reason"].iloc[0]
        sentences.append(
            f"{name}: {by_kind.sum()} of {rows['answers'].sum()} answers were refused, "
            f"{by_kind[kind]} of them such as this: {reason[:_LONGEST_REASON]}"
        )
    return sentences


def _cut(text: str) -> str:
    """Return a text of bounded length that every reader of UTF-8 accepts."""
    text = text.encode(errors="backslashreplace").decode()
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    return f"{text[:half]} […{len(text) - 2 * half} characters…] {text[-half:]}"
