"""What a run trained its designer for, and what the designer is asked for instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.objectives import terms_of
from daedalus.design.rewards.stack import RewardStack
from daedalus.market.interface import MarketSettings
from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.seat_plan import SeatPlan
from daedalus.runs.earlier import load_run_config
from daedalus.runs.folder import RunFolder

_SHOWN = 3  # settings of a market


@dataclass(frozen=True)
class Purpose:
    """What a designer was trained for.

    Attributes:
        reward: The reward of the run.
        terms: Reward terms whose weights its prompts show, if it knows many objectives.
        market: The market and the shape of an episode.
        populations: The bidders that it met, by name, as its configuration has them: those of the
            run first, then those of practice.
    """

    reward: RewardStack
    terms: tuple[str, ...]
    market: MarketSettings
    populations: Mapping[str, Any]

    def __str__(self) -> str:
        """Return its reward and its populations in words."""
        return f"{self.objective} with the bidders of {_listed([*self.populations])}"

    @property
    def objective(self) -> str:
        """Return the reward in words."""
        if self.terms:
            return f"any weights of {_listed(self.terms)}"
        return self.reward.name

    def is_for(self, reward: RewardStack) -> bool:
        """Return whether it was trained for a reward, or can be asked for it."""
        if self.terms:
            return {*reward.active} <= {*self.terms}
        return self.reward.active == reward.active

    def knows(self, bidders: Population | SeatPlan) -> bool:
        """Return whether it met these bidders, as many as there are."""
        name = self.market.name
        settings = map(_population, self.populations.values())  # one by one, for each takes long
        met = (each.in_market(name) for each in settings if name in each.markets)
        return any(bidders == each or bidders == _sized(each, bidders.bidders) for each in met)

    def instead(self, env: DesignEnv, population: str | None, fixed_bidders: bool = True) -> str:
        """Return a sentence that says what it was trained for; empty if ``env`` is that.

        Args:
            env: What the designer is asked for: the market, its bidders and the reward.
            population: Name of the bidders; None if they have none.
            fixed_bidders: Whether the designer plays with the bidders of ``env``.
        """
        asked = [] if self.is_for(env.reward) else [f"for {env.reward.name}"]
        if fixed_bidders and not self.knows(env.market.population):
            asked.append(f"with {self._bidders(env.market.population, population)}")
        asked += self._other_market(env.settings)
        return f"it was trained for {self}, and not {' '.join(asked)}" if asked else ""

    def _bidders(self, bidders: Population | SeatPlan, name: str | None) -> str:
        if name is None:
            return "these bidders"
        return f"{bidders.bidders} of {name}" if name in self.populations else f"those of {name}"

    def _other_market(self, asked: MarketSettings) -> list[str]:
        """Return in words what another market has otherwise, as a list of one or none."""
        if asked.name != self.market.name:
            return [f"in the {asked.name} market"]
        others = [
            *_changed(vars(asked), vars(self.market)),
            *_changed(vars(asked.strategic), vars(self.market.strategic)),
        ]
        more = [f"{len(others) - _SHOWN} other settings"] if len(others) > _SHOWN else []
        shown = _listed([*others[:_SHOWN], *more])
        return [f"in a market with {shown}"] if others else []


def read_purpose(checkpoint: str | Path) -> Purpose | None:
    """Return what the run of a model, or of a policy, trained it for; None if it is not known.

    The checkpoint is the folder of a model, a file of a run, or the run's folder. The files of the
    run lie around the model, and those of a published model in its folder ``run``.
    """
    path = Path(checkpoint)
    runs = (RunFolder(path / "run"), RunFolder(path.parent), RunFolder(path))
    known = [run.config for run in runs if run.config.is_file()]  # a model has a config.json
    return _of_run(known[0], known[0].stat().st_mtime_ns) if known else None


@lru_cache
def _of_run(path: Path, written: int) -> Purpose | None:
    """Return the purpose in a file as it was written; None if another version of ours wrote it."""
    try:
        config = OmegaConf.to_container(load_run_config(path), resolve=True)
        return _purpose(config)
    except (OmegaConfBaseException, KeyError, TypeError, ValueError):
        return None


def _purpose(config: Any) -> Purpose:
    own = config["population"]
    training = config.get("training") or {"objectives": [], "sft": {"practice": {}}}  # as of PPO
    met = {own["name"]: own} | training["sft"]["practice"]
    _population(own)  # raises if another version wrote it
    return Purpose(
        _as(RewardStack, config["reward"]),
        tuple(terms_of(training["objectives"])),
        _as(MarketSettings, config["market"]),
        met,
    )


def _population(node: Any) -> PopulationSettings:
    settings: PopulationSettings = _as(PopulationSettings, node)
    return settings


def _as(kind: type[Any], node: Any) -> Any:
    """Return a part of a configuration as settings."""
    return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(kind), node))


def _sized(met: Population | SeatPlan, bidders: int) -> Population | SeatPlan | None:
    """Return bidders in another number, if this is one that was drawn in training."""
    drawn = met.ranges.bidders if isinstance(met, Population) else None
    return met.of_size(bidders) if drawn and drawn[0] <= bidders <= drawn[1] else None


def _changed(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
    """Return in words which settings have another value, and the value in training."""
    simple = (bool, int, float, str, type(None))
    return [
        f"{name} {value} instead of {then[name]}" if isinstance(value, simple) else f"other {name}"
        for name, value in now.items()
        if value != then[name] and name != "strategic"
    ]


def _listed(parts: Sequence[str]) -> str:
    """Return parts as an enumeration in words."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
