"""SFT, supervised fine-tuning: the model learns to write random mechanisms or a teacher's."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path

from datasets import Dataset
from peft import PeftModel
from transformers import set_seed
from trl import SFTConfig, SFTTrainer

from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.env import DesignEnv
from daedalus.language.prompt import PromptSettings, prompts
from daedalus.market.mechanism import Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.seeds import generator
from daedalus.runs.folder import RunFolder
from daedalus.runs.phases import LESSONS, SFT, phase
from daedalus.runs.processes import once, share
from daedalus.runs.tracking import Tracker
from daedalus.search.distillation import distil
from daedalus.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.training.algorithms.sft.practice import Practice
from daedalus.training.backends import Backend
from daedalus.training.defaults import require_answers
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.settings import SftSettings, TrainingSettings
from daedalus.training.signals import hide_small_progress_bars
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.trainers import run_phase, shared_options

PHASE = "sft"
CORRECTIONS = "corrections"
_ENOUGH_VALIDITY = 0.99
_ANSWER_TOKENS = 180

logger = logging.getLogger(__name__)


def make_practice(
    env: DesignEnv,
    settings: TrainingSettings,
    portfolio: Mechanisms | None,
    run: RunFolder,
    seed: int,
) -> Practice | None:
    """Return the practice with the teacher of the settings, or None if they have no teacher.

    Args:
        env: Environment of the prompts. The teacher maximises its reward.
        settings: Settings of the teacher, the practice populations, the prompt and the pairs.
        portfolio: Mechanisms from which the teacher chooses.
        run: The run folder, for the teacher's distillation data.
        seed: Seed of the run.
    """
    budget = settings.sft.teacher
    if budget is None or portfolio is None:
        return None
    teacher = once(lambda: distil(env, portfolio, budget, seed, run.distillation_data))
    others = [
        env.with_population(each.in_market(env.settings.name))
        for each in settings.sft.practice.values()
    ]
    return Practice([env, *others], teacher, settings, seed)


@phase(LESSONS)
def synthetic_pairs(env: DesignEnv, prompt: PromptSettings, count: int, seed: int) -> Dataset:
    """Return ``count`` pairs of a mid-episode prompt and an independently drawn mechanism.

    Mechanisms cover the valid space uniformly. So the model learns the format, and GRPO starts with
    the widest exploration.
    """
    chats = prompts(mid_episode_states(env, count, seed, PHASE).observe(), prompt)
    answers = [format_mechanism(each) for each in synthetic_mechanisms(count, seed)]
    completions = [[{"role": "assistant", "content": answer}] for answer in answers]
    return Dataset.from_dict({"prompt": chats, "completion": completions})


def train_with_practice(
    language_model: LanguageModel,
    practice: Practice,
    backend: Backend,
    tracker: Tracker,
    run: RunFolder,
) -> LanguageModel:
    """Train on the teacher's lessons, then on its corrections of what the model does.

    Each part goes on from its last checkpoint if there is one.
    """
    settings, seed = practice.settings, practice.seed
    more = settings.sft.corrections
    model = train_sft(
        language_model, once(practice.lessons), settings.sft, backend, tracker,
        run.checkpoints(PHASE), seed,
    )  # fmt: skip
    for number in range(more.rounds):
        generate = make_generate(model, 1.0, _ANSWER_TOKENS)
        designer = LanguageModelDesigner(generate, settings.prompt, strict=True)
        pairs = once(partial(practice.corrections, designer, number))
        part = replace(settings.sft, steps=more.steps, learning_rate=more.learning_rate)
        name = f"{CORRECTIONS}_{number}"
        model = train_sft(model, pairs, part, backend, tracker, run.checkpoints(name), seed, name)
    return model


@phase(SFT)
def train_sft(
    language_model: LanguageModel,
    pairs: Dataset,
    settings: SftSettings,
    backend: Backend,
    tracker: Tracker,
    folder: Path,
    seed: int,
    name: str = PHASE,
) -> LanguageModel:
    """Train on the pairs, from the last checkpoint below ``folder`` if there is one.

    A model that has adapters keeps them. Logs go under ``name``.
    """
    hide_small_progress_bars()
    require_answers(language_model.tokenizer)
    set_seed(seed)  # adapters are drawn before the trainer sets its seed
    adapted, adapters = language_model, None
    if not isinstance(language_model.model, PeftModel):
        adapted, adapters = backend.adapt(language_model, seed)
    config = SFTConfig(
        **shared_options(folder, seed, settings.save_every),
        max_steps=settings.steps,
        per_device_train_batch_size=share(settings.batch_size, "training.sft.batch_size"),
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup_steps,
        completion_only_loss=True,
        max_length=None,  # TRL would cut long pairs, and leave out those without an answer
    )
    trainer = SFTTrainer(
        model=adapted.model,
        args=config,
        train_dataset=pairs,
        processing_class=adapted.tokenizer,
        peft_config=adapters,
    )
    model = run_phase(trainer, name, tracker, folder)
    return LanguageModel(model, adapted.tokenizer)


@phase(SFT)
def sampled_validity(
    language_model: LanguageModel,
    env: DesignEnv,
    prompt: PromptSettings,
    count: int,
    seed: int,
    portfolio: Mechanisms | None = None,
) -> float:
    """Return the validity of answers that are sampled at temperature 1.

    GRPO samples its answers. Greedy answers become valid much earlier in training than sampled
    ones, so their validity says little.
    """
    player = RandomWalkDesigner(portfolio)
    states = mid_episode_states(env, count, seed, "validity", designer=player)
    chats = prompts(states.observe(), prompt)
    generate = make_generate(language_model, temperature=1.0, max_new_tokens=_ANSWER_TOKENS)
    texts = generate(chats, generator(seed, "validity"))
    validity = sum(parse_mechanism(text).valid for text in texts) / count
    if validity < _ENOUGH_VALIDITY:
        logger.warning("only %.1f %% of sampled answers are valid; raise sft.steps", 100 * validity)
    return validity
