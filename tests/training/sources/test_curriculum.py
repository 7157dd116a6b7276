"""A curriculum: when a stage is left, and that prompts and rewards follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.designers.fixed import FixedDesigner
from daedalus.env import DesignEnv, Episodes
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.rewards.stack import RewardStack
from daedalus.search.lookahead import ContinuationPolicy
from daedalus.search.states import mid_episode_states
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.grpo.trainer import train
from daedalus.training.model import LanguageModel
from daedalus.training.settings import CurriculumSettings, StageSettings, TrainingSettings
from daedalus.training.sources.curriculum import (
    Curriculum,
    CurriculumReward,
    make_curriculum,
    stage_table,
    staged_prompts,
)
from daedalus.training.sources.reward import MarketReward
from tests.search.markets import AGAINST_WELFARE
from tests.training.conftest import PROMPT, make_run

MARKET = MarketSettings(name="strategic", episode_length=3)
POPULATIONS = {
    "easy": Population(),
    "hard": Population(types={"ring": BidderType(menu=["collude"])}, stage=1),
}
CURRICULUM = CurriculumSettings(
    {
        "easy": StageSettings(
            PopulationSettings("easy", POPULATIONS["easy"]), promotion=0.5, window=4
        ),
        "hard": StageSettings(PopulationSettings("hard", POPULATIONS["hard"])),
    }
)


@pytest.fixture(scope="module")
def envs() -> dict[str, DesignEnv]:
    return {name: DesignEnv.of(MARKET, each) for name, each in POPULATIONS.items()}


def states_of(envs: dict[str, DesignEnv], horizon: int = 1, count: int = 6) -> list[Episodes]:
    return [mid_episode_states(each, count, 0, name, horizon) for name, each in envs.items()]


def rewards(states: list[Episodes], futures: int = 3) -> list[MarketReward]:
    return [MarketReward(each, futures, 1, seed=0) for each in states]


def test_a_stage_is_left_once_a_whole_window_is_good() -> None:
    curriculum = Curriculum([0.5, 0.9, np.inf], [3, 2, 1])
    for reward in (0.9, 0.1, 0.4, 0.8):  # the last three average 0.43
        curriculum.note(reward, 0)
    assert curriculum.stage == 0
    curriculum.note(0.5, 0)  # 0.57
    assert curriculum.stage == 1
    curriculum.note(1.0, 0)  # drawn before the promotion
    curriculum.note(0.95, 1)
    assert curriculum.stage == 1
    curriculum.note(0.95, 1)
    assert curriculum.stage == 2
    curriculum.note(9.0, 2)
    assert curriculum.stage == 2


@pytest.mark.slow
def test_thresholds_lie_between_random_and_the_best(envs: dict[str, DesignEnv]) -> None:
    paid = rewards(states_of(envs, count=64), futures=8)
    table = stage_table(envs, paid, CURRICULUM, seed=0)
    easy = table.iloc[0]
    assert easy["random"] < easy["threshold"] < easy["search"]
    assert easy["threshold"] == pytest.approx((easy["random"] + easy["search"]) / 2)
    assert np.isinf(table["threshold"].iloc[-1])


def paid_by(stack: RewardStack, envs: dict[str, DesignEnv]) -> dict[str, DesignEnv]:
    return {name: replace(each, reward=stack) for name, each in envs.items()}


@pytest.mark.slow
def test_thresholds_are_on_the_scale_of_training(envs: dict[str, DesignEnv]) -> None:
    tables = []
    for stack in (RewardStack(), RewardStack({"composite": 0.5})):
        paying = paid_by(stack, envs)
        tables.append(
            stage_table(
                paying, rewards(states_of(paying, count=16), futures=4), CURRICULUM, seed=0
            ).iloc[0]
        )
    for column in ("random", "search", "threshold"):
        assert tables[1][column] == pytest.approx(tables[0][column] / 2)


@pytest.mark.slow
def test_thresholds_are_those_of_the_best_mechanism_for_the_given_reward(
    envs: dict[str, DesignEnv],
) -> None:
    against = paid_by(AGAINST_WELFARE, envs)
    paid = rewards(states_of(against, count=16), futures=4)
    own = stage_table(against, paid, CURRICULUM, seed=0)
    assert (own["search"] > own["random"]).all()
    found_for_r = stage_table(envs, paid, CURRICULUM, seed=0)
    assert (own["search"] > found_for_r["search"] + 0.3).all()


def test_what_was_logged_leads_to_the_same_stage() -> None:
    stages = pd.DataFrame({"threshold": [0.5, np.inf], "window": [16, 50]})
    history = [{"reward": 0.6, "stage": 0}, {"reward": 0.6, "stage": 0}]
    assert make_curriculum(stages, 8, history).stage == 1
    assert make_curriculum(stages, 8, history[:1]).stage == 0
    assert make_curriculum(stages, 4, history).stage == 0  # sixteen prompts are four steps


def test_prompts_and_rewards_are_of_the_stage(envs: dict[str, DesignEnv]) -> None:
    states = states_of(envs)
    curriculum = Curriculum([0.0, np.inf], [1, 1])
    reward = CurriculumReward(rewards(states), curriculum)
    rows = staged_prompts(states, PROMPT, curriculum)
    texts = [format_mechanism(Mechanism())] * 2
    before = rows[4]
    totals, terms = reward.score(texts, [before["state"]] * 2, 0)
    alone = MarketReward(states[0], 3, 1, seed=0)
    np.testing.assert_array_equal(totals, alone.score(texts, [4, 4], 0)[0])
    after = rows[4]
    assert (before["state"], after["state"]) == (4, 10)
    assert before["prompt"] != after["prompt"]
    totals, terms = reward.score(texts, [after["state"]] * 2, 0)
    other = MarketReward(states[1], 3, 1, seed=0)
    np.testing.assert_array_equal(totals, other.score(texts, [4, 4], 0)[0])
    assert (terms["stage"] == 1).all()
    mixed = reward.score(texts, [4, 10], 0)[0]
    assert mixed[0] == alone.score(texts[:1], [4], 0)[0] and mixed[1] == totals[0]


def test_the_curriculum_hears_of_the_rewards_of_all_processes(
    envs: dict[str, DesignEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [(1.0, 0)] * 6
    monkeypatch.setattr(
        "daedalus.training.sources.curriculum.gathered", lambda mine: [*mine, *others]
    )
    states = states_of(envs)
    curriculum = Curriculum([0.7, np.inf], [1, 1])
    reward = CurriculumReward(rewards(states), curriculum)
    totals, terms = reward.score([format_mechanism(Mechanism())] * 2, [4, 4], 0)
    assert totals.mean() < 0.7 < np.mean([*totals, *[1.0] * 6])
    assert curriculum.stage == 1 and (terms["stage"] == 0).all()


def test_the_continuation_policy_acts_in_every_stage(envs: dict[str, DesignEnv]) -> None:
    states = states_of(envs, horizon=2)
    later = FixedDesigner(Mechanism(reserve_price=0.9))
    continuation = ContinuationPolicy(later, commitment_steps=1)
    curriculum = Curriculum([0.0, np.inf], [1, 1])
    staged = CurriculumReward(
        [MarketReward(each, 3, 2, 0, continuation) for each in states], curriculum
    )
    text, rows = [format_mechanism(Mechanism())], {0: 4, 1: 10}
    for stage, row in rows.items():
        alone = MarketReward(states[stage], 3, 2, 0, continuation)
        expected = alone.score(text, [4], 0)[0]
        assert staged.score(text, [row], 0)[0] == expected
        kept = MarketReward(states[stage], 3, 2, seed=0)
        assert kept.score(text, [4], 0)[0] > expected


def test_grpo_goes_through_the_stages(
    envs: dict[str, DesignEnv], small: LanguageModel, tmp_path: Path
) -> None:
    grpo = GrpoSettings(
        steps=4, prompts_per_step=2, group_size=2, micro_batch=4, states=8, futures=2,
        max_completion_tokens=4,
    )  # fmt: skip
    training = TrainingSettings(grpo=grpo, curriculum=CURRICULUM, prompt=PROMPT)
    rows = [{"stage": "easy", "threshold": 0.0, "window": 2}]
    rows += [{"stage": "hard", "threshold": np.inf, "window": 2}]
    pd.DataFrame(rows).to_csv(tmp_path / "curriculum.csv", index=False)
    run = make_run(envs["easy"], tmp_path, training)
    train(small, run)
    stages = [record["stage"] for record in run.tracker.history("grpo")]
    assert stages[0] == 0 and stages[-1] == 1 and stages == sorted(stages)
