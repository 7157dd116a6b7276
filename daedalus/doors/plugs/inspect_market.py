"""The market as a task of Inspect, for any of its models: ``inspect eval daedalus/market``."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.build import build_all
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.language.prompt import Message
from daedalus.doors import public
from daedalus.doors.plugs.chat import ChatEpisode, designer_reward
from daedalus.launch.config.compose import compose_config, quoted
from daedalus.launch.config.tasks import Compare

EPISODE = "episode"
"""Name in a sample's store of what the model's episode earned."""


@task
def market(
    population: str = "stage3",
    episodes: int = 20,
    first_seed: int = 0,
    baseline: str = "informed_greedy",
    overrides: str = "",
) -> Task:
    """Let a model play episodes, one mechanism in each turn.

    Args:
        population: Its name, as in ``population=NAME``.
        episodes: Number of episodes.
        first_seed: Seed of the first episode; each next one has the next integer.
        baseline: The name of a file in ``conf/designer/``. This designer plays the same episodes.
        overrides: Changes as on the command line, with spaces between them.

    Raises:
        ConfigError: A name or a change is wrong. The message says what to write instead.
    """
    env = public.make(population, *overrides.split()).env
    seeds = range(first_seed, first_seed + episodes)
    opponent = _designer(env, baseline, population)
    return Task(
        dataset=[
            Sample(id=seed, input=chat(ChatEpisode(env, seed).opening()), metadata={"seed": seed})
            for seed in seeds
        ],
        solver=plays(env),
        scorer=earns(env, opponent),
        metadata={"population": population, "baseline": baseline, "overrides": overrides},
    )


@solver
def plays(env: DesignEnv) -> Solver:
    """Return a solver in which the model plays the episode of the sample's seed."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = ChatEpisode(env, state.metadata["seed"])
        state.store.set(EPISODE, (episode.reward, episode.valid))  # if a limit ends the sample
        while not episode.done:
            state = await generate(state)
            told = episode.answer(state.output.completion)
            state.store.set(EPISODE, (episode.reward, episode.valid))
            if not episode.done:
                state.messages.append(ChatMessageUser(content=told))
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def earns(env: DesignEnv, opponent: Designer) -> Scorer:
    """Return a scorer of the episode's mean reward, and of its lead over a designer's.

    A score has three values. ``reward`` is in [0, 1] if the reward is R. ``difference`` is the
    reward less the designer's on the same seed. ``valid`` is the share of valid answers.
    """

    async def score(state: TaskState, target: Target) -> Score:
        reward, valid = state.store.get(EPISODE)
        lead = reward - designer_reward(env, opponent, state.metadata["seed"])
        return Score(value={"reward": reward, "difference": lead, "valid": valid})

    return score


def _designer(env: DesignEnv, name: str, population: str) -> Designer:
    config: Compare = compose_config("task=compare", f"designer={quoted(name)}")
    context = DesignerContext(env, config.seed, load_model=_load_generate, population=population)
    return build_all({name: config.designer}, context)[name]


def _load_generate(*arguments: Any, **options: Any) -> Any:
    """Load a language model where PyTorch is installed, which other baselines do not need."""
    from daedalus.launch.from_config import load_generate

    return load_generate(*arguments, **options)


def chat(messages: list[Message]) -> list[ChatMessage]:
    """Return messages as Inspect has them."""
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    return [kinds[each["role"]](content=each["content"]) for each in messages]
