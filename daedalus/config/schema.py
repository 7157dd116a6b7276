"""The dataclass of a run, against which ``conf/`` is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from daedalus.config.paths import TASKS
from daedalus.evaluation.settings import AdversarySettings, EvaluationSettings
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.population_settings import PopulationSettings
from daedalus.rewards.stack import RewardStack
from daedalus.service.load_settings import LoadSettings
from daedalus.service.settings import ServiceSettings
from daedalus.tracking import TrackingSettings
from daedalus.training.settings import ModelSettings, TrainingSettings


@dataclass
class Config:
    """One run.

    Attributes:
        task: Module of ``experiments/`` that runs it.
        seed: The seed of everything, from 0 up.
        resume: Go on with the newest unfinished run of this experiment.
        population: The bidders.
        populations: The bidders of experiments on several populations, by name.
        market: Which market is played, and the shape of an episode.
        mechanism: The mechanism of the ``fixed`` designer.
        reward: What training maximises.
        designer: The designer under study.
        model: The language model that is trained.
        training: SFT, GRPO and the prompt.
        evaluation: Episodes, intervals and the baselines that every designer is compared with.
        adversary: The bidders that an adversary may choose, and the budget of its search.
        tracking: Where numbers go.
        service: Address, limits and designer of the service.
        load: The load under which a service is measured.
        trained: Folder of the sweep whose models ``leaderboard_trained`` compares.
    """

    task: str = MISSING
    seed: int = 0
    resume: bool = False
    population: PopulationSettings = MISSING
    populations: dict[str, PopulationSettings] = field(default_factory=dict)
    market: MarketSettings = field(default_factory=MarketSettings)
    mechanism: Mechanism = field(default_factory=Mechanism)
    reward: RewardStack = field(default_factory=RewardStack)
    designer: Any = MISSING
    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    adversary: AdversarySettings = field(default_factory=AdversarySettings)
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    service: ServiceSettings = field(default_factory=ServiceSettings)
    load: LoadSettings = field(default_factory=LoadSettings)
    trained: str = ""

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed: {self.seed}; give an integer from 0 up")
        if self.task not in TASKS:
            raise ValueError(f"task: {self.task!r}; choose one of {', '.join(TASKS)}")
        if self.training.grpo.horizon > self.market.episode_length:
            raise ValueError(
                f"training.grpo.horizon: {self.training.grpo.horizon}; "
                f"an episode has {self.market.episode_length} steps"
            )
