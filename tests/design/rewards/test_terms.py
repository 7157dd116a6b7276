"""Reward terms by hand."""

from __future__ import annotations

from numpy.testing import assert_allclose

from daedalus.design.rewards.terms import MARKET_TERMS, mean_over_rounds
from tests.design.rewards.test_stack import column, outcome


def test_market_terms_are_means_over_rounds():
    played = outcome(4)
    expected = {
        "welfare": column(played, "welfare").mean(axis=1),
        "fairness": 1 - column(played, "gini").mean(axis=1),
        "participation": column(played, "participation").mean(axis=1),
        "stability": column(played, "stability").mean(axis=1),
        "composite": column(played, "composite").mean(axis=1),
        "competition": 1 - column(played, "collusion_signal").mean(axis=1),
        "revenue": column(played, "revenue").mean(axis=1) / played.units,
        "consumer_surplus": (
            column(played, "welfare") - column(played, "welfare") * column(played, "revenue_share")
        ).mean(axis=1),
    }
    assert set(MARKET_TERMS) == set(expected)
    for name, values in expected.items():
        assert_allclose(mean_over_rounds(name, played), values, rtol=1e-14, err_msg=name)
