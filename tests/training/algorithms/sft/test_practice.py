"""Practice: states, the teacher's answers, and its corrections of what a model does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import prompts
from daedalus.design.search.distillation import distil
from daedalus.design.search.states import EpsilonGreedyExplorer, mid_episode_states
from daedalus.design.search.trees import TreeDesigner
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.seeds import market_seeds
from daedalus.training.algorithms.sft.practice import Practice
from daedalus.training.algorithms.sft.settings import CorrectionSettings
from tests.training.conftest import CANDIDATES, PROMPT, TEACHER, answers, taught

EXPLORATION = 0.4  # not the default


@pytest.fixture(scope="module")
def teacher(env: DesignEnv) -> TreeDesigner:
    return distil(env, CANDIDATES, TEACHER, seed=0)


@pytest.fixture
def player(teacher: TreeDesigner) -> EpsilonGreedyExplorer:
    return EpsilonGreedyExplorer(teacher, CANDIDATES, EXPLORATION)


def practice(
    envs: Sequence[DesignEnv], teacher: TreeDesigner, count: int = 64, **sft: object
) -> Practice:
    return Practice(envs, teacher, taught(count, exploration=EXPLORATION, **sft), 0)


def test_at_a_low_temperature_answers_have_the_highest_prediction(
    env: DesignEnv, player: EpsilonGreedyExplorer, teacher: TreeDesigner
) -> None:
    observed = mid_episode_states(env, 64, 0, "practice/0/0", designer=player).observe()
    wanted = [format_mechanism(CANDIDATES[row]) for row in teacher.choose(observed)]
    pairs = practice([env], teacher, temperature=1e-9).lessons()
    assert answers(pairs) == wanted
    assert list(pairs["prompt"]) == prompts(observed, PROMPT)
    assert all(parse_mechanism(answer).valid for answer in answers(pairs))


def test_a_higher_temperature_adds_near_ties_and_a_huge_one_adds_everything(
    env: DesignEnv, teacher: TreeDesigner
) -> None:
    awful = format_mechanism(CANDIDATES[2])
    shares = [
        np.mean([text == awful for text in answers(each.lessons())])
        for each in (
            practice([env], teacher, 200, temperature=0.003),
            practice([env], teacher, 200, temperature=1e9),
        )
    ]
    assert shares[0] == 0
    assert 0.2 < shares[1] < 0.46


def test_half_of_the_pairs_are_of_the_run_and_the_others_shared_out(
    env: DesignEnv, player: EpsilonGreedyExplorer, teacher: TreeDesigner
) -> None:
    crowd = replace(env.market.population, bidders=30)
    other = DesignEnv.of(env.settings, crowd)
    pairs = practice([env, other, other], teacher, 13).lessons()
    wanted = []
    for number, (place, count) in enumerate([(env, 7), (other, 3), (other, 3)]):
        states = mid_episode_states(place, count, 0, f"practice/{number}/0", designer=player)
        wanted += prompts(states.observe(), PROMPT)
    assert list(pairs["prompt"]) == wanted
    assert wanted[7:10] != wanted[10:]


def test_a_share_of_the_pairs_are_first_decisions(env: DesignEnv, teacher: TreeDesigner) -> None:
    pairs = practice([env], teacher, 40, first_decisions=0.25).lessons()
    fresh = env.reset(market_seeds(0, "practice/first/0", 10)).observe()
    assert len(pairs) == 40
    assert list(pairs["prompt"])[30:] == prompts(fresh, PROMPT)


def test_corrections_are_the_teachers_answers_where_the_model_leads(
    env: DesignEnv, teacher: TreeDesigner
) -> None:
    length = env.settings.episode_length
    stubborn = FixedDesigner(CANDIDATES[2])
    more = CorrectionSettings(rounds=1, examples=3 * length)
    pairs = practice([env], teacher, temperature=1e-9, corrections=more).corrections(stubborn, 0)
    assert len(pairs) == 3 * length
    played = env.reset(market_seeds(0, "corrections/0/0", 3))
    for step in range(length):
        part, observation = slice(3 * step, 3 * step + 3), played.observe()
        assert list(pairs["prompt"])[part] == prompts(observation, PROMPT)
        chosen = teacher.choose(observation)
        assert answers(pairs)[part] == [format_mechanism(CANDIDATES[each]) for each in chosen]
        played.step(stubborn.propose(observation, np.random.default_rng(0)))
