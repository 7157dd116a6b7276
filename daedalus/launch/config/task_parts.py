"""What tasks are put together from: the groups that they take, as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from omegaconf import MISSING

from daedalus.checks import Checked, bounded, within
from daedalus.design.designers.base import DesignerSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.launch.config.tuning import TuningSettings
from daedalus.market.allowed import read_allowed
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.population_settings import PopulationSettings
from daedalus.runs.tracking import TrackingSettings
from daedalus.service.settings import ServiceSettings
from daedalus.training.settings import ModelSettings, TrainingSettings, check_backend

MOST_SEED = 2**32 - 1
"""The libraries that train take no larger one."""


@dataclass
class Task(Checked):
    """What every task takes.

    Attributes:
        task: The module of ``experiments/`` that is run.
        seed: Seed of all random draws, from 0 to 4294967295.
        resume: Continue the newest unfinished run of this experiment.
        workers: Processes that share the searches, the lessons and the leaderboard's populations,
            at most one for each core; None is one for each. Results do not depend on it.
        tracking: Where a run writes its numbers.
        tuning: The study in which ``tune`` changes settings; other tasks are its trials.
        partly: Keys at or below which a task reads what it reads of a group. It reads all of the
            other groups.
        if_referred: Groups that a task reads only if another setting refers to them.
        needs_baselines: Names that ``evaluation.baselines`` must have.
        needs_populations: Names that ``populations`` must have.
        designers: What the studied designer must be.
        offers: Whether visitors choose populations and the market, instead of the run.
        both_markets: Whether it plays both markets, whichever is chosen.
        by_type: Whether it needs bidder types. Only the strategic market has them.
        shared: Whether several processes may train one run.
        has_shards: Whether a sweep may play its populations in parts.
    """

    partly: ClassVar[tuple[str, ...]] = ()
    if_referred: ClassVar[tuple[str, ...]] = ()
    needs_baselines: ClassVar[tuple[str, ...]] = ()
    needs_populations: ClassVar[tuple[str, ...]] = ()
    designers: ClassVar[type[DesignerSettings]] = DesignerSettings
    offers: ClassVar[bool] = False
    both_markets: ClassVar[bool] = False
    by_type: ClassVar[bool] = False
    shared: ClassVar[bool] = False
    has_shards: ClassVar[bool] = False

    task: str = MISSING
    seed: int = within(0, MOST_SEED, 0, "an integer")
    resume: bool = False
    workers: int | None = bounded(
        1, lambda count: count >= 1, "give an integer from 1 up, or null for all cores"
    )
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    tuning: TuningSettings = field(default_factory=TuningSettings)


@dataclass
class InMarket(Task):
    """``market``: the market that is played, and the shape of an episode."""

    market: MarketSettings = field(default_factory=MarketSettings)


@dataclass
class Played(InMarket):
    """``population``: the bidders."""

    population: PopulationSettings = MISSING


@dataclass
class Rewarded(Task):
    """``reward``: the reward stack that searches and training maximise."""

    reward: RewardStack = field(default_factory=RewardStack)

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_from_zero("reward", self.reward)


@dataclass
class Restricted(Task):
    """``allowed``: what designers may set of a mechanism, see ``read_allowed``.

    Of each field that it names, a list of values or ``{min: LOW, max: HIGH}``. The others are free.
    """

    allowed: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_allowed(self.allowed)


@dataclass
class Game(Played, Rewarded):
    """A market with its bidders, and what a designer wants there."""


@dataclass
class OfPopulations(Task):
    """``populations``: populations by name."""

    populations: dict[str, PopulationSettings] = field(default_factory=dict)


@dataclass
class Games(InMarket, Rewarded, OfPopulations):
    """A market with the bidders of each population."""


@dataclass
class Measured(Task):
    """``evaluation``: episodes and intervals."""

    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluation.shards > 1 and not self.has_shards:
            raise ValueError(
                f"evaluation.shards: {self.evaluation.shards}; {self.task} has none, so leave it "
                "out"
            )


@dataclass
class Compared(Measured):
    """``mechanism``: that of ``fixed`` designers; ``evaluation`` has baselines to compare with.

    ``gives_briefs`` says whether designers are given briefs, without which some cannot play.
    """

    if_referred: ClassVar[tuple[str, ...]] = ("mechanism",)
    gives_briefs: ClassVar[bool] = False

    mechanism: Mechanism = field(default_factory=Mechanism)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self, Rewarded):
            for each in self.every_designer():
                if (prompt := getattr(each, "prompt", None)) is not None:
                    prompt.require_shown(self.reward.active)

    def every_designer(self) -> list[Any]:
        """Return the settings of all designers that play."""
        return [*self.evaluation.baselines.values()]


@dataclass
class Designed(Compared):
    """``designer``: the designer that is studied."""

    designer: Any = MISSING

    def every_designer(self) -> list[Any]:
        """Return the settings of all designers that play."""
        return [self.designer, *super().every_designer()]


@dataclass
class Contest(Game, Compared):
    """A game in which baselines play."""


@dataclass
class Study(Contest, Designed):
    """A contest with a designer that is studied."""


@dataclass
class StudyOfPopulations(Study, Games):
    """A study in several populations; designers that learn do so in ``population``."""


@dataclass
class WithTraining(Task):
    """``training``: SFT, GRPO, the portfolio and the prompt."""

    training: TrainingSettings = field(default_factory=TrainingSettings)


@dataclass
class WithModel(Task):
    """``model``: a language model."""

    model: ModelSettings = field(default_factory=ModelSettings)


@dataclass
class OfRun(Task):
    """``trained``: the folder of a training run, or of a sweep of them."""

    trained: str = ""


@dataclass
class Trained(Game, WithModel, WithTraining):
    """Training of a language model."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_backend(self.model, self.training)
        self.training.require_fit(self.market.episode_length)
        self.training.prompt.require_shown(self.reward.active)


@dataclass
class WithBidder(WithModel):
    """``bidder``: a language model that bids; a local one is ``model``."""

    if_referred: ClassVar[tuple[str, ...]] = ("model",)

    bidder: Any = None


@dataclass
class Offering(Game, Games):
    """What the service offers to its visitors.

    Attributes:
        markets: Markets by name, among which visitors choose.
        objectives: Rewards by name, among which visitors choose.
        service: Address, limits and designer of the service.
    """

    offers: ClassVar[bool] = True
    both_markets: ClassVar[bool] = True

    markets: dict[str, MarketSettings] = field(default_factory=dict)
    objectives: dict[str, RewardStack] = field(default_factory=dict)
    service: ServiceSettings = field(default_factory=ServiceSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, each in self.objectives.items():
            _require_from_zero(f"objectives.{name}", each)


def _require_from_zero(place: str, stack: RewardStack) -> None:
    for name, weight in stack.weights.items():
        if weight < 0:
            raise ValueError(f"{place}.weights.{name}: {weight}; give a finite number from 0 up")
