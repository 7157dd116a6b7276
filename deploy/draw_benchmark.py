"""Draw the populations of ``conf/populations/benchmark_2.yaml`` by a rule that was written first.

``python -m deploy.draw_benchmark COMMIT`` prints the file. COMMIT is the hash of the commit that
brought this rule, so nobody could choose the draws. No population is looked at, left out or
exchanged. The rule:

- The first seven have sizes and traits within the ranges of ``world``, the others within those of
  ``wide_world``.
- The number of bidders is log-uniform. Units are uniform from 1 to 5, and fewer than bidders.
- One to four of the seven types take part, all sets of a size equally likely, with shares from a
  flat Dirichlet distribution.
- Each type draws the traits that its strategies use, uniformly, but rivals and learning rates
  log-uniformly. In the last seven, those who shade learn in one of three ways, equally likely.
- What the market refuses, such as a ring of one member, is drawn again.

How it is scored was settled with it; which designers play, later and before any score
(docs/log.md). Each plays once, as in the first benchmark. A mean
is over all fourteen; one where best own leads random by less than 0.05 of R counts in R alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from daedalus.launch.from_config import bidders_named
from daedalus.market.interface import MarketSettings
from daedalus.market.literals import Strategy
from daedalus.market.population import LEARNERS, MAX_UNITS, BidderType, Population
from daedalus.market.ranges import LOG_UNIFORM, Ranges

NAMES = tuple(f"drawn_{number:02}" for number in range(1, 15))
INSIDE = 7  # populations within the world; the others may leave it
TYPES = "mixture"
MOST_TYPES = 4
USED_BY: dict[str, Strategy | None] = {
    "value_low": None,
    "value_high": None,
    "outside_option": "withdraw",
    "budget": "shill",
    "expected_surplus": "opt_out",
    "rivals": "shade",
    "learning_rate": "shade",
    "discretion": "collude",
}
"""Traits, and the strategy that uses each; None is every bidder."""
HEADER = """\
# Fourteen populations that a rule drew, which is older than its draws.
# Each is an option of the group population, too: population=drawn_01
# python -m deploy.draw_benchmark {commit}
"""

Drawn = dict[str, Any]


def drawn_benchmark(commit: str) -> dict[str, Drawn]:
    """Return what each population changes of ``mixture``, by its name.

    Args:
        commit: Hash of a commit, 40 hexadecimal digits.
    """
    rng = np.random.default_rng(int(commit, 16))
    types, world, wide = (_named(each) for each in (TYPES, "world", "wide_world"))
    inside = {name: _playable(types, world.ranges, ("gradient",), rng) for name in NAMES[:INSIDE]}
    outside = {name: _playable(types, wide.ranges, LEARNERS, rng) for name in NAMES[INSIDE:]}
    return inside | outside


def _named(population: str) -> Population:
    bidders = bidders_named(MarketSettings())(population)
    assert isinstance(bidders, Population)
    return bidders


def _playable(
    mixture: Population, ranges: Ranges, learners: Sequence[str], rng: np.random.Generator
) -> Drawn:
    """Return the first draw that a market can play."""
    while True:
        drawn = _draw(mixture, ranges, learners, rng)
        try:
            types = {
                name: replace(mixture.types[name], **each) for name, each in drawn["types"].items()
            }
            mixture.fixed(types, drawn["bidders"], drawn["units"]).check_rings()
        except ValueError:
            continue
        return drawn


def _draw(
    mixture: Population, ranges: Ranges, learners: Sequence[str], rng: np.random.Generator
) -> Drawn:
    assert ranges.bidders is not None
    low, high = ranges.bidders
    bidders = int(_log_evenly(low, high + 1, rng))
    units = int(rng.integers(1, min(MAX_UNITS, bidders - 1), endpoint=True))
    names = list(mixture.types)
    taken = rng.permutation(names)[: rng.integers(1, MOST_TYPES, endpoint=True)]
    types: dict[str, Drawn] = {name: {"share": 0.0} for name in names}
    for name, share in zip(taken, rng.dirichlet(np.ones(len(taken))), strict=True):
        traits = _traits(mixture.types[name], ranges, learners, rng)
        types[str(name)] = {"share": round(float(share), 2), **traits}
    return {"concentration": None, "bidders": bidders, "units": units, "types": types}


def _traits(
    kind: BidderType, ranges: Ranges, learners: Sequence[str], rng: np.random.Generator
) -> Drawn:
    """Return draws of what a type uses, to two digits."""
    traits: Drawn = {}
    for name, strategy in USED_BY.items():
        if strategy is None or strategy in kind.menu:
            low, high = getattr(ranges, name)
            drawn = _log_evenly if name in LOG_UNIFORM else _evenly
            traits[name] = float(f"{drawn(low, high, rng):.2g}")
    if "shade" in kind.menu:
        traits["learner"] = str(rng.choice(learners))
    return traits


def _evenly(low: float, high: float, rng: np.random.Generator) -> float:
    return rng.uniform(low, high)


def _log_evenly(low: float, high: float, rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def text_of(commit: str) -> str:
    """Return the file of a commit's populations."""
    drawn = drawn_benchmark(commit)
    described: Drawn = {"defaults": [{f"/population@{name}": TYPES} for name in drawn]}
    described["defaults"].append("_self_")
    described |= {name: {"name": name, "strategic": each} for name, each in drawn.items()}
    return HEADER.format(commit=commit) + OmegaConf.to_yaml(described)


if __name__ == "__main__":
    print(text_of(sys.argv[1]), end="")
