"""The scale of a population: 0 is random, and 1 the better of planner and best own.

Best own, here also called the oracle, is one mechanism that a search found for the population. The
planner looks ahead there. ``make oracle`` writes the file that this module reads. The leaderboard
has the same scale, but plays its ends anew for each seed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from daedalus.design.env import DesignEnv
from daedalus.market.mechanism import Mechanism, mechanism_from_mapping

ENDS = "0 is random, and 1 the better of planner and best own"
"""The scale in words, the same everywhere."""
SCALES = Path(__file__).with_name("scales.json")
"""The scales that were measured, one for each fingerprint of an environment."""


@dataclass(frozen=True)
class Scale:
    """The ends of the normalised reward.

    Attributes:
        population: Name of the population.
        floor: Mean R of the random designer, which is 0 on the scale.
        oracle: Mean R of the oracle, best own; above ``floor``.
        planner: Mean R of the planner: that of the oracle, and their difference in the first
            episodes of these.
        mechanism: The oracle: its mechanism at every step.
        episodes: Episodes behind the first two means, which the search did not see.
    """

    population: str
    floor: float
    oracle: float
    planner: float
    mechanism: Mechanism
    episodes: int

    @property
    def ceiling(self) -> float:
        """Return the mean R that is 1 on the scale: the better of planner and oracle."""
        return max(self.oracle, self.planner)

    def normalise(self, reward: float) -> float:
        """Return a reward on this scale. A designer may pass 1."""
        return (reward - self.floor) / (self.ceiling - self.floor)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self) | {"mechanism": self.mechanism.to_dict()}


def scale_of(env: DesignEnv) -> Scale | None:
    """Return the scale that was measured in an environment; None if it was not measured there.

    Population, market, shape of the episode and reward must be those of the measurement.
    """
    if not env.reward.is_composite or env.allowed or env.market.players:
        return None
    return _scales().get(fingerprint(env))


def scale_named(population: str) -> Scale:
    """Return the scale of a population of ``conf/`` by its name.

    Raises:
        ValueError: There is none.
    """
    named = {each.population: each for each in _scales().values()}
    if population not in named:
        raise ValueError(
            f"population: {population!r} has no oracle; choose from {', '.join(named)}"
        )
    return named[population]


def fingerprint(env: DesignEnv) -> str:
    """Return a hash of what an environment's R depends on: its bidders and its settings.

    A setting at its default leaves no trace, so that a new setting changes no fingerprint.
    """
    played = _changed([env.market.population, env.settings])
    return hashlib.sha256(json.dumps(played, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _scales() -> dict[str, Scale]:
    """Return the scales of the file, by fingerprint."""
    rows = json.loads(SCALES.read_text())["scales"]
    return {
        key: Scale(**row | {"mechanism": mechanism_from_mapping(row["mechanism"])})
        for key, row in rows.items()
    }


def _changed(value: Any) -> Any:
    """Return settings as JSON values, without what has its default."""
    if is_dataclass(value):
        changes = [each for each in fields(value) if getattr(value, each.name) != _default(each)]
        inner = {each.name: _changed(getattr(value, each.name)) for each in changes}
        return {type(value).__name__: inner}
    if isinstance(value, Mapping):
        return {name: _changed(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_changed(each) for each in value]
    return value


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
