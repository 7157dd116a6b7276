"""Reward terms by hand, and their weighted stack."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.design.rewards.stack import RewardStack
from daedalus.design.rewards.terms import MARKET_TERMS, TEXT_TERMS, mean_over_rounds
from daedalus.launch.config.compose import compose_config
from daedalus.market.mechanism import Mechanism
from daedalus.market.outcome import ROUND_FIELDS, Outcome
from daedalus.market.parsing import format_mechanism, parse_mechanism

VALID = parse_mechanism(format_mechanism(Mechanism()))
PROSE = parse_mechanism("a second-price auction, please")
TWO_WRONG = parse_mechanism(
    format_mechanism(Mechanism()).replace("0.1,", "2,").replace('"allow"', '"forbid"')
)


def outcome(rows: int, rounds: int = 3) -> Outcome:
    shape = (rows, rounds, len(ROUND_FIELDS))
    return Outcome(np.random.default_rng(rows).uniform(size=shape), np.arange(rows) % 3 + 1)


def column(records: Outcome, name: str) -> np.ndarray:
    return records.records[:, :, ROUND_FIELDS.index(name)]


def test_terms_go_to_the_valid_completions_in_order():
    stack = RewardStack({"format": 1.0, "schema": 1.0, "welfare": 2.0, "composite": 0.5})
    played = outcome(2)
    terms = stack.terms([PROSE, VALID, TWO_WRONG, VALID], played)
    welfare, composite = column(played, "welfare").mean(1), column(played, "composite").mean(1)
    assert list(terms) == ["format", "schema", "welfare", "composite"]
    assert_array_equal(terms["format"], [0, 1, 0, 1])
    assert_allclose(terms["schema"], [0, 1, 9 / 11, 1])
    assert_allclose(terms["welfare"], [0, welfare[0], 0, welfare[1]])
    assert_allclose(terms["composite"], [0, composite[0], 0, composite[1]])
    expected = terms["format"] + terms["schema"] + 2 * terms["welfare"] + terms["composite"] / 2
    assert_allclose(stack.total(terms), expected)


def test_each_valid_completion_averages_over_its_own_futures():
    played = outcome(6)
    terms = RewardStack({"stability": 1.0}).terms([VALID, PROSE, VALID], played)
    futures = column(played, "stability").mean(axis=1)
    assert_allclose(terms["stability"], [futures[:3].mean(), 0, futures[3:].mean()])


def test_no_valid_completion_scores_nothing_in_the_market():
    stack = RewardStack({"composite": 1.0, "schema": 0.1})
    terms = stack.terms([PROSE, TWO_WRONG], outcome(0))
    assert_array_equal(terms["composite"], 0)
    assert_allclose(stack.total(terms), [0, 0.1 * 9 / 11])


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf])
def test_a_weight_that_is_not_finite_is_refused(weight):
    with pytest.raises(ValueError, match=rf"weights\.welfare: {weight}"):
        RewardStack({"welfare": weight})


def test_an_unknown_term_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"weights\.luck") as caught:
        RewardStack({"welfare": 1.0, "luck": 1.0})
    assert all(name in str(caught.value) for name in [*MARKET_TERMS, *TEXT_TERMS])


@pytest.mark.parametrize("weights", [{}, {"welfare": 0.0}, {"welfare": 0.0, "format": -0.0}])
def test_a_stack_without_weight_is_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        RewardStack(weights)


def test_mechanisms_without_a_text_are_paid_as_valid_texts():
    stack = RewardStack({"format": 1.0, "schema": 0.5, "welfare": 2.0, "composite": 1.0})
    played = outcome(3)
    written = stack.total(stack.terms([VALID] * 3, played))
    assert_allclose(stack.of_mechanisms(played), written, rtol=1e-14)
    assert stack.of_mechanisms(outcome(0)).shape == (0,)


@pytest.mark.parametrize(
    ("weights", "name"),
    [
        ({"composite": 1.0}, "R"),
        ({"composite": 1.0, "welfare": 0.0}, "R"),
        ({"composite": 1.0, "format": 1.0}, "composite + format"),
        ({"composite": 0.0, "revenue": 1.0}, "revenue"),
        ({"composite": 2.0}, "2 composite"),
        ({"revenue": 0.5, "composite": 0.0, "fairness": -0.25}, "0.5 revenue + -0.25 fairness"),
    ],
)
def test_a_stack_is_named_by_its_weights(weights: dict[str, float], name: str) -> None:
    assert RewardStack(weights).name == name
    assert RewardStack(weights).is_composite == (name == "R")


@pytest.mark.parametrize(
    ("file", "weights"),
    [
        ("composite", {"composite": 1.0}),
        ("revenue", {"revenue": 1.0}),
        ("welfare", {"welfare": 1.0}),
        ("surplus", {"consumer_surplus": 1.0}),
        ("balanced", {"revenue": 0.5, "fairness": 0.25, "participation": 0.25}),
    ],
)
def test_each_file_names_its_terms_alone(file: str, weights: dict[str, float]) -> None:
    found = compose_config("+experiment=boxplot", f"reward={file}").reward.weights
    assert {name: weight for name, weight in found.items() if weight} == weights


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
