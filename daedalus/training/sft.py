"""Supervised fine-tuning: the model learns to write mechanisms, any or those that suit a market."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from datasets import Dataset
from transformers import set_seed
from trl import SFTConfig, SFTTrainer

from daedalus.designers.base import Designer
from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Observation
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.seeds import generator
from daedalus.planning.distilled import Distilled, features
from daedalus.planning.lessons import teacher
from daedalus.planning.states import Explorer, Wanderer, mid_episode_states
from daedalus.tracking import Tracker
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.settings import LoraSettings, SftSettings, TrainingSettings
from daedalus.training.signals import hide_small_progress_bars
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.trainers import lora_config, run_phase, shared_options

PHASE = "sft"
_ENOUGH_VALIDITY = 0.99
_ANSWER_TOKENS = 180
_AT_ONCE = 16_384  # states that are played side by side

logger = logging.getLogger(__name__)


def training_pairs(
    env: DesignEnv, settings: TrainingSettings, rules: Mechanisms | None, out: Path, seed: int
) -> Dataset:
    """Return what SFT learns from: a teacher's choice among ``rules`` if there is one.

    What the teacher learnt from is kept in the run's folder ``out``.
    """
    if settings.sft.teacher is None or rules is None:
        return synthetic_pairs(env, settings.prompt, settings.sft.examples, seed)
    taught_by = teacher(env, rules, settings.sft.teacher, out, seed)
    practice = [
        DesignEnv.of(env.settings, each.in_market(env.settings.name))
        for each in settings.sft.practice.values()
    ]
    player = Explorer(taught_by, taught_by.candidates, settings.sft.teacher.exploration)
    return taught_pairs([env, *practice], player, taught_by, settings, seed)


def synthetic_pairs(env: DesignEnv, prompt: PromptSettings, count: int, seed: int) -> Dataset:
    """Return ``count`` pairs of a mid-episode prompt and a mechanism drawn independently of it.

    Mechanisms cover the valid space uniformly, so what is learnt is the format and, as the start
    of reinforcement learning, the widest exploration.
    """
    chats = prompts(mid_episode_states(env, count, seed, PHASE).observe(), prompt)
    answers = [format_mechanism(each) for each in synthetic_mechanisms(count, seed)]
    completions = [[{"role": "assistant", "content": answer}] for answer in answers]
    return Dataset.from_dict({"prompt": chats, "completion": completions})


def taught_pairs(
    envs: Sequence[DesignEnv],
    player: Designer,
    taught_by: Distilled,
    settings: TrainingSettings,
    seed: int,
) -> Dataset:
    """Return pairs of a prompt and of rules that a teacher holds good for its market.

    Every state is used once, and the answer is drawn in proportion to exp(A / scale), A being what
    the teacher expects of each rule. Where it has not learnt it may err, but the model then errs as
    it does, and not at random.

    Args:
        envs: Where the states come from: half of them from the first, an even share from each
            other.
        player: Who leads to them.
        taught_by: Who answers.
        settings: Number of pairs, scale of the answers, the prompt.
        seed: What they depend on.
    """
    places = zip(envs, _shares(len(envs), settings.sft.examples), strict=True)
    states = [
        observed
        for number, (env, count) in enumerate(places)
        for observed in _practice(env, player, count, seed, f"practice/{number}")
    ]
    advantages = np.concatenate([taught_by.expected(features(each)) for each in states])
    luck = generator(seed, "targets").gumbel(size=advantages.shape)
    chosen = (advantages / settings.sft.answer_scale + luck).argmax(axis=1)
    rules = taught_by.candidates
    answers = [format_mechanism(rules[row]) for row in range(len(rules))]
    chats = [chat for each in states for chat in prompts(each, settings.prompt)]
    completions = [[{"role": "assistant", "content": answers[each]}] for each in chosen]
    return Dataset.from_dict({"prompt": chats, "completion": completions})


def _shares(places: int, count: int) -> list[int]:
    """Return how many pairs come from each place: half from the first, if there are others."""
    if places == 1:
        return [count]
    others = np.diff(np.linspace(0, count // 2, places).astype(int))
    return [count - count // 2, *others.tolist()]


def _practice(
    env: DesignEnv, player: Designer, count: int, seed: int, purpose: str
) -> Iterator[Observation]:
    """Yield what is observed of states that the player leads to, ``count`` in all."""
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        yield mid_episode_states(env, size, seed, f"{purpose}/{start}", designer=player).observe()


def train_sft(
    language_model: LanguageModel,
    pairs: Dataset,
    settings: SftSettings,
    lora: LoraSettings,
    tracker: Tracker,
    folder: Path,
    seed: int,
) -> LanguageModel:
    """Train on the pairs, going on from the last checkpoint below ``folder`` if there is one."""
    hide_small_progress_bars()
    set_seed(seed)  # adapters are drawn before the trainer sets its own
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
        model=language_model.model,
        args=config,
        train_dataset=pairs,
        processing_class=language_model.tokenizer,
        peft_config=lora_config(lora),
    )
    model = run_phase(trainer, PHASE, tracker, folder)
    return LanguageModel(model, language_model.tokenizer)


def sampled_validity(
    language_model: LanguageModel,
    env: DesignEnv,
    prompt: PromptSettings,
    count: int,
    seed: int,
    rules: Mechanisms | None = None,
) -> float:
    """Return the share of complete mechanisms among answers sampled at temperature 1.

    Greedy answers are valid long before sampled ones, and training samples.
    """
    states = mid_episode_states(env, count, seed, "validity", designer=Wanderer(rules))
    chats = prompts(states.observe(), prompt)
    generate = make_generate(language_model, temperature=1.0, max_new_tokens=_ANSWER_TOKENS)
    texts = generate(chats, generator(seed, "validity"))
    validity = sum(parse_mechanism(text).valid for text in texts) / count
    if validity < _ENOUGH_VALIDITY:
        logger.warning("only %.1f %% of sampled answers are valid; raise sft.steps", 100 * validity)
    return validity
