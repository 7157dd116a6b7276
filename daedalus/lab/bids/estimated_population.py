"""The population of an estimate, and a file of it that the user can read and edit."""

from __future__ import annotations

import textwrap
from typing import Any

from omegaconf import OmegaConf

from daedalus.lab.bids.estimator import Estimate
from daedalus.lab.bids.log import BidLog
from daedalus.lab.theory.distributions import Numbers
from daedalus.market.population import BidderType, Population
from daedalus.market.value_distribution import ValueDistribution

_WIDTH = 98
_BEHAVIOUR: dict[str, Any] = {
    "menu": ["shade"], "demand": 1, "rivals": None, "learning_rate": 0.0,
}  # fmt: skip


def scale_of(values: Numbers) -> float:
    """Return the level that is 1 in the market: the highest value of a table of quantiles."""
    return float(values[-1])


def population_of(values: Numbers, bidders: int) -> Population:
    """Return a population that sells one unit to bidders with estimated values.

    In first price they bid the equilibrium against rivals like them, and they do not learn: the
    estimate rests on this belief.

    Args:
        values: Quantiles of values in levels, shape (K,). The highest becomes 1.
        bidders: Number of bidders.
    """
    table = [round(float(each), 6) for each in values / scale_of(values)]
    shown = ValueDistribution(family="quantiles", quantiles=table)
    bidder = BidderType(**_BEHAVIOUR, values=shown)
    return Population(bidders=bidders, units=1, types={"bidder": bidder})


def population_file(estimate: Estimate, log: BidLog) -> str:
    """Return the text of a population file with the estimate."""
    settings: dict[str, Any] = {
        "name": log.population,
        "strategic": {
            "bidders": estimate.typical_bidders,
            "units": 1,
            "types": {
                "truthful": {"share": 0.0},
                "bidder": {"share": 1.0, **_BEHAVIOUR, "values": {"family": "quantiles"}},
            },
        },
        "classic": None,
    }
    text = OmegaConf.to_yaml(OmegaConf.create(settings))
    table = population_of(estimate.values, 2).types["bidder"].values
    assert table is not None
    assert table.quantiles is not None
    listed = ", ".join(f"{each:g}" for each in table.quantiles)
    rows = textwrap.wrap(listed, _WIDTH, initial_indent=" " * 10, subsequent_indent=" " * 10)
    head = "family: quantiles\n"
    block = "\n".join([f"{' ' * 8}quantiles: [", *rows, f"{' ' * 8}]"])
    return _comment(estimate, log) + text.replace(head, f"{head}{block}\n")


def _comment(estimate: Estimate, log: BidLog) -> str:
    shares = ", ".join(f"{size}: {100 * share:.1f} %" for size, share in estimate.shares.items())
    lines = [
        f"Bidders of the log {log.name}: values estimated from {len(log.bids):,} bids in "
        f"{len(log.sales):,} sales ({log.format}).",
        f"A value of 1 is {scale_of(estimate.values):.4g} times the usual bid of a sale, which is "
        f"{estimate.money:,.6g} on average in the money of the log.",
        f"Share of the sales by number of bidders: {shares}. bidders holds the mean.",
        "To play it: python run.py --config-dir RUN +experiment=boxplot "
        f"population={log.population}, with the path of the run's folder. Or copy this file to "
        "conf/population/.",
    ]
    wrapped = (textwrap.wrap(line, _WIDTH) for line in lines)
    return "".join(f"# {line}\n" for each in wrapped for line in each)
