"""Reinforcement learning: group-relative policy optimisation through TRL."""

from __future__ import annotations

from pathlib import Path

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
from daedalus.training.reward import MarketReward
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
    player: Designer = Wanderer(rules)
    if settings.own_states:
        tokens = settings.max_completion_tokens
        generate = make_generate(language_model, settings.temperature, tokens)
        player = LanguageModelDesigner(generate, prompt)
    states = mid_episode_states(env, settings.states, seed, PHASE, settings.horizon, player)
    reward = MarketReward(states, stack, settings.futures, settings.horizon, seed)
    trainer = GRPOTrainer(
        model=language_model.model,
        reward_funcs=[reward.as_reward_function(settings.group_size)],
        args=grpo_config(settings, folder, seed),
        train_dataset=state_prompts(states, prompt),
        processing_class=language_model.tokenizer,
        peft_config=lora_config(lora),
    )
    model = run_phase(trainer, PHASE, tracker, folder)
    return LanguageModel(model, language_model.tokenizer)


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
