"""What the page asks for: the choices on offer, the tour, and training curves."""

from __future__ import annotations

from typing import Literal

from daedalus.service.openenv.messages import WireMechanism
from daedalus.service.openenv.ranges import Strict


class MechanismField(Strict):
    """One of the eleven rules: a choice, a flag, or a number from ``low`` to ``high``."""

    name: str
    kind: Literal["choice", "flag", "number"]
    choices: list[str] | None = None
    low: float | None = None
    high: float | None = None
    default: str | bool | float
    meaning: str


class TypeOnOffer(Strict):
    """A type of bidders: its share of the population, and what it may do."""

    name: str
    share: float
    menu: list[str]


class PopulationOnOffer(Strict):
    """A population, and which market's rules can seat it."""

    name: str
    stage: int
    bidders: int
    units: int
    types: list[TypeOnOffer]
    markets: list[str]


class Meaning(Strict):
    """A name, and what it stands for."""

    name: str
    meaning: str


class Start(Strict):
    """What an episode takes if nothing else is asked for."""

    population: str
    market: str


class Offer(Strict):
    """Everything that a visitor may choose."""

    fields: list[MechanismField]
    populations: list[PopulationOnOffer]
    markets: list[Meaning]
    designers: list[Meaning]
    default: Start
    episode_length: int
    max_episode_length: int


class TourStop(Strict):
    """A preset in which one sees an attack hurt and a rule mend it, see ``daedalus.service.tour``.

    Attributes:
        name: What addresses it.
        title: What a reader calls it.
        attack: What is done, and why it pays.
        population: Who bids.
        market: Which rules are played.
        seed: Seed of the episode.
        n_agents: Number of bidders; None is as many as the population has.
        hurt: The rules that the attack feeds on.
        fixed: The rules that mend it.
        changed: The fields in which they differ.
        watch: What to look at.
        fix: Why the changed rules work.
    """

    name: str
    title: str
    attack: str
    population: str
    market: str
    seed: int
    n_agents: int | None
    hurt: WireMechanism
    fixed: WireMechanism
    changed: list[str]
    watch: str
    fix: str


class Tour(Strict):
    """The stops that can be visited with the populations on offer."""

    stops: list[TourStop]


class TrainingCurves(Strict):
    """The newest training run that was found here, and what it logged at every step."""

    run: str | None
    history: list[dict[str, float | None]]
