"""Designer against adversary in PettingZoo: its tests pass, and the numbers are the market's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import daedalus
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.search.features import observed_features
from daedalus.doors.gym import decode, encode
from daedalus.doors.gym.parallel import ADVERSARY, DESIGNER, AdversaryEnv, parallel_env
from daedalus.evaluation.settings import TRAITS
from daedalus.lab.studies.exploitability import Compositions
from daedalus.market.mechanism import MechanismError, Mechanisms
from daedalus.market.seeds import episode_seeds

SHORT = ("market.episode_length=3",)
MOVE = np.array([2, 6, 2, 6, 2, 2, 0, 2, *(4, 0, 2, 4)])  # types, then levels


def played(env: AdversaryEnv, seed: int, move: np.ndarray) -> tuple[list[Any], list[Any]]:
    """Play an episode with a designer that draws its actions; return what was seen and earned."""
    env.action_space(DESIGNER).seed(seed)
    seen, earned = [env.reset(seed=seed)[0]], []
    while env.agents:
        action = {DESIGNER: env.action_space(DESIGNER).sample(), ADVERSARY: move}
        observed, rewards, *_ = env.step(action)
        seen.append(observed)
        earned.append((rewards, action[DESIGNER]))
    return seen, earned


@pytest.mark.filterwarnings("error")
def test_pettingzoo_s_tests_pass() -> None:
    parallel_api_test(parallel_env(overrides=SHORT))
    parallel_seed_test(lambda: parallel_env(overrides=SHORT))


def test_an_episode_is_that_of_the_composition_to_the_bit() -> None:
    env = parallel_env(reward="revenue")
    seen, earned = played(env, 7, MOVE)
    assert {name: each.share for name, each in env.composition.types.items() if each.share} == {
        "truthful": 1,
        "dropout": 5,
        "rota": 2,
    }
    assert {each.discretion for each in env.composition.types.values()} == {0.8}
    market = daedalus.make(env.composition, reward="revenue")
    first = observed_features(market.reset(7))[0].astype(np.float32)
    assert not seen[0][DESIGNER].any() and earned[0][0] == {DESIGNER: 0.0, ADVERSARY: 0.0}
    np.testing.assert_array_equal(seen[1][DESIGNER], first)
    assert [each[ADVERSARY] for each in seen] == [0] + [1] * 11
    for observed, (rewards, action) in zip(seen[2:], earned[1:], strict=True):
        step = market.step(decode(action))
        expected = observed_features(step.observation)[0].astype(np.float32)
        np.testing.assert_array_equal(observed[DESIGNER], expected)
        assert rewards == {DESIGNER: step.reward, ADVERSARY: -step.reward}
    assert market.done
    again = played(env, 7, MOVE)
    np.testing.assert_equal(again, (seen, earned))


def test_rewards_are_those_of_the_study_of_exploitability() -> None:
    env, action = parallel_env(), encode(daedalus.Mechanism("first_price", 0.2))
    composed, settings = env.composed(MOVE), daedalus.make("mixture").env.settings
    designer = FixedDesigner(decode(action))
    compositions = Compositions(settings, [composed], seed=5)
    own = compositions.rewards(designer, "fixed", (0,), 1, "service")  # the market of seed 5
    env.reset(seed=5)
    earned = [env.step({DESIGNER: action, ADVERSARY: MOVE})[1] for _ in range(11)]
    assert np.mean([each[DESIGNER] for each in earned[1:]]) == pytest.approx(own.item(), abs=1e-12)


def test_with_a_portfolio_the_adversary_earns_regret() -> None:
    portfolio = [daedalus.Mechanism("vcg"), daedalus.Mechanism("first_price", 0.2)]
    env = parallel_env(overrides=SHORT, portfolio=portfolio)
    _, earned = played(env, 1, MOVE)
    episodes = env.env.with_population(env.composition).reset(episode_seeds([1, 1]))
    best = episodes.mean_rewards(Mechanisms.stack(portfolio)).max()
    for rewards, _ in earned[1:]:
        assert rewards[ADVERSARY] == pytest.approx(best - rewards[DESIGNER], abs=1e-12)
    assert not any(earned[0][0].values())


def test_a_reset_draws_a_seed_and_info_tells_it() -> None:
    env, action = parallel_env(overrides=SHORT), {DESIGNER: None, ADVERSARY: MOVE}
    env.reset(seed=3)
    env.step(action)
    env.reset()
    seen, *_, told = env.step(action)
    assert env.agents == [DESIGNER, ADVERSARY] and told[DESIGNER]["seed"] != 3
    env.reset(seed=told[DESIGNER]["seed"], options={"unread": 1})
    np.testing.assert_equal(env.step(action)[0], seen)


def test_a_seed_decides_the_seeds_that_later_resets_draw() -> None:
    drawn = []
    for between in (False, True, False):
        env = parallel_env(overrides=SHORT)
        env.reset(seed=3)
        if between:
            env.step({ADVERSARY: MOVE})
        env.reset()
        drawn.append(env.step({ADVERSARY: MOVE})[4][DESIGNER]["seed"])
    assert len({*drawn}) == 1


def test_what_cannot_be_played_is_refused() -> None:
    env = parallel_env(population="world")  # whose episodes vary in size
    with pytest.raises(RuntimeError, match="call reset"):
        env.step({})
    with pytest.raises(ValueError, match="seed: -1"):
        env.reset(seed=-1)
    env.reset()
    size = len(env.action_space(ADVERSARY).nvec)
    assert size == env.moves.population.bidders + len(TRAITS)
    for move in (np.zeros(size), np.zeros(size - 1, int), np.full(size, 99), np.full(size, -1)):
        with pytest.raises(ValueError, match="action: "):
            env.step({ADVERSARY: move})
    with pytest.raises(ValueError, match="give that of the adversary, whose move it is"):
        env.step({DESIGNER: None})
    env.step({ADVERSARY: np.zeros(size, int)})
    with pytest.raises(ValueError, match="give that of the designer"):
        env.step({})
    with pytest.raises(MechanismError, match="auction_type"):
        parallel_env(
            allowed={"auction_type": ["vcg"]}, portfolio=[daedalus.Mechanism("first_price")]
        )
    assert env.composition.seats_of_types() is not None
    with pytest.raises(ValueError, match="only the strategic market"):
        parallel_env("stage3", market="classic")


@pytest.mark.parametrize(
    ("bidders", "trait", "told"),
    [
        ({"rota": 8, "nobody": 0}, 0.2, "bidders: no type 'nobody'; the types are truthful"),
        ({"rota": 7}, 0.2, "bidders: .*; give integers from 0 up that sum to 8"),
        ({"rota": 9, "shader": -1}, 0.2, "give integers from 0 up"),
        ({"rota": 8.0}, 0.2, "give integers from 0 up"),
        ({"rota": 8}, 0.3, r"outside_option: 0.3; give a number from 0.0 to 0.25"),
        ({"rota": 8}, True, "outside_option: True; give a number"),
        ({"rota": 8}, float("nan"), "outside_option: nan; give a number"),
        ({"rota": 8}, None, "traits: .*; give discretion, expected_surplus"),
    ],
)
def test_a_move_out_of_the_adversary_s_space_is_refused(
    bidders: dict[str, Any], trait: Any, told: str
) -> None:
    moves = parallel_env().moves
    traits = {"discretion": 0, "expected_surplus": 0.05, "learning_rate": 0.1}
    with pytest.raises(ValueError, match=told):
        moves.composition(bidders, traits | ({} if trait is None else {"outside_option": trait}))
