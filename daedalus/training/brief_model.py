"""A language model that answers briefs, as designers ask it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from tqdm import tqdm

from daedalus.training.brief_writing import BriefWriting, brief_chat
from daedalus.training.generation import complete
from daedalus.training.model import LanguageModel, load_language_model
from daedalus.training.trained_prompt import answers_at_once
from daedalus.training.weight_sources import resolved

_BATCH = 16


class BriefAnswers:
    """Asks a model about briefs. Its answers are constrained.

    Args:
        language_model: The model.
        temperature: Sampling temperature; 0 decodes greedily.
        at_once: Whether it sets the mechanism without saying what it has read.
    """

    def __init__(self, language_model: LanguageModel, temperature: float, at_once: bool) -> None:
        self._language_model, self._temperature = language_model, temperature
        self._writing = BriefWriting(language_model, at_once)
        self.at_once = at_once

    def __call__(self, briefs: Sequence[str], rng: np.random.Generator) -> list[str]:
        """Return an answer to each brief, see ``daedalus.design.briefs.answers``."""
        chats = [brief_chat(each, self.at_once) for each in briefs]
        found: list[str] = []
        starts = range(0, len(chats), _BATCH)
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**63)))
            for start in tqdm(starts, "answering briefs", unit="batch", disable=len(starts) < 2):
                part = chats[start : start + _BATCH]
                allow = self._writing.allow
                found += complete(self._language_model, part, self._temperature, 1, allow).texts
        return found


def load_brief_model(checkpoint: str, temperature: float, at_once: bool | None) -> BriefAnswers:
    """Load a model that answers briefs; for the arguments see ``BriefModelSettings``.

    Raises:
        CannotRunError: The weights cannot be had.
        ValueError: The model was trained to answer otherwise.
    """
    folder = resolved(checkpoint)
    trained = answers_at_once(folder)
    if None not in (trained, at_once) and trained != at_once:
        raise ValueError(f"at_once: {checkpoint} was trained with {trained}; leave it out")
    chosen = bool(at_once if trained is None else trained)
    return BriefAnswers(load_language_model(folder), temperature, chosen)
