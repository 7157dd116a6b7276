"""The guided tour: every stop hurts, its change mends it, and it can be visited as described."""

from __future__ import annotations

import json

import numpy as np
import pytest

from daedalus.design.env import DesignEnv
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.market.goal import Goal
from daedalus.market.mechanism import FIELDS, mechanism_from_mapping
from daedalus.market.seeds import market_seeds
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import LEAST_BIDDERS, DaedalusAction, WireMechanism
from daedalus.service.page.page_messages import TourStop
from daedalus.service.page.tour import STOPS, tour
from daedalus.service.sessions.session_messages import ArenaRound
from daedalus.service.sessions.watching import arena, reveal
from experiments.tour import measure, scores, switch_gains
from tests.design.search.markets import play_steps

ATTACKS = "bid_shading collusion strategic_dropout false_stability transparency_paradox".split()
EPISODES = 200
LONGEST_TEXT = 480  # characters, about five lines of a page

every_stop = pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.name)


def env_of(stop: TourStop, catalogue: Catalogue) -> DesignEnv:
    return catalogue.build(catalogue.options(population=stop.population, market=stop.market))


def visit(
    catalogue: Catalogue, stop: TourStop, mechanisms: list[WireMechanism]
) -> tuple[list[float], DaedalusEnvironment]:
    """Play the stop through the service, one step under each mechanism; return its rewards."""
    environment = DaedalusEnvironment(catalogue)
    environment.reset(**stop.model_dump(include={"seed", "population", "market", "n_agents"}))
    for each in mechanisms:
        environment.step(DaedalusAction(**each.model_dump()))
    return environment.state.rewards, environment


def test_the_five_attacks_come_first_and_names_are_unique() -> None:
    names = [stop.name for stop in STOPS]
    assert names[:5] == ATTACKS
    assert len(set(names)) == len(names)


@every_stop
def test_a_stop_is_json_and_can_be_visited(stop: TourStop, shipped: Catalogue) -> None:
    told = json.loads(stop.model_dump_json())
    names = ("name", "title", "attack", "watch", "seen", "contrast", "fix", "lesson")
    texts = {name: told.pop(name) for name in names}
    assert all(text.strip() == text and 0 < len(text) <= LONGEST_TEXT for text in texts.values())
    assert 2 <= len(texts["attack"].split(". ")) <= 6  # sentences
    hurt, fixed = (mechanism_from_mapping(told.pop(name)) for name in ("hurt", "fixed"))
    different = [name for name in FIELDS if getattr(hurt, name) != getattr(fixed, name)]
    assert told.pop("changed") == different and 1 <= len(different) <= 2
    assert told.pop("shown") in range(5) and told.pop("compared") in range(5)
    shipped.options.model_validate(told)
    assert set(told) == {"population", "market", "seed", "n_agents"}
    assert stop.market == "fresh"
    assert stop.n_agents is None or stop.n_agents >= LEAST_BIDDERS


@every_stop
def test_the_change_earns_more_on_the_same_markets(stop: TourStop, shipped: Catalogue) -> None:
    env = env_of(stop, shipped)
    hurt, fixed = scores(stop, env, EPISODES, seed=7)
    difference = fixed - hurt
    error = difference.std(ddof=1) / np.sqrt(EPISODES)
    assert difference.mean() - 1.96 * error > 0.05


@every_stop
def test_a_change_half_way_gives_a_visitor_a_typical_gain(
    stop: TourStop, shipped: Catalogue
) -> None:
    seen, _ = visit(shipped, stop, [stop.hurt] * 5 + [stop.fixed] * 5)
    gain = np.mean(seen[5:]) - np.mean(seen[:5])
    stayed, _ = visit(shipped, stop, [stop.hurt] * 10)
    assert gain > 0.08
    assert np.mean(seen[5:]) - np.mean(stayed[5:]) > 0.05
    env = env_of(stop, shipped)
    gains, _ = switch_gains(stop, env, range(EPISODES))
    assert np.quantile(gains, 0.25) < gain < np.quantile(gains, 0.75)
    assert switch_gains(stop, env, [stop.seed])[0] == pytest.approx(gain)


def test_in_the_false_stability_r_falls_by_far_more_than_s(shipped: Catalogue) -> None:
    stop = next(each for each in STOPS if each.name == "false_stability")
    env = env_of(stop, shipped)
    steps = play_steps(env.reset(market_seeds(7, "tour", EPISODES)), stop.hurt.to_mechanism(), 10)
    r, p, s = (
        [each.field(name).mean() for each in steps]
        for name in ("composite", "participation", "stability")
    )
    assert r[-1] < 0.5 * r[0] and p[-1] < 0.65 * p[0]
    assert s[-1] > 0.75 * s[0]


