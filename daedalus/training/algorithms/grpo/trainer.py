"""GRPO, group-relative policy optimisation, through TRL."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

from transformers import set_seed
from trl import GRPOConfig, GRPOTrainer

from daedalus.runs.phases import GRPO, phase
from daedalus.runs.tracking import Tracker
from daedalus.training.backends import Backend, repeatable_attention
from daedalus.training.defaults import neutral_generation
from daedalus.training.hardware import backward_passes
from daedalus.training.model import LanguageModel
from daedalus.training.settings import GrpoSettings
from daedalus.training.signals import hide_small_progress_bars
from daedalus.training.sources.states import Source
from daedalus.training.trainers import run_phase, shared_options

PHASE = "grpo"


@phase(GRPO)
def train_grpo(
    language_model: LanguageModel,
    source: Source,
    settings: GrpoSettings,
    backend: Backend,
    tracker: Tracker,
    folder: Path,
    seed: int,
) -> LanguageModel:
    """Train on a source, from the last checkpoint below ``folder`` if there is one."""
    hide_small_progress_bars()
    set_seed(seed)  # adapters are drawn before the trainer sets its seed
    adapted, adapters = backend.adapt(language_model, seed)
    neutral_generation(adapted.model, adapted.tokenizer)
    trainer = GRPOTrainer(
        model=adapted.model,
        reward_funcs=cast(Any, [source.reward]),  # TRL's type wants rewards that may be None
        args=grpo_config(settings, folder, seed),
        train_dataset=source.prompts,
        processing_class=adapted.tokenizer,
        peft_config=adapters,
        rollout_func=cast(Any, source.rollouts),  # TRL passes chats, its type says texts
    )
    _wrap_generation(trainer)
    model = run_phase(trainer, PHASE, tracker, folder)
    return LanguageModel(model, adapted.tokenizer)


def _wrap_generation(trainer: GRPOTrainer) -> None:
    """Sample the same completions on any number of threads, and log the seconds that this takes.

    TRL logs those of a whole step.
    """
    generate = trainer._generate

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        with repeatable_attention():
            completions = generate(*arguments, **options)
        trainer._metrics["train"]["generation_seconds"].append(time.perf_counter() - began)
        return completions

    vars(trainer)["_generate"] = timed


def grpo_config(settings: GrpoSettings, folder: Path, seed: int) -> GRPOConfig:
    """Return TRL's settings for ours."""
    passes, at_once = backward_passes(settings)
    batches = -(-settings.save_every // settings.iterations)  # a checkpoint does not hold one
    return GRPOConfig(
        **shared_options(folder, seed, batches * settings.iterations),
        max_steps=settings.steps,
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=passes,
        num_generations=settings.group_size,
        num_iterations=settings.iterations,
        max_completion_length=settings.max_completion_tokens,
        temperature=settings.temperature,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warmup_steps,
        max_grad_norm=settings.max_gradient_norm,
        loss_type=settings.loss_type,
        epsilon=settings.epsilon,
        epsilon_high=settings.epsilon if settings.epsilon_high is None else settings.epsilon_high,
        importance_sampling_level=settings.importance_sampling_level,
        mask_truncated_completions=settings.mask_truncated_completions,
        beta=settings.beta,
        use_bias_correction_kl=settings.use_bias_correction_kl,
        entropy_coef=settings.entropy_bonus,
        scale_rewards=settings.scale_rewards,
        use_vllm=bool(settings.vllm_server),
        vllm_mode="server",
        vllm_server_base_url=settings.vllm_server or None,
    )
