"""The tasks of the package: what each takes, from which its settings are composed and checked.

A task is a module of ``experiments/`` with a ``main(config, out)``. The classes of the package's
own tasks stand here, and not in these modules, because a wrong setting is refused before anything
slow is imported. A task that is added has its class in its own module.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import MISSING

from daedalus.design.briefs.meanings import USUAL
from daedalus.design.briefs.splits import SPLITS, TRAINING_BRIEFS
from daedalus.design.designers.brief_search import READERS
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.design.designers.search import SearchSettings
from daedalus.design.language.prompt import PromptSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.evaluation.settings import AdversarySettings
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.studies.coverage_settings import CoverageSettings
from daedalus.launch.config.task_parts import (
    Compared,
    Contest,
    Designed,
    Game,
    Games,
    InMarket,
    Measured,
    Offering,
    OfPopulations,
    OfRun,
    Played,
    Restricted,
    Rewarded,
    Study,
    StudyOfPopulations,
    Task,
    Trained,
    WithBidder,
    WithModel,
    WithTraining,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.population_settings import PopulationSettings
from daedalus.service.load_settings import LoadSettings
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.ppo.settings import PpoTraining
from daedalus.training.brief_settings import BriefLessonSettings, BriefReaderSettings
from daedalus.training.publishing.settings import HubSettings
from daedalus.training.settings import PortfolioSettings, TrainingSettings
from daedalus.training.tabular_settings import TabularSettings, check_updates

_NO_BOOTSTRAP = ("evaluation.baselines", "evaluation.confidence", "evaluation.episodes")


def _is_path(brief: str) -> bool:
    """Return whether a brief stands in a text file: one word that ends so."""
    return brief.endswith(".txt") and not any(each.isspace() for each in brief)


@dataclass
class Briefed(Task):
    """``brief``: what the seller asks for in sentences, or a text file (``.txt``) with them."""

    brief: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.brief and not self.brief.strip():
            raise ValueError("brief: it is empty; write what the auction must do, in sentences")
        if _is_path(self.brief) and not Path(self.brief).is_file():
            raise ValueError(f"brief: no file {self.brief}; give the path of a text file")


@dataclass
class Ask(Study, Restricted, Briefed):
    """What a trained designer sets in a market, and what that earns; with a brief a search does."""

    designers = LanguageModelSettings
    needs_baselines = ("best_own",)

    task: str = "ask"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.brief and (self.allowed or not self.reward.is_composite):
            raise ValueError("brief: it says reward and allowed itself; leave these two out")


@dataclass
class Behaviour(Study, WithTraining, Restricted):
    """What a designer sets in response to what it sees."""

    by_type = True
    partly = ("evaluation.episodes", "training.portfolio")

    task: str = "behaviour"


@dataclass
class Bench(Played):
    """The speed of the market."""

    both_markets = True

    task: str = "bench"


@dataclass
class BenchService(Offering):
    """``load``: the load under which the service is measured."""

    task: str = "bench_service"
    load: LoadSettings = field(default_factory=LoadSettings)


@dataclass
class BriefReader(Task):
    """``reader``: how a reader of briefs is trained."""

    task: str = "brief_reader"
    reader: BriefReaderSettings = field(default_factory=BriefReaderSettings)


@dataclass
class BriefReading(Measured):
    """How reading grows with the number of wordings.

    Attributes:
        readers: Readers, of ``READERS``.
        wordings: Sentences of each meaning that they learn, each from 1 to 12.
        models: Language models that read too, by the ``lessons.wordings`` of their runs of
            grpo_briefs: ``+models.4=RUN/sft_model``. GRPO meets all wordings.
        reader: How the ``tuned`` one is trained.
    """

    partly = ("evaluation.confidence",)

    task: str = "brief_reading"
    readers: list[str] = field(default_factory=lambda: ["keywords", "tfidf", "minilm"])
    wordings: list[int] = field(default_factory=lambda: [1, 2, 4, 8, 12])
    models: dict[str, str] = field(default_factory=dict)
    reader: BriefReaderSettings = field(default_factory=lambda: BriefReaderSettings(benchmark=True))

    def __post_init__(self) -> None:
        super().__post_init__()
        if unknown := [each for each in self.readers if each not in READERS]:
            raise ValueError(f"readers: {unknown[0]!r}; choose from {', '.join(READERS)}")
        counts = {str(each) for each in range(1, 13)}
        if wrong := [each for each in (*self.wordings, *self.models) if str(each) not in counts]:
            raise ValueError(f"wordings, models: {wrong[0]}; give numbers from 1 to 12")
        if not (self.models or (self.readers and self.wordings)):
            raise ValueError("readers and wordings: give at least one of each, or models")


@dataclass
class Briefs(Study):
    """What designers make of briefs.

    Attributes:
        briefs: A JSON-lines file of briefs; empty for the frozen ones.
        splits: Which of the frozen ones.

    ``evaluation.episodes`` is the most briefs of each split, and of a file.
    """

    by_type = True
    gives_briefs = True
    partly = _NO_BOOTSTRAP

    task: str = "briefs"
    briefs: str = ""
    splits: list[str] = field(default_factory=lambda: list(SPLITS))

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_splits(self.splits)
        if self.briefs and self.splits != [*SPLITS]:
            raise ValueError("splits: they are of the frozen briefs; with briefs=FILE leave it out")
        _require_of_briefs(self)
        if not self.briefs and self.market != MarketSettings():
            raise ValueError(
                "market: the frozen briefs were measured in market=fresh; leave it so, or give "
                "briefs=FILE"
            )


@dataclass
class Certificate(Study, Restricted):
    """How far a designer's mechanisms are from truthful ones."""

    by_type = True
    partly = ("evaluation.episodes",)

    task: str = "certificate"


