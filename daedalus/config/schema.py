"""The dataclass of a run. Files in ``conf/`` are checked against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from daedalus.bids.settings import BidLogSettings
from daedalus.checks import Checked, bounded, within
from daedalus.config.tasks import known_tasks
from daedalus.config.tuning import TuningSettings
from daedalus.evaluation.settings import AdversarySettings, EvaluationSettings
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.population_settings import PopulationSettings
from daedalus.publishing.settings import HubSettings
from daedalus.rewards.stack import RewardStack
from daedalus.runs.tracking import TrackingSettings
from daedalus.service.load_settings import LoadSettings
from daedalus.service.settings import ServiceSettings
from daedalus.studies.coverage_settings import CoverageSettings
from daedalus.training.algorithms.grpo.settings import AIMS
from daedalus.training.ppo.settings import PpoTraining
from daedalus.training.settings import ModelSettings, TrainingSettings
from daedalus.training.tabular_settings import TabularSettings

MOST_SEED = 2**32 - 1
"""The libraries that train take no larger one."""


@dataclass
class Config(Checked):
    """One run.

    Attributes:
        task: The module of ``experiments/`` that is run.
        seed: Seed of all random draws, from 0 to 4294967295.
        resume: Continue the newest unfinished run of this experiment.
        workers: Processes that share the searches, the lessons and the leaderboard's populations,
            at most one for each core; None is one for each. Results do not depend on it.
        population: The bidders.
        populations: Populations by name, for experiments on several of them.
        market: The market that is played, and the shape of an episode.
        markets: Markets by name, among which the visitors of the service choose.
        mechanism: The mechanism of the ``fixed`` designer.
        reward: The reward stack that searches and training maximise.
        objectives: Rewards by name, among which the visitors of the service choose.
        designer: The designer that is studied.
        bidder: The language model that bids in ``llm_bidders``, or for the visitors of the service.
        model: The language model that is trained.
        training: SFT, GRPO and the prompt.
        numbers: Training of the policy of plain numbers.
        updates: Trainings of it by the names of their updates, to compare instead of that one.
        ppo: Training by PPO.
        evaluation: Episodes, intervals and baselines.
        adversary: The bidders that an adversary may choose, and the budget of its search.
        tracking: Where a run writes its numbers.
        service: Address, limits and designer of the service.
        load: The load under which the service is measured.
        hub: Where a model is published, and how.
        tuning: The study of ``tune``.
        trained: Folder of the training sweep that ``leaderboard_trained`` scores, or of the run
            that ``understanding`` reads.
        bids: A CSV file with a row for each bid, or ``timber``.
        bid_log: How this log is read, and how values are estimated from it.
        coverage: The simulated logs of ``coverage``.
    """

    task: str = MISSING
    seed: int = within(0, MOST_SEED, 0, "an integer")
    resume: bool = False
    workers: int | None = bounded(
        1, lambda count: count >= 1, "give an integer from 1 up, or null for all cores"
    )
    population: PopulationSettings = MISSING
    populations: dict[str, PopulationSettings] = field(default_factory=dict)
    market: MarketSettings = field(default_factory=MarketSettings)
    markets: dict[str, MarketSettings] = field(default_factory=dict)
    mechanism: Mechanism = field(default_factory=Mechanism)
    reward: RewardStack = field(default_factory=RewardStack)
    objectives: dict[str, RewardStack] = field(default_factory=dict)
    designer: Any = MISSING
    bidder: Any = None
    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    numbers: TabularSettings = field(default_factory=TabularSettings)
    updates: dict[str, TabularSettings] = field(default_factory=dict)
    ppo: PpoTraining = field(default_factory=PpoTraining)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    adversary: AdversarySettings = field(default_factory=AdversarySettings)
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    service: ServiceSettings = field(default_factory=ServiceSettings)
    load: LoadSettings = field(default_factory=LoadSettings)
    hub: HubSettings = field(default_factory=HubSettings)
    tuning: TuningSettings = field(default_factory=TuningSettings)
    trained: str = ""
    bids: str = ""
    bid_log: BidLogSettings = field(default_factory=BidLogSettings)
    coverage: CoverageSettings = field(default_factory=CoverageSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_task("task", self.task, known_tasks())
        stacks = {f"objectives.{name}": each for name, each in self.objectives.items()}
        for place, stack in ({"reward": self.reward} | stacks).items():
            for name, weight in stack.weights.items():
                if weight < 0:
                    raise ValueError(
                        f"{place}.weights.{name}: {weight}; give a finite number from 0 up"
                    )
        self._check_shards()
        self._check_unsloth()
        self._check_corrections()
        self._check_weights()
        if self.task == "tune":
            self._check_tuning()
        if self.training.grpo.vllm_server and self.model.load_in_4bit:
            raise ValueError(
                "training.grpo.vllm_server: its server cannot take over 4-bit weights; set "
                "model.load_in_4bit=false, or leave vllm_server empty"
            )
        self._check_horizons()

    def _check_horizons(self) -> None:
        """Check that futures fit into an episode."""
        horizons = {
            f"training.{name}": each.horizon for name, each in self.training.reinforcement.items()
        }
        if self.task == "grpo_numbers":
            self._check_updates()
            horizons["numbers"] = self.numbers.horizon
            horizons |= {f"updates.{name}": each.horizon for name, each in self.updates.items()}
        for name, horizon in horizons.items():
            if horizon > self.market.episode_length:
                raise ValueError(
                    f"{name}.horizon: {horizon}; an episode has {self.market.episode_length} steps"
                )

    def _check_updates(self) -> None:
        """Check that updates have names of their own, which files can bear."""
        if self.updates and self.numbers != TabularSettings():
            raise ValueError("numbers: the updates are trained instead; set updates.NAME")
        for name in self.updates:
            if not name.isidentifier():
                raise ValueError(f"updates.{name}: name it by letters, digits and underscores")
            if name in self.evaluation.baselines:
                raise ValueError(f"updates.{name}: a baseline has this name; choose another one")

    def _check_weights(self) -> None:
        """Check that prompts that show weights can show those of the reward."""
        asked = [self.training, self.designer, *self.evaluation.baselines.values()]
        for prompt in (getattr(each, "prompt", None) for each in asked):
            if prompt is not None:
                prompt.require_shown(self.reward.active)

    def _check_corrections(self) -> None:
        """Check that each population of practice has an episode of the corrections."""
        sft = self.training.sft
        more, least = sft.corrections, 2 * len(sft.practice) * self.market.episode_length
        if more.rounds and more.examples <= least - self.market.episode_length:
            raise ValueError(
                f"training.sft.corrections.examples: {more.examples}; half of them go to the "
                f"{len(sft.practice)} populations of practice, in episodes of "
                f"{self.market.episode_length} steps, so give {least} or more, or fewer populations"
            )

    def _check_tuning(self) -> None:
        if not self.tuning.space:
            raise ValueError("tuning.space: it is empty; choose what is tuned, as in tuning=grpo")
        others = [task for task in known_tasks() if task != "tune"]
        _require_task("tuning.task", self.tuning.task, others)

    def _check_shards(self) -> None:
        shards = self.evaluation.shards
        if shards > 1 and self.task != "leaderboard":
            raise ValueError(f"evaluation.shards: {shards}; {self.task} has none, so leave it out")
        if shards > 1 and shards > len(self.populations):
            raise ValueError(
                f"evaluation.shards: {shards}; there are {len(self.populations)} populations, "
                "so give at most as many"
            )

    def _check_unsloth(self) -> None:
        if self.model.backend != "unsloth":
            return
        grpo = self.training.grpo
        if grpo.loss_type == "dr_grpo" and grpo.scale_rewards == "group":
            raise ValueError(
                "training.grpo.scale_rewards: group; unsloth does not scale the rewards of "
                "dr_grpo, so set it to none, or choose model.backend=transformers"
            )
        if grpo.loss_type in AIMS:
            raise ValueError(
                f"training.grpo.loss_type: {grpo.loss_type}; unsloth does not tell the odds of "
                "answers, so choose model.backend=transformers"
            )
        if grpo.vllm_server:
            raise ValueError(
                "training.grpo.vllm_server: not with unsloth; choose model.backend=transformers"
            )


def _require_task(key: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise ValueError(f"{key}: {name!r}; choose one of {', '.join(known)}")