def rounds_of(
    stop: TourStop, catalogue: Catalogue, mechanisms: list[WireMechanism], index: int
) -> tuple[ArenaRound, list[float], list[int]]:
    """Return a round of the last step, the values in it, and the false names' owners."""
    _, environment = visit(catalogue, stop, mechanisms)
    hidden = reveal(environment)
    return arena(environment).rounds[index], hidden.values[index], hidden.false_names[index]


def test_the_round_shown_is_as_the_text_says(shipped: Catalogue) -> None:
    rounds = {stop.name: rounds_of(stop, shipped, [stop.hurt] * 5, stop.shown) for stop in STOPS}
    shading, values, _ = rounds["bid_shading"]
    won = [seat for seat, units in enumerate(shading.delivered) if units]
    assert len(won) == 3 and 6 in won
    for seat in won:
        assert (shading.paid[seat] < values[seat] - 0.05) == (seat == 6)
    ring, values, _ = rounds["collusion"]
    winners = [value for value, units in zip(values, ring.delivered, strict=True) if units]
    assert ring.price == ring.revenue == 0.0 and sum(each > 0.0 for each in ring.bids) == 2 == len(
        winners
    )
    assert sum(value > max(winners) for value in values) > 1
    walked, values, _ = rounds["strategic_dropout"]
    assert f"{walked.scores['welfare']:.2f}" == "0.68"
    assert values[6] - walked.price == pytest.approx(0.10, abs=0.005)
    order = np.argsort(walked.bids)[::-1]
    assert walked.delivered[order[2]] == 0 and order[2] == 6 and sum(walked.delivered) == 2
    empty, values, _ = rounds["false_stability"]
    absent = [value for value, here in zip(values, empty.present, strict=True) if not here]
    assert len(absent) == 4 and sum(value > empty.price for value in absent) == 1
    clean, values, _ = rounds["transparency_paradox"]
    assert [clean.bids[seat] == values[seat] for seat in range(8)].count(True) == 2
    assert clean.delivered[0] == clean.delivered[2] == 1 and f"{clean.price:.2f}" == "0.14"
    assert all(
        bid < 0.2 * value for bid, value in zip(clean.bids, values, strict=True) if bid < 0.4
    )
    false, _, owners = rounds["false_names"]
    assert owners == [4] and not false.delivered[4] and false.false_bids == [false.price]
    below = max(bid for bid in false.bids if bid < false.price)
    assert (f"{false.price:.2f}", f"{below:.2f}") == ("0.67", "0.62")
    stop = STOPS[5]
    wasted, _, _ = rounds_of(stop, shipped, [stop.hurt] * 5, 4)
    assert max(wasted.false_bids) > wasted.price and sum(wasted.delivered) == 2


@every_stop
def test_the_rounds_compared_show_the_difference(stop: TourStop, shipped: Catalogue) -> None:
    old, better = (
        rounds_of(stop, shipped, [stop.hurt] * 5 + [each] * 5, stop.compared)[0]
        for each in (stop.hurt, stop.fixed)
    )
    assert better.scores["composite"] > old.scores["composite"] + 0.15
    if stop.name == "strategic_dropout":
        assert (sum(old.delivered), sum(better.delivered)) == (1, 3)


def test_a_row_of_the_table_holds_what_was_played(shipped: Catalogue) -> None:
    stop, settings = STOPS[0], EvaluationSettings(episodes=50, resamples=100)
    env = env_of(stop, shipped)
    row = measure(stop, env, settings, seed=0)
    assert row["difference"] == pytest.approx(float(row["fixed"]) - float(row["hurt"]))
    assert 0 < row["difference_low"] < row["difference"] < row["difference_high"]
    assert row["gain_first_quartile"] < row["gain_third_quartile"]
    assert "gain_low" not in row and row["changed"] == "auction_type"


def test_only_what_is_on_offer_can_be_visited() -> None:
    everywhere = {stop.population for stop in STOPS}
    assert tour(everywhere, {"fresh"}) == list(STOPS)
    assert [stop.name for stop in tour({"stage1", "crowd"}, {"fresh"})] == ["bid_shading"]
    assert tour(everywhere, {"strategic", "classic"}) == []
    sealed = Goal(allowed={"auction_type": ("second_price", "vcg")})
    allowed = tour(everywhere, {"fresh"}, sealed)
    assert allowed and "bid_shading" not in [stop.name for stop in allowed]
