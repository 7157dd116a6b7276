"""Groups of completions that hold better answers than the model's own, where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase
from trl import GRPOTrainer

from daedalus.language.prompt import Message
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.defaults import end_of_answer
from daedalus.training.generation import complete
from daedalus.training.model import LanguageModel
from daedalus.training.sources.reward import SIBLING, MarketReward


class SiblingRollouts:
    """Lets the model answer, and adds the best answers that look-ahead finds.

    A model that is nearly sure answers alike, so its group has no spread and nothing to learn from.
    Siblings are the best of the model's own answers and of the portfolio, in other futures than
    those of the reward. A model that answered best already thus learns nothing from them. (Mixed
    groups: Yan et al. 2025; on-policy states with an expert's labels: Ross, Gordon & Bagnell 2011.)

    TRL's mean reward counts siblings. ``sibling_gain`` is what they earn above the model's answers.

    Args:
        reward: Plays mechanisms in futures of the states.
        chats: The prompt of each state.
        portfolio: Mechanisms to choose from beside the model's own.
        settings: Sizes of a group, and how answers are sampled.
    """

    def __init__(
        self,
        reward: MarketReward,
        chats: Sequence[list[Message]],
        portfolio: Mechanisms,
        settings: ReinforcementSettings,
    ) -> None:
        self._reward = reward
        self._chats = chats
        self._portfolio = [portfolio[row] for row in range(len(portfolio))]
        self._settings = settings

    def __call__(self, chats: Sequence[list[Message]], trainer: GRPOTrainer) -> dict[str, Any]:
        """Return the tokens of each group, as TRL's ``rollout_func``.

        Args:
            chats: The chats of ``numbered_prompts``, one for each completion, group by group.
            trainer: Trainer of the model that answers.
        """
        settings = self._settings
        own = settings.group_size - settings.siblings
        states = [int(chat[-1]["content"]) for chat in chats[:: settings.group_size]]
        tokenizer = trainer.processing_class
        assert isinstance(tokenizer, PreTrainedTokenizerBase)
        model = LanguageModel(trainer.accelerator.unwrap_model(trainer.model), tokenizer)
        asked = [self._chats[state] for state in states for _ in range(own)]
        told = complete(model, asked, settings.temperature, settings.max_completion_tokens)
        groups = [slice(own * g, own * (g + 1)) for g in range(len(states))]
        best = self._best(states, [told.texts[group] for group in groups], trainer)
        prompts, answers = [], []
        for group, siblings in zip(groups, best, strict=True):
            prompts += [told.prompts[group.start]] * settings.group_size
            answers += told.answers[group]
            answers += [answer_tokens(tokenizer, each) for each in siblings]
        flags = ([False] * own + [True] * settings.siblings) * len(states)
        return {
            "prompt_ids": prompts, "completion_ids": answers, "logprobs": None, SIBLING: flags,
        }  # fmt: skip

    def _best(
        self, states: Sequence[int], texts: Sequence[Sequence[str]], trainer: GRPOTrainer
    ) -> list[list[Mechanism]]:
        """Return the best answers of each state, the best first."""
        choices = [[*_valid(group), *self._portfolio] for group in texts]
        step, count = trainer.state.global_step, self._settings.siblings
        worth = self._reward.compare(choices, states, step)
        return [
            [group[index] for index in (-each).argsort(kind="stable")[:count]]
            for group, each in zip(choices, worth, strict=True)
        ]


def answer_tokens(tokenizer: PreTrainedTokenizerBase, mechanism: Mechanism) -> list[int]:
    """Return the tokens of an answer as the model writes it, with the token that ends it."""
    text = format_mechanism(mechanism)
    return [*tokenizer(text, add_special_tokens=False).input_ids, end_of_answer(tokenizer)]


def _valid(texts: Sequence[str]) -> list[Mechanism]:
    """Return the different mechanisms that are written in the texts, in order."""
    parsed = [parse_mechanism(text) for text in dict.fromkeys(texts)]
    return [each.mechanism for each in parsed if each.mechanism is not None]
