"""The scale of a population: what a random designer earns there, and what an oracle earns.

The oracle is one fixed mechanism, which a search found for the population. ``make oracle`` writes
the file that this module reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanism, mechanism_from_mapping

SCALES = Path(__file__).with_name("scales.json")
"""The scales that were measured, one for each fingerprint of an environment."""


@dataclass(frozen=True)
class Scale:
    """The ends of the normalised reward.

    Attributes:
        population: Name of the population.
        floor: Mean R of the random designer, which is 0 on the scale.
        oracle: Mean R of the oracle, which is 1; above ``floor``.
        mechanism: The oracle: its mechanism at every step.
        episodes: Episodes behind both means, which the search did not see.
    """

    population: str
    floor: float
    oracle: float
    mechanism: Mechanism
    episodes: int

    def normalise(self, reward: float) -> float:
        """Return a reward on this scale. A designer that adapts may pass 1."""
        return (reward - self.floor) / (self.oracle - self.floor)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self) | {"mechanism": self.mechanism.to_dict()}


def scale_of(env: DesignEnv) -> Scale | None:
    """Return the scale that was measured in an environment; None if it was not measured there.

    Population, market, shape of the episode and reward must be those of the measurement.
    """
    if not env.reward.is_composite or env.market.players:
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
        kept = [each for each in fields(value) if getattr(value, each.name) != _default(each)]
        inner = {each.name: _changed(getattr(value, each.name)) for each in kept}
        return {type(value).__name__: inner}
    if isinstance(value, Mapping):
        return {name: _changed(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_changed(each) for each in value]
    return value


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
