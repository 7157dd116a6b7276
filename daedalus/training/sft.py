"""Supervised fine-tuning: the model learns to write mechanisms, any or those that suit a market."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from datasets import Dataset
from transformers import set_seed
from trl import SFTConfig, SFTTrainer

from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.seeds import generator
from daedalus.planning.distilled import expected_advantages
from daedalus.planning.lessons import Lessons, gather_lessons
from daedalus.planning.states import Wanderer, mid_episode_states
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

logger = logging.getLogger(__name__)


def training_pairs(
    env: DesignEnv, settings: TrainingSettings, rules: Mechanisms | None, seed: int
) -> Dataset:
    """Return what SFT learns from: a teacher's choice among ``rules`` if there is one."""
    count, teacher = settings.sft.examples, settings.sft.teacher
    if teacher is None or rules is None:
        return synthetic_pairs(env, settings.prompt, count, seed)
    lessons = gather_lessons(env, rules, teacher, seed)
    return taught_pairs(lessons, settings.prompt, settings.sft.answer_scale, count, seed)


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
    lessons: Lessons, prompt: PromptSettings, scale: float, count: int, seed: int
) -> Dataset:
    """Return ``count`` pairs of a prompt of the lessons and rules that are good in its market.

    What looking ahead says of a state is hindsight, since the prompt does not tell who is there;
    so the answer is drawn in proportion to exp(A / scale), A being what ``expected_advantages``
    makes of it. Every market comes up equally often, each time with an answer drawn anew.

    Args:
        lessons: Observed markets and what each rule would earn there.
        prompt: What is shown of the markets.
        scale: Spread of expected R over which answers are drawn.
        count: Number of pairs.
        seed: What they depend on.
    """
    rules = lessons.rules
    advantages = expected_advantages(lessons.features, lessons.rewards, seed)
    chats = [chat for each in lessons.observed for chat in prompts(each, prompt)]
    rng = generator(seed, "targets")
    rows = np.resize(rng.permutation(len(chats)), count)
    luck = rng.gumbel(size=(count, len(rules)))
    chosen = (advantages[rows] / scale + luck).argmax(axis=1)
    answers = [format_mechanism(rules[each]) for each in range(len(rules))]
    completions = [[{"role": "assistant", "content": answers[each]}] for each in chosen]
    return Dataset.from_dict({"prompt": [chats[row] for row in rows], "completion": completions})


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