@dataclass
class Compare(Study, Restricted):
    """How much a designer earns beside the baselines."""

    task: str = "compare"


@dataclass
class Coverage(InMarket, Rewarded, Measured):
    """``coverage``: the simulated logs."""

    by_type = True
    partly = ("evaluation.confidence",)

    task: str = "coverage"
    coverage: CoverageSettings = field(default_factory=CoverageSettings)


@dataclass
class Exploitability(Study, WithTraining):
    """``adversary``: the bidders that an adversary may choose, and the budget of its search."""

    by_type = True
    partly = ("training.portfolio",)

    task: str = "exploitability"
    adversary: AdversarySettings = field(default_factory=AdversarySettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.reward.is_composite:
            raise ValueError("reward: exploitability is measured in R; leave it out")


@dataclass
class FreezeBriefs(InMarket, OfPopulations):
    """The frozen briefs of the benchmark, drawn and measured again."""

    task: str = "freeze_briefs"


@dataclass
class FromBids(InMarket, Rewarded, Designed, OfRun, Briefed):
    """What a log of bids says. A brief rules what may be recommended.

    Attributes:
        bids: A CSV file with a row for each bid, or ``timber``.
        bid_log: How this log is read, and how values are estimated from it.
    """

    by_type = True
    designers = SearchSettings
    partly = ("evaluation.confidence", "evaluation.episodes")

    task: str = "from_bids"
    bids: str = ""
    bid_log: BidLogSettings = field(default_factory=BidLogSettings)


@dataclass
class Grpo(Contest, Trained, Restricted):
    """Training of a language model by SFT and GRPO, and a comparison."""

    shared = True

    task: str = "grpo"


@dataclass
class GrpoBriefs(Contest, Trained):
    """Training of a language model that designs from briefs, and its scores.

    Attributes:
        lessons: What SFT shows.
        splits: Frozen briefs on which it is scored; ``evaluation.episodes`` is the most of each.
    """

    gives_briefs = True
    partly = _NO_BOOTSTRAP

    task: str = "grpo_briefs"
    training: TrainingSettings = field(
        default_factory=lambda: TrainingSettings(grpo=GrpoSettings(constrained=True))
    )
    lessons: BriefLessonSettings = field(default_factory=BriefLessonSettings)
    splits: list[str] = field(default_factory=lambda: list(SPLITS))

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_splits(self.splits)
        grpo, usual = self.training.grpo, GrpoSettings()
        self._require_benchmark()
        if not grpo.constrained:
            raise ValueError("training.grpo.constrained: answers to briefs are; set it to true")
        for name in ("horizon", "own_states", "commitment_steps"):
            if getattr(grpo, name) != getattr(usual, name):
                raise ValueError(
                    f"training.grpo.{name}: a brief's mechanism is played in whole episodes, from "
                    "their start; leave it out"
                )
        if self.training.portfolio != PortfolioSettings() or self.training.objectives:
            raise ValueError(
                "training: briefs have neither portfolio nor objectives; leave them out"
            )

    def _require_benchmark(self) -> None:
        """Refuse another market or reward: training is for those of the frozen briefs."""
        if self.market != MarketSettings():
            raise ValueError("market: the frozen briefs were measured in market=fresh; leave it so")
        _require_of_briefs(self)
        if self.training.sft.teacher or self.training.sft.corrections.rounds:
            raise ValueError(
                "training.sft: a search teaches briefs; leave out teacher, corrections"
            )
        if self.training.prompt != PromptSettings():
            raise ValueError("training.prompt: a brief is the whole prompt; leave it out")
        if self.training.grpo.states > TRAINING_BRIEFS:
            raise ValueError(
                f"training.grpo.states: {self.training.grpo.states}; there are {TRAINING_BRIEFS} "
                "training briefs"
            )


def _require_of_briefs(config: Study | GrpoBriefs) -> None:
    """Refuse a reward and bidders of the run's own."""
    if config.reward != RewardStack():
        raise ValueError("reward: each brief says what it rewards; leave it out")
    if isinstance(config.population, PopulationSettings) and config.population.name != USUAL:
        raise ValueError("population: each brief tells of its bidders; leave it out")


def _require_splits(splits: list[str]) -> None:
    if unknown := [each for each in splits if each not in SPLITS]:
        raise ValueError(f"splits: {unknown[0]!r}; choose from {', '.join(SPLITS)}")


@dataclass
class GpuCheck(Contest, Trained):
    """Whether training works, and how fast, on this GPU."""

    task: str = "gpu_check"


@dataclass
class GrpoNumbers(Contest, Restricted):
    """Training of the tabular policy.

    Attributes:
        numbers: How it is trained.
        updates: Trainings by the names of their updates, to compare instead of that one.
    """

    task: str = "grpo_numbers"
    numbers: TabularSettings = field(default_factory=TabularSettings)
    updates: dict[str, TabularSettings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_updates(self.numbers, self.updates, self.market.episode_length)
        for name in self.updates:
            if name in self.evaluation.baselines:
                raise ValueError(f"updates.{name}: a baseline has this name; choose another one")


@dataclass
class KnownOptimum(StudyOfPopulations, OfRun):
    """How near designers come to an optimum that theory knows."""

    by_type = True
    partly = _NO_BOOTSTRAP
    if_referred = ("mechanism", "trained")

    task: str = "known_optimum"


@dataclass
class Leaderboard(StudyOfPopulations, WithTraining, OfRun, Restricted):
    """What designers earn in populations on which they did not learn."""

    has_shards = True
    if_referred = ("mechanism", "trained")
    partly = (*_NO_BOOTSTRAP, "evaluation.shards", "evaluation.shard", "training.portfolio")

    task: str = "leaderboard"

    def __post_init__(self) -> None:
        super().__post_init__()
        shards = self.evaluation.shards
        if shards > 1 and shards > len(self.populations):
            raise ValueError(
                f"evaluation.shards: {shards}; there are {len(self.populations)} populations, "
                "so give at most as many"
            )


@dataclass
class LlmBidders(Study, OfRun, WithBidder):
    """What language models bid, beside theory."""

    by_type = True
    partly = _NO_BOOTSTRAP
    if_referred = ("mechanism", "model")

    task: str = "llm_bidders"


@dataclass
class Neighbours(Study, Restricted):
    """What each change of one field would gain."""

    partly = ("evaluation.episodes",)

    task: str = "neighbours"


@dataclass
class Objectives(Played, Designed, OfRun, Restricted):
    """What one model earns for each of the objectives that it was trained for."""

    designers = LanguageModelSettings
    if_referred = ("mechanism", "trained")
    needs_baselines = ("search",)
    partly = ("evaluation.baselines", "evaluation.episodes")

    task: str = "objectives"


@dataclass
class Oracle(Games, Designed):
    """The best fixed mechanisms of populations, for the package."""

    designers = SearchSettings
    partly = ("evaluation.episodes",)

    task: str = "oracle"


@dataclass
class Ppo(Contest, Restricted):
    """``ppo``: training by PPO."""

    task: str = "ppo"
    ppo: PpoTraining = field(default_factory=PpoTraining)


@dataclass
class PackDesigner(StudyOfPopulations):
    """The designer that comes with the package, from a training run."""

    designers = LanguageModelSettings
    partly = ("evaluation.episodes",)

    task: str = "pretrained"


@dataclass
class Publish(Task):
    """Publishing of a model.

    Attributes:
        designer: The model.
        hub: Where it is published, and how.
    """

    designers = LanguageModelSettings
    partly = ("designer.checkpoint",)

    task: str = "publish"
    designer: Any = MISSING
    hub: HubSettings = field(default_factory=HubSettings)


@dataclass
class PublishedPlay(StudyOfPopulations):
    """What bidders of published experiments do in this market."""

    by_type = True
    partly = _NO_BOOTSTRAP
    needs_populations = (
        "optimum_uniform_3",
        "optimum_asymmetric",
        "optimum_exponential",
        "optimum_irregular",
    )

    task: str = "published_play"


@dataclass
class ReplicatePublished(Contest):
    """The published figures, beside those of this code."""

    needs_baselines = ("random_published", "informed_greedy")

    task: str = "replicate_published"


@dataclass
class Search(Study, Restricted):
    """The best fixed mechanism of a market."""

    designers = SearchSettings

    task: str = "search"


@dataclass
class Sensitivity(StudyOfPopulations):
    """How much each setting of the market changes what is best."""

    by_type = True
    designers = SearchSettings
    partly = ("evaluation.episodes",)

    task: str = "sensitivity"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evaluation.episodes < 8:
            raise ValueError(
                f"evaluation.episodes: {self.evaluation.episodes}; give 8 or more, since parts of "
                "them choose and others report"
            )
        if self.populations and len(self.populations.keys() - {"mixture"}) < 2:
            raise ValueError("populations: give two or more beside mixture, which are told apart")


@dataclass
class Serve(Offering, Compared, WithBidder, Restricted):
    """The web page and the API."""

    if_referred = ("mechanism", "model")
    partly = ("evaluation.baselines",)

    task: str = "serve"


@dataclass
class SignalToNoise(Game, WithTraining):
    """How far the reward of a mechanism stands out from chance."""

    partly = ("training.grpo.group_size",)

    task: str = "signal_to_noise"


@dataclass
class Theory(Measured):
    """What auction theory says, beside the strategic market."""

    partly = ("evaluation.episodes",)

    task: str = "theory"


@dataclass
class Tour(InMarket, OfPopulations, Measured):
    """A market with and without each kind of trouble."""

    needs_populations = ("stage1", "stage2", "weak_ring", "exploiter_heavy")
    partly = ("evaluation.confidence", "evaluation.episodes", "evaluation.resamples")

    task: str = "tour"


@dataclass
class Tune(Study, OfPopulations, WithModel, WithTraining, Restricted):
    """A study, with the settings that its trials may take.

    Attributes:
        numbers: As in ``GrpoNumbers``.
        updates: As in ``GrpoNumbers``.
        ppo: As in ``Ppo``.
    """

    task: str = "tune"
    numbers: TabularSettings = field(default_factory=TabularSettings)
    updates: dict[str, TabularSettings] = field(default_factory=dict)
    ppo: PpoTraining = field(default_factory=PpoTraining)


@dataclass
class Understanding(StudyOfPopulations, OfRun, Restricted):
    """What a trained designer has understood of its bidders."""

    if_referred = ("mechanism", "trained")
    needs_baselines = ("best_own", "sft")
    partly = ("evaluation.baselines", "evaluation.episodes")

    task: str = "understanding"
