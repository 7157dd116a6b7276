"""Lessons of briefs: what each sentence means, and the mechanism that a search finds for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from datasets import Dataset
from tqdm import tqdm

from daedalus.design.briefs.answers import (
    answer_text,
    reading_text,
    spellable,
    true_clauses,
    values_text,
)
from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.search import search
from daedalus.design.env import DesignEnv
from daedalus.market.mechanism import Mechanism
from daedalus.runs.phases import LESSONS, phase
from daedalus.runs.workers import share_out
from daedalus.training.algorithms.sft.practice import pairs_of
from daedalus.training.brief_model import brief_chat


@phase(LESSONS)
def brief_lessons(briefs: Sequence[Brief], answered: Sequence[Mechanism], at_once: bool) -> Dataset:
    """Return pairs of a prompt and an answer to briefs that know their sentences' meanings.

    The first of them have mechanisms. The others have the first part of an answer alone, unless
    answers are given ``at_once``, as mechanisms alone, which leaves them out.
    """
    texts = [
        values_text(each) if at_once else answer_text(true_clauses(brief), each)
        for brief, each in zip(briefs, answered, strict=False)
    ]
    if not at_once:
        texts += [reading_text(true_clauses(each)) for each in briefs[len(answered) :]]
    return pairs_of([brief_chat(each.text, at_once) for each in briefs[: len(texts)]], texts)


@phase(LESSONS)
def searched(briefs: Sequence[Brief], envs: Mapping[str, DesignEnv], seed: int) -> list[Mechanism]:
    """Return the mechanism that a search finds for the true parts of each brief, in hundredths.

    The search is another one than that of the benchmark's scale, which has seed 0.
    """
    shared = share_out(partial(_searched, dict(envs), seed), briefs, len(briefs))
    return list(tqdm(shared, "searching for lessons", len(briefs), unit="brief"))


def _searched(envs: dict[str, DesignEnv], seed: int, brief: Brief) -> Mechanism:
    found = search(brief.truth, envs[brief.population], seed + 1)
    return spellable(found, brief.truth.goal())
