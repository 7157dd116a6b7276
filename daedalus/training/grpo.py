"""Reinforcement learning: group-relative policy optimisation through TRL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers import set_seed
from trl import GRPOConfig, GRPOTrainer

from daedalus.designers.base import Designer
from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.planning.states import Wanderer, mid_episode_states
from daedalus.rewards.stack import RewardStack
from daedalus.tracking import Tracker
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.reward import MarketReward, return_reward
from daedalus.training.rollouts import EpisodeRollouts, episode_prompts
from daedalus.training.settings import GrpoSettings, LoraSettings
from daedalus.training.signals import hide_small_progress_bars
from daedalus.training.trainers import lora_config, run_phase, shared_options

PHASE = "grpo"


def state_prompts(states: DesignEnv, prompt: PromptSettings) -> Dataset:
    """Return one row for each state: its prompt and, in column ``state``, its number."""
    chats = prompts(states.observe(), prompt)
    return Dataset.from_dict({"prompt": chats, "state": list(range(len(chats)))})


def train_grpo(
    language_model: LanguageModel,
    env: DesignEnv,
    stack: RewardStack,
    prompt: PromptSettings,
    settings: GrpoSettings,
    lora: LoraSettings,
    tracker: Tracker,
    folder: Path,
    seed: int,
    rules: Mechanisms | None = None,
) -> LanguageModel:
    """Train on rewards from forked markets, going on from the last checkpoint if there is one.

    Unless the model leads to its own states, they were played under ``rules``, see ``Wanderer``.
    """
    hide_small_progress_bars()
    set_seed(seed)  # adapters are drawn before the trainer sets its own
    source = (
        episode_source(env, prompt, settings, seed)
        if settings.rollouts == "episode"
        else state_source(language_model, env, stack, prompt, settings, seed, rules)
    )
    trainer = GRPOTrainer(
        model=language_model.model,
        args=grpo_config(settings, folder, seed),
        processing_class=language_model.tokenizer,
        peft_config=lora_config(lora),
        **source,
    )
    model = run_phase(trainer, PHASE, tracker, folder)
    return LanguageModel(model, language_model.tokenizer)


def state_source(
    language_model: LanguageModel,
    env: DesignEnv,
    stack: RewardStack,
    prompt: PromptSettings,
    settings: GrpoSettings,
    seed: int,
    rules: Mechanisms | None,
) -> dict[str, Any]:
    """Return the trainer's data and reward: prompts of market states, scored in their futures."""
    player: Designer = Wanderer(rules)
    if settings.own_states:
        tokens = settings.max_completion_tokens
        generate = make_generate(language_model, settings.temperature, tokens)
        player = LanguageModelDesigner(generate, prompt)
    states = mid_episode_states(env, settings.states, seed, PHASE, settings.horizon, player)
    reward = MarketReward(states, stack, settings.futures, settings.horizon, seed)
    return {
        "train_dataset": state_prompts(states, prompt),
        "reward_funcs": [reward.as_reward_function(settings.group_size)],
    }


def episode_source(
    env: DesignEnv, prompt: PromptSettings, settings: GrpoSettings, seed: int
) -> dict[str, Any]:
    """Return the trainer's data, rollouts and reward: whole episodes and what they return."""
    tokens = settings.max_completion_tokens
    return {
        "train_dataset": episode_prompts(settings.states),
        "rollout_func": EpisodeRollouts(env, prompt, settings.temperature, tokens, seed),
        "reward_funcs": [return_reward(settings.group_size)],
    }


def grpo_config(settings: GrpoSettings, folder: Path, seed: int) -> GRPOConfig:
    """Translate our settings into TRL's."""
    completions = settings.prompts_per_step * settings.group_size
    return GRPOConfig(
        **shared_options(folder, seed, settings.save_every),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.micro_batch,
        gradient_accumulation_steps=completions // settings.micro_batch,
        num_generations=settings.group_size,
        num_iterations=settings.iterations,
        max_completion_length=settings.max_completion_tokens,
        temperature=settings.temperature,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warmup_steps,
        max_grad_norm=settings.max_gradient_norm,
        beta=settings.beta,
        entropy_coef=settings.entropy_bonus,
        scale_rewards=settings.scale_rewards,
    )
