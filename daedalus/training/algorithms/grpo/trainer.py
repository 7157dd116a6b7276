"""GRPO, group-relative policy optimisation, through TRL.

One step: TRL draws prompts of the source (``make_source``), and ``ConstrainedTrainer`` answers each
with a group, neighbours of sampled answers first (``with_neighbours``). The reward of the source
plays each answer in forks of its prompt's state (``MarketReward.score``). TRL makes advantages of
the rewards, and for the losses ``target`` and ``boltzmann`` those of ``targeted_advantages``
replace them (``replace_advantages``, which asks the model once more, without gradient). TRL weighs
the answers' log-probabilities (``choice_log_probabilities``) by the advantages and updates the
model. Without ``constrained`` it samples and computes them by itself, too.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, cast

from trl import GRPOConfig, GRPOTrainer

from daedalus.design.search.space import GRID
from daedalus.runs.phases import GRPO, phase
from daedalus.training.algorithms.grpo.advantages import targeted_advantages
from daedalus.training.algorithms.grpo.constrained_trainer import ConstrainedTrainer, one_field
from daedalus.training.algorithms.grpo.settings import TARGETED_LOSSES, GrpoSettings
from daedalus.training.constrained import by_prompt
from daedalus.training.defaults import neutral_generation
from daedalus.training.hardware import backward_passes
from daedalus.training.model import LanguageModel
from daedalus.training.run import TrainingRun
from daedalus.training.sources.make_source import Source, make_source
from daedalus.training.trainers import prepared, run_phase, shared_options
from daedalus.training.trl_internals import replace_advantages, wrap_generation
from daedalus.training.writing import Writing, mechanism_constraint

PHASE = "grpo"


def train(language_model: LanguageModel, run: TrainingRun) -> LanguageModel:
    """Train on the prompts and rewards of the run."""
    return train_grpo(language_model, make_source(language_model, run, PHASE), run)


@phase(GRPO)
def train_grpo(language_model: LanguageModel, source: Source, run: TrainingRun) -> LanguageModel:
    """Train on a source, from the last checkpoint of the run if there is one."""
    adapted, adapters = prepared(language_model, run)
    neutral_generation(adapted.model, adapted.tokenizer)
    settings = run.settings.grpo
    make: Any = GRPOTrainer
    if settings.constrained:
        writing = source.writing(adapted) if source.writing else _mechanisms(adapted, run)
        make = partial(
            ConstrainedTrainer,
            allow=writing.allow,
            neighbours=settings.neighbours,
            change=writing.change,
        )
    trainer = make(
        model=adapted.model,
        reward_funcs=cast(Any, [source.reward]),  # TRL's type wants rewards that may be None
        args=grpo_config(settings, run.folder.checkpoints(PHASE), run.seed),
        train_dataset=source.prompts,
        processing_class=adapted.tokenizer,
        peft_config=adapters,
    )
    wrap_generation(trainer)
    if settings.loss_type in TARGETED_LOSSES:
        replace_advantages(trainer, partial(targeted_advantages, trainer, settings))
    return LanguageModel(run_phase(trainer, PHASE, run), adapted.tokenizer)


def _mechanisms(language_model: LanguageModel, run: TrainingRun) -> Writing:
    """Return the answers that hold one mechanism, which the goal of the run allows."""
    goal = run.env.goal
    constraint = mechanism_constraint(language_model, goal.allowed)
    return Writing(by_prompt(constraint), one_field(goal.settings(GRID)))


def grpo_config(settings: GrpoSettings, folder: Path, seed: int) -> GRPOConfig:
    """Return TRL's settings for ours."""
    passes, at_once = backward_passes(settings, f"training.{PHASE}")
    return GRPOConfig(
        **shared_options(settings, folder, seed),
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=passes,
        num_generations=settings.group_size,
        max_completion_length=settings.max_completion_tokens,
        temperature=settings.temperature,
        lr_scheduler_type=settings.schedule,
        max_grad_norm=settings.max_gradient_norm,
        # Targeted losses are other advantages, whose tokens are summed as dapo sums them.
        loss_type="dapo" if settings.loss_type in TARGETED_LOSSES else settings.loss_type,
        # As TRL has these two; Unsloth sets others where they are not given.
        epsilon_high=0.2,
        mask_truncated_completions=False,
        beta=settings.beta,
        use_bias_correction_kl=True,  # its gradient is unbiased (DeepSeek-AI 2025)
        entropy_coef=settings.entropy_bonus,
        scale_rewards=settings.scale_rewards,
        use_vllm=bool(settings.vllm_server),
        vllm_mode="server",
        vllm_server_base_url=settings.vllm_server or None,
    )
