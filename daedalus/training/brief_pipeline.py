"""Training from briefs: SFT on few answers, then GRPO on the rewards of many briefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from datasets import Dataset
from tqdm import tqdm

from daedalus.checks import CannotRunError
from daedalus.design.briefs.answers import (
    answer_text,
    reading_text,
    spellable,
    true_clauses,
    values_text,
)
from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.generator import shown_by
from daedalus.design.briefs.search import search
from daedalus.design.env import DesignEnv
from daedalus.market.mechanism import Mechanism
from daedalus.runs.phases import LESSONS, phase
from daedalus.runs.processes import handed_over, once
from daedalus.runs.workers import share_out
from daedalus.training.algorithms.grpo.trainer import train_grpo
from daedalus.training.algorithms.sft.practice import pairs_of
from daedalus.training.algorithms.sft.trainer import train_sft
from daedalus.training.backends import load_base
from daedalus.training.brief_model import brief_chat
from daedalus.training.brief_settings import BriefLessonSettings
from daedalus.training.checkpoints import export
from daedalus.training.model import LanguageModel
from daedalus.training.pipeline import copy_taught, first_model, first_weights
from daedalus.training.run import TrainingRun
from daedalus.training.sources.brief_source import brief_source


def train_from_briefs(
    run: TrainingRun,
    briefs: Sequence[Brief],
    lessons: BriefLessonSettings,
    envs: Mapping[str, DesignEnv],
) -> None:
    """Train and export, unless an interrupted run has done so; its parts are not done again.

    Args:
        run: The run.
        briefs: Briefs that train, with the meanings of their sentences.
        lessons: What SFT shows.
        envs: Markets by the names of their bidders.

    Raises:
        CannotRunError: There are fewer briefs than SFT shows, of so few wordings.
    """
    if handed_over(run.folder.model.exists()):
        return
    taught, at_once = run.folder.sft_model, lessons.at_once
    if not handed_over(taught.exists()):
        model = first_model(run)
        if run.settings.sft.steps:
            pairs = once(_pairs)(run, briefs, lessons, envs)
            model = train_sft(model, pairs, run.settings.sft, run)
        _export(model, run, first_weights(run), taught, at_once)
    grpo = run.settings.grpo
    if not grpo.steps:
        copy_taught(run)
        return
    source = brief_source(briefs[: grpo.states], envs, grpo, run.seed, at_once)
    model = train_grpo(load_base(run.model, taught), source, run)
    _export(model, run, taught, run.folder.model, at_once)


def _pairs(
    run: TrainingRun,
    briefs: Sequence[Brief],
    lessons: BriefLessonSettings,
    envs: Mapping[str, DesignEnv],
) -> Dataset:
    count = run.settings.sft.examples
    shown = [each for each in briefs if shown_by(each, lessons.wordings)]
    if len(shown) < count:
        few = lessons.wordings
        which = f"have no other wordings than the first {few}" if few else "train"
        raise CannotRunError(
            f"training.sft.examples: {count}; {len(shown)} briefs {which}, so give at most these"
        )
    shown = shown[:count]
    taught = shown if lessons.at_once else shown[: lessons.taught]
    return brief_lessons(shown, searched(taught, envs, run.seed), lessons.at_once)


@phase(LESSONS)
def brief_lessons(briefs: Sequence[Brief], answered: Sequence[Mechanism], at_once: bool) -> Dataset:
    """Return pairs of a prompt and an answer.

    Args:
        briefs: The briefs; each knows the meanings of its sentences.
        answered: The mechanisms of the first of them. The others have the first part of an answer
            alone, unless answers are given at once, which leaves them out.
        at_once: Whether answers are mechanisms alone.
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


@once
def _export(
    model: LanguageModel, run: TrainingRun, base: str | Path, folder: Path, at_once: bool
) -> None:
    export(model, run.settings.prompt, base, folder, run.model, True, at_once)
