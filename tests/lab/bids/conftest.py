"""A small log of first-price sales with values from 0 to 100, and what is made of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from daedalus.design.rewards.stack import RewardStack
from daedalus.lab.bids.assumptions import fit_by_size, sensitivity
from daedalus.lab.bids.diagnostics import diagnose
from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.findings import Findings
from daedalus.lab.bids.verdict import EstimatedMarkets, Judgement, Verdict, policy_in_force
from daedalus.market.interface import MarketSettings
from daedalus.market.parameters import StrategicParameters
from tests.lab.bids.simulated import estimator_of_table, first_price_bids, table_of, uniform

STATIC = MarketSettings(
    episode_length=2,
    rounds_per_step=50,
    scored_rounds=50,
    warmup_rounds=0,
    strategic=StrategicParameters(shock_rate=0.0),
)
REVENUE = RewardStack({"revenue": 1.0})
FIGURES = {name: f"figures/{name}.png" for name in "values densities reserve sensitivity".split()}


def make_estimator(reserve: float | None = None, **settings: object) -> Estimator:
    """Return the estimator of 240 sales with two or three bidders; a reserve leaves sales out."""
    rng = np.random.default_rng(3)
    bids = [100.0 * row for n in (2, 3) for row in first_price_bids(uniform, n, 120, rng)]
    columns = {} if reserve is None else {"reserve": [reserve] * len(bids)}
    return estimator_of_table(table_of(bids, **columns), resamples=20, **settings)


@pytest.fixture(scope="session")
def estimator() -> Estimator:
    return make_estimator()


@pytest.fixture(scope="session")
def estimate(estimator: Estimator) -> Estimate:
    return estimator.estimate()


@pytest.fixture(scope="session")
def samples(estimator: Estimator) -> list[Estimate]:
    return list(estimator.bootstrap(np.random.default_rng(0)))


@pytest.fixture(scope="session")
def checks(estimator: Estimator, estimate: Estimate, samples: list[Estimate]) -> pd.DataFrame:
    return diagnose(estimator, estimate, samples, np.random.default_rng(1))


@pytest.fixture(scope="session")
def markets(estimate: Estimate) -> EstimatedMarkets:
    return EstimatedMarkets(estimate, STATIC, REVENUE, 0)


def judge(estimate: Estimate, estimator: Estimator) -> Judgement:
    in_force = policy_in_force(estimator).mechanism
    return Judgement.of(
        EstimatedMarkets(estimate, STATIC, REVENUE, 0), in_force, in_force, {}, 1, "judge"
    )


@pytest.fixture(scope="session")
def judgements(samples: list[Estimate], estimator: Estimator) -> list[Judgement]:
    return [judge(each, estimator) for each in samples]


@pytest.fixture(scope="session")
def verdict(estimate: Estimate, estimator: Estimator, judgements: list[Judgement]) -> Verdict:
    in_force = policy_in_force(estimator)
    judgement = judge(estimate, estimator)
    return Verdict.of(in_force, in_force.mechanism, judgement, judgements, estimator, 0.95)


@pytest.fixture(scope="session")
def findings(
    estimator: Estimator, estimate: Estimate, samples: list[Estimate], verdict: Verdict,
    judgements: list[Judgement], checks: pd.DataFrame,
) -> Findings:  # fmt: skip
    row = {"designer": "search", "sets": "its own", "result": 50.0}
    designers = pd.DataFrame([row | {"gain": 3.0, "gain_low": 1.0, "gain_high": 5.0}])
    fit, table = fit_by_size(estimator, estimate), sensitivity(estimator, estimate, verdict)
    return Findings(
        estimator, estimate, samples, verdict, judge(estimate, estimator), judgements, designers,
        fit, table, "revenue", True, 0.95, checks,
    )  # fmt: skip
