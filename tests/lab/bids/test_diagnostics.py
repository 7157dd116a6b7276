"""Checks fail where an assumption does, and pass where all hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from daedalus.lab.bids.diagnostics import FAMILY, diagnose, failed
from daedalus.lab.bids.log import BidLog
from daedalus.lab.bids.screens import Residuals, independent_parts
from tests.lab.bids.faulty import common_value_bids, named, ring_bids, shared_bids, strong_table
from tests.lab.bids.simulated import (
    binding_table,
    estimator_of_table,
    first_price_bids,
    table_of,
    uniform,
)

COUNTED = "All who could have come are counted as rivals."
TOLD = "The reserve is told before the sale, and is the same rule for all sales."
BLIND = "Bidders do not know who came."
ALONE, TOGETHER = "Bidders decide alone, apart from what all of them know.", "No two bidders bid"
PRIVATE, ALIKE = "Values do not depend on who comes.", "Bidders are alike."
ROUNDED, CHANCE = "Bids are not rounded.", "Bids of a sale differ by chance."
RISE, STEP = "Bids rise with the number of bidders.", "Winners stop one step above the second bid."


def checks_of(table: pd.DataFrame, seed: int = 0, **settings: object) -> pd.DataFrame:
    """Return the checks of a log, by the assumption."""
    estimator = estimator_of_table(table, resamples=20, **settings)
    samples = list(estimator.bootstrap(np.random.default_rng(seed)))
    found = diagnose(estimator, estimator.estimate(), samples, np.random.default_rng(seed))
    return found.set_index("check")


def fails(table: pd.DataFrame, **settings: object) -> list[str]:
    return list(failed(checks_of(table, **settings)).index)


def rows(bids: Sequence[np.ndarray]) -> pd.DataFrame:
    return table_of([row for each in bids for row in each])


def test_a_log_without_a_fault_passes(checks: pd.DataFrame) -> None:
    assert not len(failed(checks))
    assert checks["what"].str.len().min() > 10 and checks["changes"].str.len().min() > 10
    assert checks["p"].dropna().between(0.0, 1.0).all()
    assert set(checks["result"]) <= {"passes", "told", "not tested"}


def test_a_ring_that_covers_its_bid_is_seen() -> None:
    found = checks_of(rows([ring_bids(100, np.random.default_rng(0))]))
    assert found.loc[ALONE, "fails"] and "higher than estimated" in found.loc[ALONE, "changes"]
    level = np.exp(0.3 * np.random.default_rng(1).normal(size=(100, 1)))
    assert ALONE in fails(rows([level * ring_bids(100, np.random.default_rng(0))]))


def test_members_of_a_ring_are_named() -> None:
    bids = ring_bids(100, np.random.default_rng(2))
    found = checks_of(named(bids, np.tile(list("ABCD"), (100, 1))))
    (row,) = [name for name in found.index if name.startswith(TOGETHER)]
    assert found.loc[row, "fails"]
    assert found.loc[row, "what"][:7] in ("A and B", "A and C", "B and C")


def test_stronger_bidders_are_seen_by_their_names() -> None:
    table = strong_table(150, 1.7, np.random.default_rng(0))
    assert ALIKE in fails(table)
    unnamed = checks_of(table.drop(columns="bidder")).loc[ALIKE]
    assert unnamed["result"] == "not tested" and "takes names" in unnamed["what"]


def test_names_are_no_fault() -> None:
    assert not fails(strong_table(100, 1.0, np.random.default_rng(0)))


@pytest.mark.parametrize(("step", "matters"), [(0.1, True), (0.001, False)])
def test_rounding_fails_where_it_matters(step: float, matters: bool) -> None:
    bids = [first_price_bids(uniform, n, 60, np.random.default_rng(n)) for n in (2, 3)]
    found = checks_of(rows([np.maximum(np.rint(each / step), 1.0) * step for each in bids]))
    assert found.loc[ROUNDED, "fails"] == matters and f"{step:g}" in found.loc[ROUNDED, "what"]


def test_common_values_are_seen_where_numbers_of_bidders_differ() -> None:
    rng = np.random.default_rng(0)
    found = checks_of(rows([common_value_bids(n, 120, rng) for n in (2, 4)]))
    assert found.loc[PRIVATE, "fails"] and found.loc[PRIVATE, "statistic"] < 0
    one = checks_of(rows([common_value_bids(3, 60, rng)]))
    assert not one.loc[PRIVATE, "fails"] and "one number" in one.loc[PRIVATE, "what"]


def test_bids_that_fall_with_the_number_of_bidders_are_seen() -> None:
    rng = np.random.default_rng(0)
    bids = [first_price_bids(uniform, 3, 60, rng), 0.6 * first_price_bids(uniform, 3, 60, rng)]
    bids[1] = np.hstack([bids[1], 0.6 * first_price_bids(uniform, 3, 60, rng)[:, :1]])
    assert RISE in fails(rows(bids))


def test_what_bidders_share_fails_only_where_it_is_not_taken_out() -> None:
    rng = np.random.default_rng(0)
    table = rows([shared_bids(n, 100, 0.6, rng) for n in (2, 3)])
    kept, taken = checks_of(table, common_part=False), checks_of(table)
    assert kept.loc[CHANCE, "fails"] and "common_part=true" in kept.loc[CHANCE, "changes"]
    assert not taken.loc[CHANCE, "fails"] and taken.loc[CHANCE, "statistic"] > 0.1


def test_winners_of_a_clock_that_jump_are_seen() -> None:
    values = np.sort(np.random.default_rng(0).random((100, 3)) + 0.5, axis=1)
    clean = values.copy()
    clean[:, 2] = 1.01 * values[:, 1]
    assert not fails(rows([clean]), format="ascending", increment=0.01)
    assert fails(rows([values]), format="ascending", increment=0.01) == [STEP]


def test_checks_depend_on_their_seed_and_not_on_the_order_of_rows() -> None:
    table = strong_table(60, 1.2, np.random.default_rng(0))
    first, again = checks_of(table, 3), checks_of(table.sample(frac=1.0, random_state=1), 3)
    pd.testing.assert_frame_equal(first, again)
    assert not first["p"].equals(checks_of(table, 4)["p"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: [first_price_bids(uniform, n, 60, rng) for n in (2, 3, 4)],
        lambda rng: [shared_bids(n, 60, 0.6, rng) for n in (3, 4)],
    ],
)
def test_few_logs_without_a_fault_fail(
    make: Callable[[np.random.Generator], list[np.ndarray]],
) -> None:
    count = 60
    bad = sum(bool(fails(rows(make(np.random.default_rng([9, seed]))))) for seed in range(count))
    assert bad <= 2.5 * FAMILY * count


@pytest.mark.parametrize(
    ("asked", "said"),
    [(None, "stays in them, because the format causes a part"), (True, "as bid_log.common_part")],
)
def test_what_ascending_bids_have_in_common_is_explained(asked: bool | None, said: str) -> None:
    bids = list(np.sort(np.random.default_rng(0).uniform(1.0, 2.0, (80, 3)), axis=1))
    found = checks_of(table_of(bids), format="ascending", common_part=asked)
    assert found["what"].str.contains(said, regex=False).sum() == 1


def test_a_reserve_that_keeps_unknown_numbers_away_fails() -> None:
    """Bids begin at the reserve; with four potential bidders all are counted, with others not."""
    four, mixed = (binding_table(potential) for potential in ((4, 4), (2, 9)))
    counted, unknown = checks_of(four), checks_of(mixed)
    assert not counted.loc[COUNTED, "fails"] and unknown.loc[COUNTED, "fails"]
    assert "4 bidders are counted" in counted.loc[COUNTED, "what"]


def test_bidders_who_saw_who_came_are_found_out() -> None:
    """Their bids rise with the number who came; those of others do not."""
    tables = [binding_table((4, 4), sees=sees) for sees in (False, True)]
    blind, seeing = (checks_of(each, potential_bidders=4) for each in tables)
    assert not blind.loc[BLIND, "fails"] and seeing.loc[BLIND, "fails"]
    assert "4 bidders are counted" in seeing.loc[COUNTED, "what"]


def test_bids_that_fall_with_the_number_who_came_have_another_reason() -> None:
    table = binding_table((4, 4))
    came = table.groupby("auction")["bid"].transform("size")
    table["bid"] = 0.5 + (table["bid"] - 0.5) / came
    found = checks_of(table, potential_bidders=4).loc[BLIND]
    assert found["fails"] and "collude where many come" in found["changes"]


@pytest.mark.parametrize("kind", ["first_price", "second_price"])
def test_a_secret_reserve_is_seen_in_first_price(kind: str) -> None:
    """Nobody bids below a reserve that is told, but no check failed."""
    rng = np.random.default_rng(0)
    bids = [row for n in (2, 3) for row in first_price_bids(uniform, n, 60, rng)]
    secret = checks_of(table_of(bids, reserve=[0.2] * 120), format=kind).loc[TOLD]
    assert secret["fails"] == (kind == "first_price")
    if kind == "first_price":
        assert "seems to be secret" in secret["changes"] and "of bids are below" in secret["what"]
        told = checks_of(binding_table((4, 4))).loc[TOLD]
        assert told["result"] == "told" and told["statistic"] == 0.0


@pytest.mark.parametrize("rare", [1, 2])
def test_sizes_of_few_sales_do_not_hide_what_others_tell(rare: int) -> None:
    """One sale has no variance, so the score of all was none, with a p of 1."""
    level = np.exp(np.random.default_rng(1).normal(size=(100 + rare, 1)))
    bids = list(level[:100] * ring_bids(100, np.random.default_rng(0)))
    log = Residuals.of(*_log_and_design([*bids, *level[100:] * np.array([1.0, 2.0, 2.5])]))
    plain = Residuals.of(*_log_and_design(bids))
    for found, alone in zip(independent_parts(log), independent_parts(plain), strict=True):
        assert found is not None and alone is not None
        assert found.statistic == pytest.approx(alone.statistic)
        assert found.p == pytest.approx(alone.p)


def _log_and_design(bids: Sequence[np.ndarray]) -> tuple[BidLog, np.ndarray]:
    """Return sales in which all come who could, as where a reserve binds; nothing is left out."""
    table = table_of(bids)
    number = table["auction"].factorize()[0]
    sizes = np.bincount(number)
    sales = pd.DataFrame({"bidders": sizes})
    log = BidLog("log", "first_price", table["bid"].to_numpy(), number, sales, pd.DataFrame())
    return log, (sizes[:, None] == np.unique(sizes)).astype(np.float64)


def with_common_part(table: pd.DataFrame, deviation: float = 0.4) -> pd.DataFrame:
    """Return sales with a reserve of 1/2 in whose bids a part above it is common."""
    number = table["auction"].factorize()[0]
    level = np.exp(deviation * np.random.default_rng(0).normal(size=number.max() + 1))[number]
    return table.assign(bid=0.5 + (table["bid"] - 0.5) * level)


def test_a_setting_that_would_change_nothing_is_not_advised() -> None:
    """Behind a reserve with known rivals nothing is taken out, whatever the setting says."""
    found = checks_of(with_common_part(binding_table((4, 4)), 1.0), potential_bidders=4).loc[CHANCE]
    assert found["fails"] and "common_part" not in found["changes"]


@pytest.mark.slow
def test_a_common_part_that_a_reserve_cuts_off_is_told() -> None:
    """Where nobody knows how many stayed away, what bids share is taken out all the same."""
    shared = with_common_part(binding_table((2, 9)))
    told = "What bids share is taken out, though the reserve cuts it off"
    assert told in checks_of(shared).loc[COUNTED, "changes"]
    assert told not in checks_of(shared, common_part=False).loc[COUNTED, "changes"]
