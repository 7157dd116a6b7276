"""SFT, supervised fine-tuning: the model learns to write random mechanisms or a teacher's."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from datasets import Dataset
from transformers import set_seed
from trl import SFTConfig, SFTTrainer

from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.env import DesignEnv, Designer
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Observation
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.seeds import generator
from daedalus.phases import LESSONS, SFT, phase
from daedalus.rewards.stack import RewardStack
from daedalus.run_folder import RunFolder
from daedalus.search.distillation import distil
from daedalus.search.states import EpsilonGreedyExplorer, RandomWalkDesigner, mid_episode_states
from daedalus.search.trees import TreeDesigner, observed_features
from daedalus.tracking import Tracker
from daedalus.training.backends import Backend
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.settings import SftSettings, TrainingSettings
from daedalus.training.signals import hide_small_progress_bars
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.trainers import run_phase, shared_options

PHASE = "sft"
_ENOUGH_VALIDITY = 0.99
_ANSWER_TOKENS = 180
_AT_ONCE = 16_384  # states that are played side by side

logger = logging.getLogger(__name__)


@phase(LESSONS)
def training_pairs(
    env: DesignEnv,
    stack: RewardStack,
    settings: TrainingSettings,
    portfolio: Mechanisms | None,
    run: RunFolder,
    seed: int,
) -> Dataset:
    """Return the pairs of SFT: the teacher's answers, or random ones if there is no teacher.

    Args:
        env: Environment of the prompts.
        stack: The reward that the teacher maximises.
        settings: Settings of the teacher, the practice populations, the prompt and the pairs.
        portfolio: Mechanisms from which the teacher chooses.
        run: The run folder, for the teacher's distillation data.
        seed: Seed of the run.
    """
    budget = settings.sft.teacher
    if budget is None or portfolio is None:
        return synthetic_pairs(env, settings.prompt, settings.sft.examples, seed)
    teacher = distil(env, portfolio, stack, budget, seed, run.distillation_data)
    practice = [
        DesignEnv.of(env.settings, each.in_market(env.settings.name))
        for each in settings.sft.practice.values()
    ]
    player = EpsilonGreedyExplorer(teacher, teacher.candidates, budget.exploration)
    return teacher_pairs([env, *practice], player, teacher, settings, seed)


def synthetic_pairs(env: DesignEnv, prompt: PromptSettings, count: int, seed: int) -> Dataset:
    """Return ``count`` pairs of a mid-episode prompt and an independently drawn mechanism.

    Mechanisms cover the valid space uniformly. So the model learns the format, and GRPO starts with
    the widest exploration.
    """
    chats = prompts(mid_episode_states(env, count, seed, PHASE).observe(), prompt)
    answers = [format_mechanism(each) for each in synthetic_mechanisms(count, seed)]
    completions = [[{"role": "assistant", "content": answer}] for answer in answers]
    return Dataset.from_dict({"prompt": chats, "completion": completions})


def teacher_pairs(
    envs: Sequence[DesignEnv],
    player: Designer,
    teacher: TreeDesigner,
    settings: TrainingSettings,
    seed: int,
) -> Dataset:
    """Return pairs of a prompt and a mechanism that the teacher draws for its market.

    Each state is used once. The teacher predicts an advantage A for each of its candidates and
    draws one in proportion to exp(A / temperature). It may be wrong in populations that it was not
    trained on. The model then learns the teacher's errors and not random ones.

    Args:
        envs: Environments of the states: half are from the first, equal shares from the others.
        player: The designer that plays up to the states.
        teacher: The designer that answers.
        settings: Number of pairs, temperature of the answers, the prompt.
        seed: Seed of the pairs.
    """
    places = zip(envs, _shares(len(envs), settings.sft.examples), strict=True)
    states = [
        observed
        for number, (env, count) in enumerate(places)
        for observed in _practice(env, player, count, seed, f"practice/{number}")
    ]
    advantages = np.concatenate([teacher.advantages(observed_features(each)) for each in states])
    gumbel_noise = generator(seed, "targets").gumbel(size=advantages.shape)
    chosen = (advantages / settings.sft.temperature + gumbel_noise).argmax(axis=1)
    candidates = teacher.candidates
    answers = [format_mechanism(candidates[row]) for row in range(len(candidates))]
    chats = [chat for each in states for chat in prompts(each, settings.prompt)]
    completions = [[{"role": "assistant", "content": answers[each]}] for each in chosen]
    return Dataset.from_dict({"prompt": chats, "completion": completions})


def _shares(places: int, count: int) -> list[int]:
    """Return the number of pairs from each environment: half from the first if there are others."""
    if places == 1:
        return [count]
    others = np.diff(np.linspace(0, count // 2, places).astype(int))
    return [count - count // 2, *others.tolist()]


def _practice(
    env: DesignEnv, player: Designer, count: int, seed: int, purpose: str
) -> Iterator[Observation]:
    """Yield observations of ``count`` states, up to which the player plays."""
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        yield mid_episode_states(env, size, seed, f"{purpose}/{start}", designer=player).observe()


@phase(SFT)
def train_sft(
    language_model: LanguageModel,
    pairs: Dataset,
    settings: SftSettings,
    backend: Backend,
    tracker: Tracker,
    folder: Path,
    seed: int,
) -> LanguageModel:
    """Train on the pairs, from the last checkpoint below ``folder`` if there is one."""
    hide_small_progress_bars()
    set_seed(seed)  # adapters are drawn before the trainer sets its seed
    adapted, adapters = backend.adapt(language_model, seed)
    config = SFTConfig(
        **shared_options(folder, seed, settings.save_every),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup_steps,
        completion_only_loss=True,
    )
    trainer = SFTTrainer(
        model=adapted.model,
        args=config,
        train_dataset=pairs,
        processing_class=adapted.tokenizer,
        peft_config=adapters,
    )
    model = run_phase(trainer, PHASE, tracker, folder)
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
