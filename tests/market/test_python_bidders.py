"""Bidders written in Python play the strategic market as its own bidders do."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.design.env import DesignEnv
from daedalus.design.search.portfolio import sampled_envs
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import AUCTION_TYPES, FLAGS, Mechanism, Mechanisms
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.python_bidders import PlayedMarket
from daedalus.market.ranges import Ranges
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket, StrategicState
from daedalus.market.value_distribution import ValueDistribution
from daedalus.market.views import View
from tests.market.reference_values import Values
from tests.market.states import assert_refused, assert_same_state
from tests.market.strategic_markets import COMMON, by_hedge_and_q, mixed
from tests.populations import draw_mechanisms, seat_plan

TRUTHFUL, BATCH = BidderType(), 6
SEEDS = market_seeds(3, "players", BATCH)
NEVER_REDUCES = StrategicParameters(reduction_prior=1.0)


class Truthful:
    def bid(self, view: View):
        return view.values


class Equilibrium:
    """In first price it bids the equilibrium among bidders like it, and elsewhere its values."""

    def __init__(self, who: BidderType = TRUTHFUL) -> None:
        self.values = Values(who)

    def bid(self, view: View):
        if view.auction_type != "first_price":
            return view.values
        known = view.reserve or 0.0
        return [self.values.shaded(each, view.bidders - 1, known) for each in view.values]


class Says:
    """It gives one answer, and keeps the views that it was shown, for the tests alone."""

    def __init__(self, answer) -> None:
        self.answer, self.views = answer, []

    def bid(self, view: View):
        self.views.append(view)
        return self.answer


class Follower:
    """It bids by all that it is told of the last rounds, and mixes."""

    def bid(self, view: View):
        if view.draw < 0.2:
            return 0.0
        seen = [0.5 * view.draw]
        for past in view.past:
            seen += [past.net, past.units, past.paid, *past.bids, *past.values]
            seen += [past.price or 0.0, *(past.other_bids or ()), *(past.summary or ())]
            seen += past.winners or ()
        return min(abs(np.sin(np.sum(seen))), 1.0) * view.values[0]


def both(who: Population, players, parameters=None, seeds=SEEDS):
    """Return the market with players and without, each with its fresh state."""
    markets = PlayedMarket(who, players, parameters), StrategicMarket(who, parameters)
    return [(market, market.reset(seeds)) for market in markets]


def assert_same_market(who: Population, players, mechanisms, parameters=None, atol=0.0):
    """Play both markets; records, observations and all state but the tables agree."""
    (played, ours), (fast, theirs) = both(who, players, parameters)
    for rules in mechanisms:
        records = [played.play(ours, rules, 9).records, fast.play(theirs, rules, 9).records]
        assert_allclose(*records, rtol=0, atol=atol)
    seen, expected = played.observe(ours), fast.observe(theirs)
    assert_allclose(seen.history.rounds(), expected.history.rounds(), rtol=0, atol=atol)
    assert_allclose(seen.proxies, expected.proxies, rtol=0, atol=10 * atol)
    for field in dataclasses.fields(StrategicState):
        array, other = getattr(ours, field.name), getattr(theirs, field.name)
        if field.name in ("bidders", "rings"):
            for name in array.dtype.names:
                assert_allclose(array[name], other[name], rtol=0, atol=atol, err_msg=name)
        elif field.name not in ("tables", "history"):
            assert_allclose(array, other, rtol=0, atol=atol, err_msg=field.name)


def some_rules(seed: int = 0, count: int = 3) -> list[Mechanisms]:
    rng = np.random.default_rng(seed)
    return [draw_mechanisms(BATCH, rng) for _ in range(count)]


# --------------------------------------------------------------------- the fast market's numbers


@pytest.mark.parametrize("units", [1, 3])
def test_players_that_bid_their_values_are_truthful_bidders(units):
    who = Population(units=units, types={"truthful": TRUTHFUL, "one": BidderType(demand=1)})
    assert_same_market(who, {"truthful": Truthful(), "one": Truthful()}, some_rules())


@pytest.mark.parametrize("name", ["exponential", "mixture"])
def test_players_are_told_values_of_any_distribution(name):
    shape = {"exponential": {"mean": 0.3}, "mixture": {"parts": [[1, 0, 0.4], [2, 0.6, 1]]}}[name]
    values = ValueDistribution(name, **shape)
    types = {"odd": BidderType(values=values, value_low=0.2, value_high=0.9)}
    assert_same_market(Population(types=types), {"odd": Truthful()}, some_rules())


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
@pytest.mark.parametrize("told", [False, True])
def test_players_that_bid_the_equilibrium_are_shading_bidders(auction_type, units, told):
    shader = BidderType(menu=["shade"], rivals=None, learning_rate=0.0)
    who = Population(bidders=5, units=units, types={"shader": shader})
    rules = Mechanism(auction_type, reserve_price=0.2, reveal_reserve=told)
    batch = [Mechanisms.repeat(rules, BATCH)]
    assert_same_market(who, {"shader": Equilibrium()}, batch, NEVER_REDUCES, atol=1e-12)


@pytest.mark.parametrize("units", [1, 3])
def test_players_reach_the_equilibrium_of_other_values(units):
    values = ValueDistribution("quantiles", quantiles=[0.1, 0.2, 0.3, 0.9])
    shader = BidderType(menu=["shade"], rivals=None, learning_rate=0.0, values=values)
    who = Population(bidders=4, units=units, types={"shader": shader})
    rules = Mechanisms.repeat(Mechanism("first_price", 0.15, reveal_reserve=True), BATCH)
    assert_same_market(who, {"shader": Equilibrium(shader)}, [rules], atol=1e-9)


@pytest.mark.parametrize(
    "who",
    [
        mixed(*COMMON),
        dataclasses.replace(mixed(*COMMON), concentration=1.0),
        dataclasses.replace(mixed(*COMMON), ranges=Ranges(bidders=[3, 12], units=[1, 5])),
        Population(bidders=12, types=by_hedge_and_q().types | {"truthful": TRUTHFUL}),
    ],
    ids=["common", "shares drawn", "sizes drawn", "by Hedge and Q-learning"],
)
def test_other_bidders_play_on_beside_players(who):
    assert_same_market(who, {"truthful": Truthful()}, some_rules())
    (played, ours), (fast, theirs) = both(who, {"truthful": Truthful()})
    for market, state in ((played, ours), (fast, theirs)):
        market.play(state, some_rules()[0], 20)
    width = theirs.tables.shape[2]
    others = ours.bidders["kind"] != list(who.types).index("truthful")
    assert_array_equal(ours.tables[others][:, :width], theirs.tables[others])


def test_a_player_takes_the_place_of_its_type_s_menu():
    """It joins no ring and uses no false name; the rings of other types keep their numbers."""
    who = mixed("colluder", "exploiter", "discreet", bidders=9)
    market = PlayedMarket(who, {"colluder": Truthful(), "exploiter": Truthful()})
    state = market.reset(SEEDS)
    assert state.rings.shape[1] == 1
    market.play(state, Mechanisms.repeat(Mechanism(), BATCH), 30)
    assert not state.alias_bids.any()
    assert {each.habits for each in market.unmask(state)[:6]} == {()}


def test_a_budget_caps_bids():
    """Four bidders pay 0.9 each, and bid the tenth that is left."""
    types = {"poor": BidderType(budget=1.0), "rival": TRUTHFUL}
    player = Says([0.9, 0.9])
    market = PlayedMarket(Population(types=types), {"poor": player, "rival": Says(0.5)})
    state = market.reset(SEEDS)
    market.play(state, Mechanisms.repeat(Mechanism("first_price", 0.0), BATCH), 30)
    poor = state.bidders[state.bidders["kind"] == 0]
    assert_allclose(poor["spent"], 0.9)
    assert not poor["pacing"].any()
    assert player.views[0].money == 1.0
    assert player.views[-1].money == pytest.approx(0.1)
    assert {len(past.bids) for past in player.views[-1].past} == {2}
    assert all(sum(past.bids) <= 1.0 for view in player.views for past in view.past)


def test_a_player_withdraws_if_its_type_does():
    leaver = BidderType(menu=["shade", "withdraw"], outside_option=0.5)
    player = Says(0.3)
    market = PlayedMarket(Population(types={"leaver": leaver}), {"leaver": player})
    market.play(market.reset(SEEDS), Mechanisms.repeat(Mechanism("first_price", 0.0), BATCH), 20)
    gains = [past.net for view in player.views for past in view.past if past.units]
    assert min(gains) >= 0.5
    assert player.views[0].money == np.inf


# ------------------------------------------------------------------------------ what a fork holds


def following(batch: int = BATCH):
    who = dataclasses.replace(mixed(*COMMON), ranges=Ranges(bidders=[3, 12], units=[1, 5]))
    market = PlayedMarket(who, {"truthful": Follower(), "shader": Follower()})
    return market, market.reset(SEEDS[:batch])


def test_a_fork_goes_on_like_its_original():
    market, state = following()
    rules = some_rules()
    market.play(state, rules[0], 25)
    fork = state.fork(np.arange(BATCH))
    assert_same_state(fork, state)
    theirs = market.play(fork, rules[1], 12).records
    assert_array_equal(theirs, market.play(state, rules[1], 12).records)
    assert_same_state(fork, state)


def test_an_episode_is_the_same_alone_in_parts_and_in_a_batch():
    market, state = following()
    rules = some_rules()[0]
    records = market.play(state, rules, 25).records
    for row in (0, 5):
        alone = market.reset(SEEDS[row : row + 1])
        parts = [market.play(alone, rules.take(np.array([row])), 5).records for _ in range(5)]
        assert_array_equal(np.concatenate(parts, axis=1)[0], records[row])
        assert_same_state(alone, state.fork(np.array([row])))


def test_a_view_never_changes_another_s():
    class Meddler:
        def bid(self, view: View):
            view.rules["auction_type"] = "first_price"
            return Truthful().bid(view)

    who = Population(types={"a": TRUTHFUL, "b": TRUTHFUL})
    assert_same_market(who, {"a": Meddler(), "b": Truthful()}, some_rules())


# ------------------------------------------------------------------------------- what is disclosed


def bystander_s_views(others: BidderType, rules: Mechanism, rounds: int = 4) -> list[View]:
    """Return what a bidder sees that stays out, beside two others."""
    types = {"bystander": BidderType(share=1), "others": dataclasses.replace(others, share=2)}
    player = Says(0.0)
    market = PlayedMarket(Population(bidders=3, units=2, types=types), {"bystander": player})
    market.play(market.reset(SEEDS[:1]), Mechanisms.repeat(rules, 1), rounds)
    return player.views


SECRET = Mechanism(reserve_price=0.0, reveal_clearing_price=False)
TELLS = {
    "reveal_clearing_price": {"price"},
    "reveal_winner_identity": {"winners"},
    "reveal_competing_bids": {"other_bids"},
    "reveal_bid_distribution": {"summary"},
    "reveal_reserve": set(),
}


@pytest.mark.parametrize("flag", [None, *FLAGS])
def test_each_flag_shows_its_fact_and_no_other(flag):
    rules = SECRET if flag is None else dataclasses.replace(SECRET, **{flag: True})
    views = bystander_s_views(TRUTHFUL, rules)
    assert [view.round for view in views] == [0, 1, 2, 3]
    assert [len(view.past) for view in views] == [0, 1, 2, 3]
    told = {
        name
        for name in ("price", "winners", "other_bids", "summary")
        if getattr(views[-1].past[-1], name) is not None
    }
    assert told == TELLS.get(flag, set())
    assert (views[0].reserve is None) == (flag != "reveal_reserve")


def test_a_bystander_cannot_tell_who_else_is_there_unless_it_is_told():
    mild = BidderType(value_low=0.0, value_high=0.4, demand=1)
    views = [bystander_s_views(each, SECRET) for each in (TRUTHFUL, mild)]
    assert views[0] == views[1]
    for flag in ("reveal_clearing_price", "reveal_competing_bids", "reveal_bid_distribution"):
        open_rules = dataclasses.replace(SECRET, **{flag: True})
        views = [bystander_s_views(each, open_rules) for each in (TRUTHFUL, mild)]
        assert views[0] != views[1], flag


@pytest.mark.parametrize("told", [False, True])
def test_a_secret_reserve_is_in_no_view(told):
    rules = [dataclasses.replace(SECRET, reserve_price=r, reveal_reserve=told) for r in (0.5, 0.6)]
    views = [bystander_s_views(TRUTHFUL, each) for each in rules]
    assert (views[0] == views[1]) is not told
    assert views[0][0].reserve == (0.5 if told else None)


def test_what_is_told_is_true():
    rules = Mechanism(
        "second_price", 0.1, reveal_competing_bids=True, reveal_winner_identity=True,
        reveal_bid_distribution=True,
    )  # fmt: skip
    types = {"me": BidderType(share=1), "others": BidderType(share=2, menu=["shill"])}
    player = Says([0.6, 0.5])
    parameters = StrategicParameters(shock_rate=0.0, shill_prior=1.0)
    market = PlayedMarket(Population(bidders=3, units=2, types=types), {"me": player}, parameters)
    state, rules_now = market.reset(SEEDS[:1]), Mechanisms.repeat(rules, 1)
    false_names = 0
    for _ in range(25):
        wins = state.wins[0].copy()
        market.play(state, rules_now, 1)
        market.play(state.fork(np.arange(1)), rules_now, 1)  # the next round shows the last
        past, won = player.views[-1].past[-1], state.wins[0] - wins
        bids = np.stack([state.bids[0], state.second_bids[0], state.alias_bids[0]])
        others = bids[:, 1:]
        assert past.bids == (0.6, 0.5)
        assert past.other_bids == tuple(sorted(others[others > 0], reverse=True))
        some = bids[bids > 0]
        assert past.summary == pytest.approx((len(some), some.mean(), some.std()))
        assert past.price == state.prices[0, (state.rounds[0] - 1) % HISTORY_LENGTH]
        assert past.winners == tuple(np.flatnonzero(won))
        assert past.units == won[0]
        assert past.paid == pytest.approx(past.units * past.price)
        assert past.net == pytest.approx(sum(past.values[: past.units]) - past.paid)
        false_names += (state.alias_bids[0] > 0).sum()
    assert len(player.views[-1].past) == HISTORY_LENGTH
    assert false_names > 0


def test_a_round_is_told_under_the_rules_that_it_was_played_under():
    shown, player = dataclasses.replace(SECRET, reveal_clearing_price=True), Says(0.5)
    market = PlayedMarket(Population(types={"me": TRUTHFUL, "b": TRUTHFUL}), {"me": player})
    state = market.reset(SEEDS[:1])
    for rules in (shown, SECRET, shown, SECRET):
        market.play(state, Mechanisms.repeat(rules, 1), 1)
    assert [past.price is None for past in player.views[-1].past] == [False, True, False]


class Prepared:
    """It bids what it prepared for, once the market has shown it all views of the round."""

    def __init__(self) -> None:
        self.rounds, self.bids = [], {}

    def prepare(self, views) -> None:
        assert not self.bids
        self.rounds.append(len(views))
        self.bids = {(view.draw, view.bidder): 0.5 * view.values[0] for view in views}

    def bid(self, view: View):
        return self.bids.pop((view.draw, view.bidder))


def test_a_player_that_prepares_sees_all_its_views_of_a_round_before_it_bids():
    who = mixed("truthful", "weak", "shader", bidders=6)
    player = Prepared()
    both_seats = PlayedMarket(who, {"truthful": player, "weak": player})
    state = both_seats.reset(SEEDS)
    rules = Mechanisms.repeat(Mechanism(), BATCH)
    records = both_seats.play(state, rules, 3).records
    assert player.rounds == [4 * BATCH] * 3 and not player.bids

    class Half:
        def bid(self, view: View):
            return 0.5 * view.values[0]

    plain = PlayedMarket(who, {"truthful": Half(), "weak": Half()})
    assert_array_equal(plain.play(plain.reset(SEEDS), rules, 3).records, records)


def test_a_player_without_seats_prepares_nothing():
    absent = mixed("truthful", "shader").types
    absent["truthful"] = dataclasses.replace(absent["truthful"], share=0.0)
    player = Prepared()
    market = PlayedMarket(Population(types=absent), {"truthful": player})
    market.play(market.reset(SEEDS), Mechanisms.repeat(Mechanism(), BATCH), 2)
    assert player.rounds == []


# ------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        ("high", r"players.me: bidder 0 bid 'high'; give a number, or a list of at most 2"),
        ([[0.5], [0.5, 0.1]], "give a number"),
        ([], r"bid \[\]; give one number or two"),
        ([0.3, 0.2, 0.1], "give one number or two"),
        (np.nan, "bid nan; give numbers from 0, to stay out, to 100"),
        (None, "bid None; give numbers from 0"),
        (np.inf, "give numbers from 0"),
        ([0.5, -0.1], r"bid \[0.5, -0.1\]; give numbers from 0"),
        (101, "give numbers from 0"),
        ([0.2, 0.3], "give the higher bid first"),
    ],
)
def test_a_bad_bid_is_named_and_changes_nothing(answer, match):
    class LastMinute:
        def bid(self, view: View):
            return answer if view.round == 3 else 0.5

    market = PlayedMarket(Population(types={"me": TRUTHFUL, "b": TRUTHFUL}), {"me": LastMinute()})
    state = market.reset(SEEDS)
    market.play(state, Mechanisms.repeat(Mechanism(), BATCH), 2)
    assert_refused(market, state, BATCH, 5, match)


@pytest.mark.parametrize(("units", "demand"), [(1, 2), (3, 1)])
def test_who_can_use_one_unit_makes_one_bid(units, demand):
    types = {"me": BidderType(demand=demand)}
    market = PlayedMarket(Population(units=units, types=types), {"me": Says([0.5, 0.2])})
    with pytest.raises(ValueError, match="give one number: it can use one unit"):
        market.play(market.reset(SEEDS), Mechanisms.repeat(Mechanism(), BATCH), 1)


def test_players_that_fit_no_type_are_refused():
    with pytest.raises(ValueError, match="'other' is no type of the population; choose from trut"):
        PlayedMarket(Population(), {"other": Truthful()})
    with pytest.raises(ValueError, match="players: none; give one"):
        PlayedMarket(Population(), {})
    with pytest.raises(ValueError, match=r"players.truthful: a float has no method bid\(view\)"):
        PlayedMarket(Population(), {"truthful": 0.5})
    with pytest.raises(ValueError, match=r"Truthful is a class; give an object, Truthful\(\)"):
        PlayedMarket(Population(), {"truthful": Truthful})
    with pytest.raises(ValueError, match=r"a SimpleNamespace has no method bid\(view\); add one"):
        PlayedMarket(Population(), {"truthful": SimpleNamespace(bid=0.5)})


def test_a_player_without_a_seat_is_refused():
    types = {"mine": BidderType(share=0.05), "rivals": BidderType()}
    for changes in ({}, {"types": types | {"mine": BidderType(share=0.0)}}):
        who = Population(**{"types": types, **changes})
        with pytest.raises(ValueError, match=r"players.mine: its type has none of 8 bidders; give"):
            DesignEnv.of(MarketSettings(), who, players={"mine": Truthful()})
    everyone = Truthful()  # one player may take types that may come to nothing
    DesignEnv.of(MarketSettings(), who, players={"mine": everyone, "rivals": everyone})
    drawn = dataclasses.replace(Population(types=types), concentration=1.0)
    DesignEnv.of(MarketSettings(), drawn, players={"mine": Truthful()})


def test_states_of_other_markets_are_refused():
    market = PlayedMarket(Population(), {"truthful": Truthful()})
    others = [
        StrategicMarket(Population()).reset(SEEDS),
        PlayedMarket(mixed("truthful", "weak"), {"weak": Truthful()}).reset(SEEDS),
        PlayedMarket(Population(bidders=5), {"truthful": Truthful()}).reset(SEEDS),
    ]
    for state in others:
        assert_refused(market, state, BATCH, 1, "state")
    assert_refused(market, market.reset(SEEDS), BATCH, -1, "rounds")


# ------------------------------------------------------------------------------------- designers


def test_an_environment_keeps_its_players_in_another_population():
    """Designers that practise on other compositions meet the same players."""
    players = {"truthful": Says(0.25)}
    env = DesignEnv.of(MarketSettings(), mixed("truthful", "shader"), players=players)
    for each in (
        env,
        env.with_population(mixed("shader", "truthful", bidders=6)),
        *sampled_envs(env, 2, 0, "test"),
    ):
        bids = each.reset(SEEDS[:1]).state.bids
        assert (bids == 0.25).any()
    with pytest.raises(ValueError, match="players: 'truthful' is no type of the population"):
        env.with_population(mixed("shader"))
    with pytest.raises(ValueError, match="players bid in the strategic market alone"):
        DesignEnv.of(MarketSettings(name="classic"), seat_plan(0), players=players)
