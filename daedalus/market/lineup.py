"""Who comes to each episode: numbers of bidders and units, types of bidders, and their traits."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daedalus.market.composition import compose, individual_factors
from daedalus.market.draws import (
    FIRST_SIZE,
    LEARNING_RATE_TRAIT,
    RIVALS_TRAIT,
    episode_draws,
)
from daedalus.market.population import RIVALS, Population
from daedalus.market.ranges import LOG_UNIFORM, SIZES, TRAITS

_SPREADS = {
    "learning_rate": ("rate_spread", LEARNING_RATE_TRAIT, (0.0, 1.0)),
    "rivals": ("rivals_spread", RIVALS_TRAIT, RIVALS),
}
"""By trait: which spread its bidders have, what draws it, and its limits."""


@dataclass
class Lineup:
    """The bidders of B episodes. What stands in seats beyond an episode's bidders means nothing.

    Attributes:
        bidders: Number of bidders of each episode, int64, shape (B,).
        units: Units for sale in a round of each episode, int64, shape (B,).
        kinds: Type of the bidder in each seat, numbered in the population's order, shape (B, n).
        traits: Traits of the bidder in each seat by name, shape (B, n), those of ``TRAITS``. An
            unlimited budget is infinite.
    """

    bidders: NDArray[np.int64]
    units: NDArray[np.int64]
    kinds: NDArray[np.integer]
    traits: dict[str, NDArray[np.float64]]


def draw_lineups(populations: Sequence[Population], seeds: NDArray[np.uint64]) -> Lineup:
    """Return who comes to each episode of several populations, which share the batch equally.

    Args:
        populations: P populations. Their types are numbered one after another.
        seeds: Market seeds, shape (B,); the first B / P are those of the first population.

    Raises:
        ValueError: The number of seeds is no multiple of P.
    """
    if len(seeds) % len(populations):
        raise ValueError(
            f"{len(seeds)} episodes for {len(populations)} populations; "
            "give each population the same number"
        )
    if len(populations) == 1:
        return draw_lineup(populations[0], seeds)
    parts = np.split(seeds, len(populations))
    lineups = [draw_lineup(*each) for each in zip(populations, parts, strict=True)]
    return _joined(populations, lineups)


def _joined(populations: Sequence[Population], lineups: Sequence[Lineup]) -> Lineup:
    first_types = np.cumsum([0, *(len(each.types) for each in populations)])
    kinds = [
        first + each.kinds.astype(np.int64)  # all types together may be more than 127
        for first, each in zip(first_types, lineups, strict=False)
    ]
    return Lineup(
        np.concatenate([each.bidders for each in lineups]),
        np.concatenate([each.units for each in lineups]),
        _padded(kinds),
        {name: _padded([each.traits[name] for each in lineups]) for name in TRAITS},
    )


def _padded(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the rows of all parts, with as many seats as the widest has."""
    seats = max(part.shape[1] for part in parts)
    gaps = [((0, 0), (0, seats - part.shape[1])) for part in parts]
    return np.concatenate([np.pad(*each, mode="edge") for each in zip(parts, gaps, strict=True)])


def draw_lineup(population: Population, seeds: NDArray[np.uint64]) -> Lineup:
    """Return who comes to each episode. It depends on the episode's seed alone.

    Args:
        population: The population.
        seeds: Market seeds, shape (B,).
    """
    bidders, units = (_draw_size(population, name, seeds) for name in SIZES)
    of_types = _draw_traits(population, seeds)
    shares = np.array([each.share for each in population.types.values()])
    kinds = compose(seeds, shares, population.concentration, bidders, population.most_bidders)
    rows = np.arange(len(seeds))[:, None]
    traits = {name: each[rows, kinds] for name, each in of_types.items()}
    others = np.maximum(bidders - 1.0, RIVALS[0])[:, None]
    traits["rivals"] = np.where(np.isinf(traits["rivals"]), others, traits["rivals"])
    for name, (spread, purpose, (low, high)) in _SPREADS.items():
        factors = individual_factors(seeds, _attribute(population, spread)[kinds], purpose)
        traits[name] = np.minimum(np.maximum(traits[name] * factors, low), high)
    return Lineup(bidders, units, kinds, traits)


def sampled_populations(population: Population, seeds: NDArray[np.uint64]) -> list[Population]:
    """Return the populations of some episodes, each with all that it drew.

    Args:
        population: The population that is sampled; it is not changed.
        seeds: Market seeds, shape (B,).

    Returns:
        For each seed the population whose episodes seat the bidders of that seed's episode.
    """
    drawn, lineup = _draw_traits(population, seeds), draw_lineup(population, seeds)
    varied = population.ranges.of(TRAITS)
    found = []
    for row, (n, units) in enumerate(zip(lineup.bidders, lineup.units, strict=True)):
        counts = np.bincount(lineup.kinds[row, :n], minlength=len(population.types))
        types = {}
        for t, (name, each) in enumerate(population.types.items()):
            had = [trait for trait in varied if getattr(each, trait) is not None]  # maybe no budget
            traits: dict[str, Any] = {trait: float(drawn[trait][row, t]) for trait in had}
            types[name] = dataclasses.replace(each, share=float(counts[t]), **traits)
        found.append(population.fixed(types, int(n), int(units)))
    return found


def _attribute(population: Population, name: str) -> NDArray[np.float64]:
    """Return an attribute of each type, shape (T,); None is infinite."""
    values = [getattr(each, name) for each in population.types.values()]
    return np.array([np.inf if value is None else value for value in values])


def _draw_size(population: Population, name: str, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a whole number of each episode, shape (B,)."""
    ends = population.ranges.of(SIZES).get(name)
    if ends is None:
        return np.full(len(seeds), getattr(population, name), np.int64)
    low, high = ends
    draws = episode_draws(seeds, FIRST_SIZE + SIZES.index(name), 1)[:, 0]
    return np.int64(low) + (draws * (high - low + 1)).astype(np.int64)


def _draw_traits(
    population: Population, seeds: NDArray[np.uint64]
) -> dict[str, NDArray[np.float64]]:
    """Return the traits of each type in each episode by name, shape (B, T)."""
    shape = len(seeds), len(population.types)
    given = np.array([_attribute(population, name) for name in TRAITS])[:, None]
    traits = dict(zip(TRAITS, np.broadcast_to(given, (len(TRAITS), *shape)), strict=True))
    for name, (low, high) in population.ranges.of(TRAITS).items():
        draws = episode_draws(seeds, TRAITS.index(name), shape[1])
        if name in LOG_UNIFORM:
            drawn = low * (high / low) ** draws
        else:
            drawn = low + (high - low) * draws
        traits[name] = np.where(np.isinf(traits[name]), np.inf, drawn)
    return traits
