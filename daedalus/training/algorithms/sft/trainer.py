"""SFT, supervised fine-tuning: the model learns to write random mechanisms or a teacher's."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray
from trl import SFTConfig, SFTTrainer

from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import prompts
from daedalus.design.rewards.objectives import Objectives
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.objective import episode_scores
from daedalus.design.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.seeds import generator
from daedalus.runs.phases import LESSONS, SFT, phase
from daedalus.runs.processes import once
from daedalus.training.algorithms.sft.practice import Practice, pairs_of
from daedalus.training.algorithms.sft.settings import SftSettings
from daedalus.training.defaults import require_answers
from daedalus.training.generation import make_generate
from daedalus.training.hardware import share
from daedalus.training.model import LanguageModel
from daedalus.training.run import TrainingRun
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.trainers import prepared, run_phase, shared_options

PHASE = "sft"
CORRECTIONS = "corrections"
_ENOUGH_VALIDITY = 0.99
_ANSWER_TOKENS = 180
_EPISODES = 256  # of each mechanism that may be the best known

logger = logging.getLogger(__name__)


def train(language_model: LanguageModel, run: TrainingRun) -> LanguageModel:
    """Train on a teacher's lessons, then on its corrections of what the model does.

    Without a teacher, train on ``own_pairs``. Each part goes on from its last checkpoint if there
    is one.
    """
    practice, settings = make_practice(run), run.settings.sft
    if practice is None:
        return train_sft(language_model, own_pairs(run), settings, run)
    more = settings.corrections
    model = train_sft(language_model, practice.lessons(), settings, run)
    for number in range(more.rounds):
        generate = make_generate(model, 1.0, _ANSWER_TOKENS)
        designer = LanguageModelDesigner(generate, run.settings.prompt, strict=True)
        pairs = practice.corrections(designer, number)
        part = replace(settings, steps=more.steps, learning_rate=more.learning_rate)
        model = train_sft(model, pairs, part, run, f"{CORRECTIONS}_{number}")
    return model


def make_practice(run: TrainingRun) -> Practice | None:
    """Return the practice with the teacher of the run, or None if it has no teacher."""
    teacher = run.teacher()
    if teacher is None:
        return None
    name, others = run.env.settings.name, run.settings.sft.practice.values()
    envs = [run.env.with_population(each.in_market(name)) for each in others]
    return Practice([run.env, *envs], teacher, run.settings, run.seed)


@once
@phase(LESSONS)
def own_pairs(run: TrainingRun) -> Dataset:
    """Return pairs of a mid-episode prompt and a mechanism, without a teacher.

    With a portfolio and many goals the mechanism is the ``best_known`` one. Otherwise mechanisms
    are drawn independently of the prompts and cover the valid space uniformly. So the model learns
    the format, and GRPO starts with the widest exploration.
    """
    env, count, seed = run.env, run.settings.sft.examples, run.seed
    goals = run.goals(count, PHASE)
    known = run.portfolio if goals is not None else None
    player = RandomWalkDesigner(known)
    states = mid_episode_states(env, count, seed, PHASE, designer=player, goals=goals)
    chats = prompts(states.observe(), run.settings.prompt)
    if goals is None or known is None:
        mechanisms = synthetic_mechanisms(count, seed, env.goal)
    else:
        mechanisms = best_known(env, known, goals, seed)
    return pairs_of(chats, [format_mechanism(each) for each in mechanisms])


def best_known(
    env: DesignEnv, portfolio: Mechanisms, goals: NDArray[np.object_], seed: int
) -> list[Mechanism]:
    """Return the mechanism of the portfolio that earns most by each of B goals.

    All are played for the same whole episodes. The goals name the same terms in the same order.
    """
    objectives = Objectives.of(goals)
    alone = [replace(env, reward=RewardStack({name: 1.0})) for name in objectives.terms]
    played = [episode_scores(each, portfolio, _EPISODES, seed, "objectives") for each in alone]
    means = np.stack([each.mean(axis=1) for each in played])
    return [portfolio[int(each)] for each in (objectives.weights @ means).argmax(axis=1)]


@phase(SFT)
def train_sft(
    language_model: LanguageModel,
    pairs: Dataset,
    settings: SftSettings,
    run: TrainingRun,
    name: str = PHASE,
) -> LanguageModel:
    """Train on the pairs, from the last checkpoint of the run under ``name`` if there is one.

    A model that has adapters keeps them. Logs go under ``name``.
    """
    require_answers(language_model.tokenizer)
    adapted, adapters = prepared(language_model, run)
    config = SFTConfig(
        **shared_options(settings, run.folder.checkpoints(name), run.seed),
        per_device_train_batch_size=share(settings.batch_size, "training.sft.batch_size"),
        lr_scheduler_type="cosine",
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
    return LanguageModel(run_phase(trainer, name, run), adapted.tokenizer)


@phase(SFT)
def sampled_validity(language_model: LanguageModel, run: TrainingRun) -> float:
    """Return the validity of answers that are sampled at temperature 1.

    GRPO samples its answers. Greedy answers become valid much earlier in training than sampled
    ones, so their validity says little.
    """
    count, player = run.settings.sft.validity_prompts, RandomWalkDesigner(run.portfolio)
    goals = run.goals(count, "validity")
    states = mid_episode_states(run.env, count, run.seed, "validity", designer=player, goals=goals)
    chats = prompts(states.observe(), run.settings.prompt)
    generate = make_generate(language_model, 1.0, _ANSWER_TOKENS)
    texts = generate(chats, generator(run.seed, "validity"))
    asked = zip(texts, states.goal_of_each, strict=True)
    validity = sum(parse_mechanism(text, goal=goal).valid for text, goal in asked) / count
    if validity < _ENOUGH_VALIDITY:
        logger.warning("only %.1f %% of sampled answers are valid; raise sft.steps", 100 * validity)
    return validity
