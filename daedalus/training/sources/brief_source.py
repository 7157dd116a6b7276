"""Briefs as prompts, with rewards for mechanisms: rules kept, and the objective where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

from daedalus.design.briefs.answers import clauses_in, mechanism_in
from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.generator import label
from daedalus.design.briefs.scoring import mean_terms
from daedalus.design.briefs.search import worth
from daedalus.design.env import DesignEnv
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.brief_model import BriefWriting, brief_chat
from daedalus.training.model import LanguageModel
from daedalus.training.sources.make_source import Source
from daedalus.training.sources.market_reward import RewardFunction, Scores
from daedalus.training.writing import Writing

_PURPOSE = "briefs/training"


@dataclass(frozen=True)
class BriefReward:
    """Scores answers to briefs.

    An answer whose mechanism keeps the rules of fields earns 1 and the brief's objective, less a
    price for falling short of floors or keeping too small a margin (``worth``), at least 1 in all.
    One that breaks a rule earns 0. All answers of a step meet the same futures, and each step
    has its own. They are others than those of tests.

    Attributes:
        briefs: The briefs, by the number in the column ``state``.
        envs: Markets by the names of their bidders.
        futures: Whole episodes in which each mechanism is played.
        seed: Seed of the run.
        at_once: Whether answers are mechanisms alone.
    """

    briefs: Sequence[Brief]
    envs: Mapping[str, DesignEnv]
    futures: int
    seed: int
    at_once: bool

    def score(self, texts: Sequence[str], rows: Sequence[int], training_step: int) -> Scores:
        """Return the rewards, the rules kept, and the sentences read; see ``Scorer``."""
        briefs = [self.briefs[row] for row in rows]
        mechanisms = [mechanism_in(each) for each in texts]
        kept = np.array([a.goal.admits(b) for a, b in zip(briefs, mechanisms, strict=True)])
        objectives = self._objectives(briefs, mechanisms, training_step)
        terms = {"rules_kept": kept.astype(float)}
        if not self.at_once:
            terms["sentences_read"] = _read(texts, briefs)
        return np.where(kept, 1.0 + objectives, 0.0), terms

    def _objectives(
        self, briefs: Sequence[Brief], mechanisms: Sequence[Mechanism], step: int
    ) -> NDArray[np.float64]:
        """Return the objective of each mechanism under its brief, shape (B,), at least 0."""
        found = np.zeros(len(briefs))
        for population in dict.fromkeys(each.population for each in briefs):
            rows = [row for row, each in enumerate(briefs) if each.population == population]
            played = Mechanisms.stack([mechanisms[row] for row in rows])
            purpose = f"{_PURPOSE}/{step}"
            terms = mean_terms(self.envs[population], played, self.futures, self.seed, purpose)
            for row, each in zip(rows, terms, strict=True):
                found[row] = worth(each[None], briefs[row].reward, briefs[row].floors)[0]
        return np.maximum(found, 0.0)


def _read(texts: Sequence[str], briefs: Sequence[Brief]) -> NDArray[np.float64]:
    """Return for each sentence of all briefs 1 if its meaning is said right, else 0."""
    right = [
        label(clause) == true
        for text, brief in zip(texts, briefs, strict=True)
        for clause, true in zip(clauses_in(text, brief.text), brief.clauses, strict=True)
    ]
    return np.array(right, dtype=float)


def brief_source(
    briefs: Sequence[Brief],
    envs: Mapping[str, DesignEnv],
    settings: ReinforcementSettings,
    seed: int,
    at_once: bool,
) -> Source:
    """Return briefs as prompts, with the rewards and the writing of ``BriefReward``'s answers."""
    scorer = BriefReward(briefs, envs, settings.futures, seed, at_once)
    reward = RewardFunction(scorer, settings.group_size, settings.neighbours_of_group)
    chats = [brief_chat(each.text, at_once) for each in briefs]
    rows = {"prompt": chats, "state": list(range(len(briefs)))}
    return Source(Dataset.from_dict(rows), reward, partial(_writing, at_once))


def _writing(at_once: bool, language_model: LanguageModel) -> Writing:
    writing = BriefWriting(language_model, at_once)
    return Writing(writing.allow, writing.change)
