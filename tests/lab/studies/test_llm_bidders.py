"""What mechanisms earn under other bidders, and what these lose by how they bid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.lab.studies.llm_bidders import (
    MODEL,
    SIMULATED,
    Noting,
    Played,
    behaviour_gap,
    bidding,
    bids_by_format,
    both_rewards,
    play,
    require_single_demand,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from tests.design.language_bidders.scripted import THREE, Script, equilibrium, scripted

STATIC = MarketSettings(
    episode_length=3, rounds_per_step=10, scored_rounds=10, warmup_rounds=0,
    strategic=StrategicParameters(shock_rate=0.0),
)  # fmt: skip
DESIGNERS = {
    kind: FixedDesigner(Mechanism(kind, 0.0, reveal_reserve=True))  # type: ignore[arg-type]
    for kind in ("first_price", "second_price", "vcg")
}


def env(script: Script | None = None, who: Population = THREE) -> DesignEnv:
    players = None if script is None else {"bidder": scripted(script, STATIC)}
    return DesignEnv.of(STATIC, who, players=players)


def played(script: Script | None, episodes: int = 6) -> Played:
    return play(env(script), DESIGNERS, episodes, seed=0)


def truthful(_: str, values: list[float]) -> list[float]:
    return values


@pytest.fixture(scope="module")
def both() -> dict[str, Played]:
    return {SIMULATED: played(None), MODEL: played(equilibrium)}


@pytest.mark.slow
def test_those_who_bid_the_equilibrium_leave_no_gap(both: dict[str, Played]) -> None:
    gaps = behaviour_gap(both[SIMULATED], both[MODEL], 0.95)
    assert abs(gaps[["r_gap", "revenue_gap"]]).max().max() < 1e-9
    assert gaps["r_simulated"].between(0.05, 1).all()
    sides = [each.bids.drop(columns="interim_regret") for each in both.values()]
    pd.testing.assert_frame_equal(*sides, atol=1e-9)


def test_equilibrium_bids_are_what_theory_says(both: dict[str, Played]) -> None:
    table = bidding(both, 0.95).set_index(["bidders", "designer"])
    for bidders in both:
        assert table.loc[(bidders, "first_price"), "bid_over_value"] == pytest.approx(2 / 3)
        assert table.loc[(bidders, "second_price"), "bid_over_value"] == pytest.approx(1.0)
    assert (table["entry"] == 1.0).all() and (table["bids"] == 6 * 30 * 3).all()
    assert table["interim_regret"].max() < 0.006


@pytest.mark.slow
def test_truth_in_first_price_loses_what_theory_says() -> None:
    """Against bids even from 0 to 1 of two rivals the best bid is 2v/3, which earns 4 v^3 / 27."""
    table = bidding({MODEL: played(truthful, 8)}, 0.95).set_index("designer")
    assert table.loc["first_price", "interim_regret"] == pytest.approx(1 / 27, abs=0.008)
    assert table.loc["second_price", "interim_regret"] < 0.001
    ends = table.loc["first_price", ["interim_regret_low", "interim_regret_high"]]
    assert 0.0 < ends.iloc[0] < table.loc["first_price", "interim_regret"] < ends.iloc[1]
    assert table.loc["first_price", "interim_regret_interval"] == "8 episodes, few"


def test_who_stays_out_does_not_enter_and_wins_nothing() -> None:
    silent = played(lambda _, values: [0.0] * 5, 3)
    table = bidding({MODEL: silent}, 0.95)
    assert (table["entry"] == 0).all() and (table["bid_over_value"] == 0).all()
    # A bid of 0.01 would win for nothing, or for itself.
    mean = silent.bids["value"].mean()
    assert table.set_index("designer").loc["second_price", "interim_regret"] == pytest.approx(
        mean, abs=0.02
    )
    gaps = behaviour_gap(played(None, 3), silent, 0.95)
    assert (gaps["revenue_model"] == 0).all() and (gaps["revenue_gap"] < 0).all()


def test_a_binding_reserve_is_part_of_a_best_response() -> None:
    reserve = FixedDesigner(Mechanism("second_price", 0.5, reveal_reserve=True))
    table = bidding({MODEL: play(env(truthful), {"reserve": reserve}, 4, 0)}, 0.95)
    assert table["interim_regret"].item() < 0.001
    meek = play(env(lambda _, values: [0.49 * 100] * 5), {"reserve": reserve}, 4, 0)
    loss = meek.bids["interim_regret"]  # nobody else bids 0.5, so the reserve buys the good
    assert loss.mean() == pytest.approx(np.maximum(meek.bids["value"] - 0.5, 0).mean(), abs=0.001)


def test_the_bid_to_beat_is_that_of_the_last_winner_among_the_others() -> None:
    who = Population(bidders=3, units=2, types=THREE.types)
    found = play(env(truthful, who), {"a": DESIGNERS["second_price"]}, 2, 0).bids
    for _, group in found.groupby(["episode", "round"]):
        bids = group["bid"].to_numpy()
        expected = [np.sort(np.delete(bids, place))[0] for place in range(3)]
        assert group["rival"].tolist() == expected


def test_notes_are_the_bids_of_the_episodes_that_are_played() -> None:
    noting = Noting(RandomDesigner())
    where = env(equilibrium)
    episodes = where.reset(np.arange(4).astype(np.uint64))
    for step, (_, mechanisms, _) in enumerate(episodes.play(noting, np.random.default_rng(0))):
        last = noting.notes[-1]
        assert last["bid"].tolist() == episodes.state.bids.ravel().tolist()
        assert last["reserve"].tolist() == np.repeat(mechanisms.reserve_price, 3).tolist()
        assert (last["round"] == 10 * (step + 1)).all()
    assert len(noting.notes) == 30


def test_another_reward_leaves_r_as_it_is() -> None:
    other = DesignEnv.of(STATIC, THREE, RewardStack({"revenue": 1.0}))
    pair = [play(each, DESIGNERS, 3, 0) for each in (env(), other)]
    gaps = behaviour_gap(*pair, 0.95)
    assert abs(gaps["r_gap"]).max() < 1e-12


def test_bidders_for_two_units_are_refused() -> None:
    who = Population(types={"a": BidderType(demand=1), "pair": BidderType(demand=2)})
    with pytest.raises(CannotRunError, match="type pair wants two units"):
        require_single_demand(DesignEnv.of(STATIC, who))
    require_single_demand(env())


def test_figures_show_all_mechanisms(both: dict[str, Played]) -> None:
    bids = bids_by_format(bidding(both, 0.95), "a model")
    labels = [each.get_text() for each in bids.axes[0].get_yticklabels()]
    assert labels == ["first price", "second price", "vcg", "third price", "all pay"]
    rewards = both_rewards(behaviour_gap(both[SIMULATED], both[MODEL], 0.95), "a model")
    assert [each.get_xlabel() for each in rewards.axes] == [
        "R under simulated bidders",
        "revenue under simulated bidders",
    ]
