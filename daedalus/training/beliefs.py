"""What a language model believes about a market: probabilities of values, and of its choices."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from daedalus.design.language.prompt import Message
from daedalus.market.mechanism import FIELDS
from daedalus.market.parsing import parse_mechanism
from daedalus.runs.folder import RunFolder
from daedalus.training.generation import Completions, complete, generating
from daedalus.training.log_probabilities import choice_log_probabilities
from daedalus.training.model import LanguageModel
from daedalus.training.weight_sources import resolved
from daedalus.training.writing import mechanism_constraint


def stages(run: RunFolder, pretrained: str, taught: bool) -> dict[str, str | Path]:
    """Return the models of a finished training run, from the first to the last.

    The embedded model without adapters has no copy from before SFT.

    Args:
        run: The folder of the run.
        pretrained: The pretrained model in its settings, or an empty text.
        taught: Whether it had steps of SFT.
    """
    first = resolved(pretrained) or run.base_model if taught else run.sft_model
    untrained = {"untrained": first} if Path(first).exists() else {}
    return untrained | ({"SFT": run.sft_model} if taught else {}) | {"GRPO": run.model}


def field_beliefs(
    language_model: LanguageModel, chat: list[Message], samples: int, seed: int
) -> pd.DataFrame:
    """Return how often each value of each field is among constrained answers at temperature 1.

    The table has a row for each value that was sampled: ``field``, ``value``, and its share,
    ``probability``.
    """
    constraint = mechanism_constraint(language_model)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        said = complete(language_model, [chat] * samples, 1.0, 1, constraint)
    mechanisms = [parse_mechanism(text).mechanism for text in said.texts]
    rows = pd.DataFrame([each.to_dict() for each in mechanisms if each])
    shares = {name: rows[name].value_counts(normalize=True).sort_index() for name in FIELDS}
    named = pd.concat(shares, names=["field", "value"]).rename("probability")
    return named.reset_index()


def likeliest(language_model: LanguageModel, chat: list[Message]) -> Completions:
    """Return the one constrained answer at temperature 0."""
    return complete(language_model, [chat], 0.0, 1, mechanism_constraint(language_model))


def choice_beliefs(language_model: LanguageModel, said: Completions) -> pd.DataFrame:
    """Return how likely a model finds each choice in an answer, given what stands before it.

    Args:
        language_model: The model that is asked.
        said: One constrained answer, perhaps of another model with the same tokenizer.

    Returns:
        A row for each choice, in order: its ``field``, the ``token`` that was chosen, its
        ``probability`` among the allowed ones, and the ``entropy`` of these in nats.
    """
    model, tokenizer = language_model.model, language_model.tokenizer
    constraint = mechanism_constraint(language_model)
    (prompt,), (answer,) = said.prompts, said.answers
    places = constraint.choices(answer).places
    whole = torch.tensor([prompt + answer], device=model.device)
    with generating(model):
        found = choice_log_probabilities(
            model, whole, torch.ones_like(whole), len(answer), constraint, temperature=1.0
        )
    logps, entropies = (each[0, places].cpu() for each in found)
    ends = [match.start() for match in re.finditer(r',"\w+":', str(tokenizer.decode(answer)))]
    starts = [len(str(tokenizer.decode(answer[:place]))) for place in places]
    return pd.DataFrame(
        {
            # The choice that ends a value belongs to its field, even if its token has the next key.
            "field": [FIELDS[number] for number in np.searchsorted(ends, starts)],
            "token": [tokenizer.decode([answer[place]]) for place in places],
            "probability": logps.exp(),
            "entropy": entropies,
        }
    )
