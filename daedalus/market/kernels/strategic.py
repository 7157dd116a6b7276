"""The strategic market's loop over episodes and rounds.

The sequence of a round and every rule are told in docs/market.md. Nothing here checks its input:
``daedalus/market/strategic.py`` does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.market.auction import AWARD, OFFER, RANKED, clear
from daedalus.market.draws import round_key
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.jit.compilation import (
    Flags,
    Floats,
    Integers,
    Record,
    Records,
    allocating_kernel,
    kernel,
    threaded_kernel,
)
from daedalus.market.kernels.accounts import record_account, record_truth
from daedalus.market.kernels.bidding import bid, price_is_public
from daedalus.market.kernels.highest_amounts import NOTHING, total_of, with_amount
from daedalus.market.kernels.learning import (
    learn_action_values,
    learn_bidding,
    learn_expected_surplus,
)
from daedalus.market.kernels.records import SEAT, Round
from daedalus.market.kernels.rings import sell_with_rings
from daedalus.market.kernels.settlement import pay_shill_bidders, settle
from daedalus.market.outcome import PRICE, REVENUE, WELFARE


@kernel
def _highest_bids(current: Round, offers: Records, ranking: Records, count: int) -> float:
    """Return the sum of the K highest bids, also of those below the reserve."""
    if count >= current.units:
        total = 0.0
        for place in range(current.units):
            total += ranking[place].bid
        return total
    highest = NOTHING
    for i in range(len(offers)):
        offer = offers[i]
        highest = with_amount(with_amount(highest, offer.one), offer.two)
        highest = with_amount(highest, offer.alias)
    return total_of(highest, current.units)


@kernel
def _remember(
    offers: Records, bids_before: Floats, bids_now: Floats, second_bids: Floats, aliases: Floats
) -> None:
    """Put the offers of a round where the next one, and a designer, see them."""
    for i in range(len(offers)):
        bids_before[i] = bids_now[i]
        bids_now[i], second_bids[i] = offers[i].one, offers[i].two
        aliases[i] = offers[i].alias


@allocating_kernel
def _play_episode(
    parameters: Record,
    types: Records,
    mechanism: Record,
    seed: np.uint64,
    n: int,
    units: int,
    played: int,
    bidders: Records,
    rings: Records,
    tables: Floats,
    expected_price: float,
    welfares: Floats,
    seen_welfares: Floats,
    wins: Integers,
    prices: Floats,
    sightings: Floats,
    bids_before: Floats,
    bids_now: Floats,
    second_bids: Floats,
    aliases: Floats,
    records: Floats,
    accounts: Floats,
) -> float:
    """Play all rounds of one episode; return the price that false names aim at next.

    Its n bidders have the first rows of the arrays; the others are left as they are.
    """
    auction_format, reserve = mechanism.auction_type, mechanism.reserve_price
    seats, offers, deal = np.zeros(n, SEAT), np.zeros(n, OFFER), np.zeros(n, OFFER)
    ranking, trial_ranking = np.zeros(units + 3, RANKED), np.zeros(units + 3, RANKED)
    awards, trial = np.zeros(2 * n, AWARD), np.zeros(2 * n, AWARD)
    screened, payoffs = np.zeros(len(rings)), np.zeros(tables.shape[1])
    amounts, order, unit_order = np.zeros(n), np.arange(n), np.arange(n)
    bids, everyone = np.zeros(2 * n), np.ones(2 * n, np.bool_)
    forgotten = len(records) - len(accounts)
    for r in range(len(records)):
        record, account = records[r], accounts[max(r - forgotten, 0)]
        key = round_key(seed, played)
        current = Round(parameters, mechanism, units, key, played)
        shills = bid(current, types, bidders, seats, offers, tables, expected_price)
        count, price = sell_with_rings(
            current, types, bidders, seats, offers, rings, screened, ranking, awards, deal,
            trial_ranking, trial,
        )  # fmt: skip
        learn_bidding(
            current, types, bidders, seats, offers, tables, ranking, awards, count, price, payoffs
        )
        value, revenue = settle(current, types, bidders, seats, offers, awards, screened)
        best = _highest_bids(current, offers, ranking, count)
        if shills > 0:
            clear(auction_format, units, reserve, key, offers, False, trial_ranking, trial)
            pay_shill_bidders(current, bidders, seats, offers, awards, trial, shills)
        learn_expected_surplus(current, bidders, seats, price)
        if tables.shape[1] > 0:
            learn_action_values(current, types, bidders, seats, offers, tables)
        if price > 0.0 and price_is_public(mechanism):
            expected_price += parameters.price_gain * (price - expected_price)
        record[WELFARE], record[REVENUE], record[PRICE] = value, revenue, price
        record_truth(current, bidders, seats, offers, awards, welfares, order, amounts, record)
        record_account(
            current, bidders, seats, offers, best, wins, seen_welfares, sightings, unit_order,
            amounts, bids, everyone, record, account,
        )  # fmt: skip
        _remember(offers, bids_before, bids_now, second_bids, aliases)
        prices[played % HISTORY_LENGTH] = price
        played += 1
    return expected_price


@threaded_kernel
def play_rounds(
    parameters: Records,
    types: Records,
    mechanisms: Records,
    seeds: NDArray[np.uint64],
    sizes: Integers,
    units: Integers,
    rounds: Integers,
    bidders: Records,
    rings: Records,
    tables: Floats,
    expected_price: Floats,
    welfare: Floats,
    seen_welfare: Floats,
    wins: Integers,
    prices: Floats,
    sightings: Floats,
    previous_bids: Floats,
    bids: Floats,
    second_bids: Floats,
    aliases: Floats,
    active: Flags,
    records: Floats,
    accounts: Floats,
) -> None:
    """Play ``records.shape[1]`` rounds in every episode.

    Changes in place the state arrays ``rounds`` to ``active`` and fills ``records``. ``accounts``
    may hold fewer rounds: those are the last ones.
    """
    for e in range(len(seeds)):
        expected_price[e] = _play_episode(
            parameters[0], types, mechanisms[e], seeds[e], sizes[e], units[e], rounds[e],
            bidders[e], rings[e], tables[e], expected_price[e], welfare[e], seen_welfare[e],
            wins[e], prices[e], sightings[e], previous_bids[e], bids[e], second_bids[e],
            aliases[e], records[e], accounts[e],
        )  # fmt: skip
        rounds[e] += records.shape[1]
        if records.shape[1] > 0:
            for i in range(bids.shape[1]):
                active[e, i] = bids[e, i] > 0.0
