"""How close the predictions of an exported model are to those of the model that was trained."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from daedalus.design.language.prompt import Message
from daedalus.training.constrained import Constraint
from daedalus.training.generation import complete, generating
from daedalus.training.model import LanguageModel


def fidelity(
    trained: LanguageModel,
    exported: LanguageModel,
    chats: Sequence[list[Message]],
    tokens: int,
    constraint: Constraint | None = None,
) -> dict[str, float]:
    """Compare two models on the answers that the trained one gives at temperature 0.

    Args:
        trained: The model as it was trained, with its adapters.
        exported: The model as it was written, with merged adapters.
        chats: The prompts.
        tokens: Largest number of tokens of an answer that is not constrained.
        constraint: What the trained model may write; None is anything.

    Returns:
        The mean Kullback-Leibler ``divergence`` from the trained model's predictions to the
        exported model's, in nats per token; and the ``agreement``, the share of tokens for which
        both hold the same one most probable.
    """
    said = complete(trained, chats, 0.0, tokens, constraint)
    divergences, same = [], []
    for prompt, answer in zip(said.prompts, said.answers, strict=True):
        one, other = (_predictions(each.model, prompt, answer) for each in (trained, exported))
        divergences.append((one.exp() * (one - other)).sum(dim=1))
        same.append((one.argmax(dim=1) == other.argmax(dim=1)).float())
    divergence = max(0.0, float(torch.cat(divergences).mean()))
    return {"divergence": divergence, "agreement": float(torch.cat(same).mean())}


def _predictions(model: PreTrainedModel, prompt: list[int], answer: list[int]) -> torch.Tensor:
    """Return log-probabilities at each token of the answer, shape (length, vocabulary)."""
    with generating(model):
        tokens = torch.tensor([prompt + answer], device=model.device)
        logits: torch.Tensor = model(tokens).logits[0]
    return logits[len(prompt) - 1 : -1].float().log_softmax(dim=1).cpu()
