"""Answers for the page: the offer, the tour and the training curves."""

from __future__ import annotations

from typing import Literal

from daedalus.service.openenv.checked_types import Strict
from daedalus.service.openenv.messages import WireMechanism


class MechanismField(Strict):
    """One of the eleven fields: a choice, a flag, or a number from ``low`` to ``high``.

    Where not all of these may be set, ``choices`` has those that may.
    """

    name: str
    kind: Literal["choice", "flag", "number"]
    choices: list[str | bool | float] | None = None
    low: float | None = None
    high: float | None = None
    default: str | bool | float
    meaning: str


class TypeOnOffer(Strict):
    """A bidder type: its share of the population, and its strategies."""

    name: str
    share: float
    menu: list[str]


class NamedRules(Strict):
    """A mechanism with a name."""

    name: str
    mechanism: WireMechanism


class AskedBidders(Strict):
    """The language model that bids. If its answers are recorded, they cover ``rules``."""

    model: str
    recorded: bool
    rules: list[NamedRules]


class PopulationOnOffer(Strict):
    """A population, and the markets that can play it.

    Attributes:
        stage: Stage of the curriculum, 0 to 4.
        units: Units for sale in a round.
        ranges: What each episode draws.
        types: The types of its simulated bidders.
        asked: The language model that bids; None if the bidders are simulated.
    """

    name: str
    stage: int
    bidders: int
    units: int
    ranges: dict[str, list[float]]
    types: list[TypeOnOffer]
    markets: list[str]
    asked: AskedBidders | None


class Meaning(Strict):
    """A name and its meaning."""

    name: str
    meaning: str


class BriefMeaning(Strict):
    """What a sentence of a brief may mean, and the amounts that it takes; null if it takes none."""

    name: str
    meaning: str
    low: float | None
    high: float | None


class BriefOffer(Strict):
    """What a brief may say, and how many characters it may have."""

    longest: int
    meanings: list[BriefMeaning]


class Start(Strict):
    """The defaults of an episode."""

    population: str
    market: str
    objective: str


class Offer(Strict):
    """Everything that a visitor may choose.

    ``upload_bytes`` is 0 without reports on bids; ``bid_columns`` are the usual names of the
    columns of a log, by what they hold. ``brief`` is null where no briefs are read.
    """

    fields: list[MechanismField]
    populations: list[PopulationOnOffer]
    markets: list[Meaning]
    objectives: list[Meaning]
    designers: list[Meaning]
    default: Start
    episode_length: int
    max_episode_length: int
    upload_bytes: int
    bid_columns: dict[str, list[str]]
    brief: BriefOffer | None


class TourStop(Strict):
    """An attack and its remedy as a preset episode, see ``daedalus.service.page.tour``.

    Attributes:
        attack: What the attackers do, and why it pays.
        seed: Seed of a typical episode. The candidates are the seeds 0 to 399 on which the change
            gains between the quartiles, both over the first half and over no change. Of these it
            is the seed whose rewards are closest to the average, with and without the change.
        n_agents: Number of bidders; None takes the number that the population has.
        hurt: The mechanism that invites the attack.
        fixed: The mechanism that stops it.
        changed: The fields in which the two differ.
        watch: What to look at while the attack hurts.
        seen: What the round shows on which the page then stops.
        shown: Round of the last step under the old rules that shows the attack best, from 0.
        contrast: What to look at when both mechanisms play the same rounds.
        compared: Round of their last step that shows the difference best, from 0.
        fix: Why the change works, and what it costs.
        lesson: Attack, remedy and cost in two sentences.
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
    seen: str
    shown: int
    contrast: str
    compared: int
    fix: str
    lesson: str


class Tour(Strict):
    """The stops that the populations on offer allow."""

    stops: list[TourStop]


class DesignerScore(Strict):
    """Mean R of a designer's episodes, with its interval."""

    designer: str
    mean: float
    low: float
    high: float


class TrainingCurves(Strict):
    """The newest training run on this server.

    Attributes:
        run: Its place in the outputs.
        history: The numbers of every logged step.
        scores: What the trained designer and the baselines score in whole episodes that were not
            used in training; none if the run has not been evaluated.
    """

    run: str | None
    history: list[dict[str, float | None]]
    scores: list[DesignerScore]
