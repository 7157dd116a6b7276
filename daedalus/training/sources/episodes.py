"""Whole episodes that the model plays in training. It learns from one decision of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase
from trl import GRPOTrainer

from daedalus.env import DesignEnv, Episodes
from daedalus.language.prompt import Message, PromptSettings, prompts
from daedalus.market.mechanism import Mechanisms
from daedalus.market.parsing import ParsedMechanism, parse_mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.constrained import Constraint
from daedalus.training.generation import Completions, complete
from daedalus.training.model import LanguageModel
from daedalus.training.run import TrainingRun
from daedalus.training.sources.reward import return_reward
from daedalus.training.sources.source import Source, numbered_prompts
from daedalus.training.trl_internals import constraint_of

RETURNS = "returns"
"""Key of the returns, which a rollout passes to the reward function beside the tokens."""


@dataclass(frozen=True)
class EpisodeRollouts:
    """Plays an episode for each completion that GRPO asks for.

    The episodes of a group have the same draws and differ by the model's decisions. The model
    learns from one step of each episode, which is drawn for each group. The reward of that step is
    the mean reward from there to the end (the reward to go of REINFORCE, Williams 1992). Learning
    from all steps would take ten times as long.

    Attributes:
        env: Environment of the episodes, and the reward of outcomes and texts.
        prompt: Contents of the prompt at each step.
        settings: Sampling temperature, and the largest number of tokens of an answer.
        seed: Seed of the markets and of the choice of steps.
    """

    env: DesignEnv
    prompt: PromptSettings
    settings: ReinforcementSettings
    seed: int

    def __call__(self, chats: Sequence[list[Message]], trainer: GRPOTrainer) -> dict[str, Any]:
        """Return the tokens of the decisions to learn from, as TRL's ``rollout_func``.

        Args:
            chats: The chats of ``numbered_prompts``, one for each completion.
            trainer: Trainer of the model that plays.
        """
        numbers = [int(chat[-1]["content"]) for chat in chats]
        tokenizer = trainer.processing_class
        assert isinstance(tokenizer, PreTrainedTokenizerBase)
        model = LanguageModel(trainer.accelerator.unwrap_model(trainer.model), tokenizer)
        turns, rewards = self._play(model, numbers, constraint_of(trainer))
        length = self.env.settings.episode_length
        chosen = [int(generator(self.seed, f"turns/{each}").integers(length)) for each in numbers]
        rows = range(len(numbers))
        return {
            "prompt_ids": [
                turns[step].prompts[row] for row, step in zip(rows, chosen, strict=True)
            ],
            "completion_ids": [
                turns[step].answers[row] for row, step in zip(rows, chosen, strict=True)
            ],
            "logprobs": None,
            RETURNS: [
                float(rewards[step:, row].mean()) for row, step in zip(rows, chosen, strict=True)
            ],
        }

    def _play(
        self, model: LanguageModel, numbers: Sequence[int], constraint: Constraint | None
    ) -> tuple[list[Completions], NDArray[np.float64]]:
        """Return the tokens of each step, and rewards of shape (steps, episodes)."""
        seeds = np.concatenate([market_seeds(self.seed, "rollouts", 1, each) for each in numbers])
        episodes = self.env.reset(seeds)
        turns, rewards = [], []
        settings, tokens = self.settings, self.settings.max_completion_tokens
        for _ in range(self.env.settings.episode_length):
            chats = prompts(episodes.observe(), self.prompt)
            turns.append(complete(model, chats, settings.temperature, tokens, constraint))
            rewards.append(_step(episodes, [parse_mechanism(text) for text in turns[-1].texts]))
        return turns, np.stack(rewards)


def _step(episodes: Episodes, parsed: Sequence[ParsedMechanism]) -> NDArray[np.float64]:
    """Play a step and return its rewards, shape (B,); 0 in episodes that had ended."""
    result = episodes.step(Mechanisms.stack([each.mechanism for each in parsed]))
    valid = np.array([each.valid for each in parsed])
    terms = result.stack.terms(parsed, result.scored.rows(valid))
    return np.where(result.running, result.stack.total(terms), 0.0)


def episode_source(run: TrainingRun, settings: ReinforcementSettings) -> Source:
    """Return episodes that the model plays, with rewards from their later steps."""
    rollouts = EpisodeRollouts(run.env, run.settings.prompt, settings, run.seed)
    return Source(numbered_prompts(settings.states), return_reward(settings.group_size), rollouts)
