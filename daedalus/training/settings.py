"""Settings of models and training; free of torch, so that composing a config stays quick."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from daedalus.checks import require_at_least
from daedalus.designers.distilled import DistilledSettings
from daedalus.designers.prompt import PromptSettings
from daedalus.market.population_settings import PopulationSettings

REWARD_SCALES = ("group", "batch", "none")
SCHEDULES = ("constant", "constant_with_warmup", "linear", "cosine")
ROLLOUTS = ("state", "episode")
_WORDS = {"scale_rewards": REWARD_SCALES, "schedule": SCHEDULES, "rollouts": ROLLOUTS}


@dataclass
class LoraSettings:
    """Low-rank adapters (Hu et al. 2021) on every linear layer of the transformer blocks.

    Attributes:
        rank: Rank r; 0 trains all weights instead.
        alpha: Scale; updates are multiplied by alpha / r.
        dropout: Dropout on the adapters' input, 0 to 1.
    """

    rank: int = 0
    alpha: int = 32
    dropout: float = 0.0

    def __post_init__(self) -> None:
        require_at_least(0, self, "rank", "alpha", "dropout")
        if self.dropout >= 1:
            raise ValueError(f"dropout: {self.dropout}; give a number below 1")


@dataclass
class ModelSettings:
    """The language model that is trained.

    Attributes:
        pretrained: Directory or hub name to start from; empty builds the embedded model, a Qwen2
            of the sizes below from random weights with a tokenizer of its own.
        hidden_size: Width of the residual stream.
        layers: Transformer blocks.
        heads: Attention heads, which divide ``hidden_size``.
        intermediate_size: Width of the feed-forward layers.
        vocabulary: Largest number of tokens that the tokenizer may learn; a compact prompt adds one
            for each number.
        weight_std: Standard deviation of the embedded model's random weights.
        output_std: The same of its output embeddings, which are not tied to the input's.
        load_in_4bit: NF4 weights through bitsandbytes while training adapters; needs a GPU.
        lora: Adapters.
    """

    pretrained: str = ""
    hidden_size: int = 128
    layers: int = 4
    heads: int = 4
    intermediate_size: int = 512
    vocabulary: int = 512
    weight_std: float = 0.05
    output_std: float = 0.3
    load_in_4bit: bool = False
    lora: LoraSettings = field(default_factory=LoraSettings)

    def __post_init__(self) -> None:
        require_at_least(1, self, "hidden_size", "layers", "heads", "intermediate_size")
        require_at_least(300, self, "vocabulary")
        require_at_least(0, self, "weight_std", "output_std")
        if self.hidden_size % self.heads:
            raise ValueError(f"heads: {self.heads}; give a divisor of hidden_size")
        if self.load_in_4bit and not self.lora.rank:
            raise ValueError("load_in_4bit: quantised weights do not train; set lora.rank too")


@dataclass
class SftSettings:
    """Supervised fine-tuning on pairs of a prompt and a valid mechanism.

    Attributes:
        steps: Optimiser steps; 0 skips the phase.
        batch_size: Pairs in a step.
        examples: Pairs in the data set.
        teacher: Distilled trees whose choices are the answers. None draws answers independently
            of the prompt, so that the model learns the format alone.
        practice: Further populations, by any name, in which the teacher answers. Half of the pairs
            come from the run's own population.
        temperature: Temperature, in units of the reward, at which the teacher's answers are drawn:
            in proportion to exp(expected reward / temperature).
        learning_rate: Peak rate of a cosine schedule.
        warmup_steps: Linear warm-up.
        validity_prompts: Prompts on which sampled validity is measured afterwards, at T = 1.
        save_every: Steps between checkpoints.
    """

    steps: int = 900
    batch_size: int = 32
    examples: int = 16384
    teacher: DistilledSettings | None = None
    practice: dict[str, PopulationSettings] = field(default_factory=dict)
    temperature: float = 0.002
    learning_rate: float = 3e-3
    warmup_steps: int = 20
    validity_prompts: int = 512
    save_every: int = 300

    def __post_init__(self) -> None:
        require_at_least(0, self, "steps", "learning_rate", "warmup_steps")
        require_at_least(1, self, "batch_size", "examples", "validity_prompts", "save_every")
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature: {self.temperature}; give a finite number above 0")


@dataclass
class GrpoSettings:
    """Group-relative policy optimisation (Shao et al. 2024) on forked markets.

    Attributes:
        steps: Optimiser steps; 0 skips the phase.
        prompts_per_step: Market states in a step.
        group_size: Completions of each prompt.
        micro_batch: Completions in one backward pass; divides the step's completions.
        rollouts: Whether a completion is scored in futures of a given market ``state``, or decides
            in an ``episode`` that the model plays from start to end.
        states: Market states, or episodes, that prompts are drawn from.
        own_states: Whether the model itself leads to those states. Otherwise random mechanisms do,
            from the portfolio if there is one.
        futures: Futures K that each completion's mechanism is played in, shared by its group.
        horizon: Steps that each future runs before the mechanism is scored, at least 1.
        commitment_steps: Steps for which the mechanism is kept, from 1 to below the horizon. The
            teacher of SFT then sets the mechanisms. None keeps it for the whole horizon.
        learning_rate: Peak rate.
        schedule: Learning-rate schedule, one of ``SCHEDULES``.
        warmup_steps: Linear warm-up.
        temperature: Sampling temperature of completions.
        beta: Weight of the KL penalty towards the SFT model; 0 keeps no reference model.
        entropy_bonus: Weight of the policy's entropy in the loss.
        iterations: Optimiser passes over each batch of completions.
        scale_rewards: What advantages are divided by: the standard deviation of rewards in the
            ``group``, in the ``batch``, or nothing (``none``).
        max_completion_tokens: Longest completion.
        max_gradient_norm: Gradients are clipped to this norm.
        save_every: Steps between checkpoints.
    """

    steps: int = 300
    prompts_per_step: int = 8
    group_size: int = 8
    micro_batch: int = 64
    rollouts: str = "state"
    states: int = 2048
    own_states: bool = False
    futures: int = 64
    horizon: int = 1
    commitment_steps: int | None = None
    learning_rate: float = 2e-4
    schedule: str = "constant_with_warmup"
    warmup_steps: int = 5
    temperature: float = 1.0
    beta: float = 0.0
    entropy_bonus: float = 0.0
    iterations: int = 1
    scale_rewards: str = "batch"
    max_completion_tokens: int = 128
    max_gradient_norm: float = 1.0
    save_every: int = 50

    def __post_init__(self) -> None:
        require_at_least(0, self, "steps", "learning_rate", "warmup_steps", "beta", "entropy_bonus")
        require_at_least(1, self, "prompts_per_step", "micro_batch", "states", "futures", "horizon")
        require_at_least(1, self, "iterations", "max_completion_tokens", "save_every")
        require_at_least(2, self, "group_size")
        for name, known in _WORDS.items():
            if getattr(self, name) not in known:
                wrong = getattr(self, name)
                raise ValueError(f"{name}: {wrong!r}; choose one of {', '.join(known)}")
        if self.prompts_per_step * self.group_size % self.micro_batch:
            total = self.prompts_per_step * self.group_size
            raise ValueError(f"micro_batch: {self.micro_batch}; give a divisor of {total}")
        if self.commitment_steps is not None and not 1 <= self.commitment_steps < self.horizon:
            raise ValueError(
                f"commitment_steps: {self.commitment_steps}; "
                f"give an integer from 1 to below the horizon, {self.horizon}, or null"
            )
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"temperature: {self.temperature}; give a finite number above 0")


@dataclass
class PortfolioSettings:
    """The portfolio under which training meets its markets: best responses to sampled populations.

    Attributes:
        populations: Number of populations sampled from the run's own. With 0 there is no portfolio
            and training meets markets under uniformly random mechanisms.
        episodes: Episodes behind each score of the search.
    """

    populations: int = 0
    episodes: int = 128

    def __post_init__(self) -> None:
        require_at_least(0, self, "populations")
        require_at_least(1, self, "episodes")


@dataclass
class StageSettings:
    """One population of a curriculum, and when it is left.

    Attributes:
        population: The population.
        promotion: Share of the way, from the reward of random mechanisms to that of the best fixed
            mechanism, that the moving mean has to reach.
        window: Prompts behind the moving mean.
    """

    population: PopulationSettings
    promotion: float = 1.0
    window: int = 50

    def __post_init__(self) -> None:
        require_at_least(1, self, "window")
        if not 0 <= self.promotion <= 1:
            raise ValueError(f"promotion: {self.promotion}; give a number from 0 to 1")


@dataclass
class CurriculumSettings:
    """Populations that GRPO trains on one after the other.

    Attributes:
        stages: By name, in order; the last is never left. None trains on the run's population.
    """

    stages: dict[str, StageSettings] = field(default_factory=dict)


@dataclass
class TrainingSettings:
    """Both phases, the portfolio they begin from, their prompt, and the stages of a curriculum."""

    sft: SftSettings = field(default_factory=SftSettings)
    grpo: GrpoSettings = field(default_factory=GrpoSettings)
    portfolio: PortfolioSettings = field(default_factory=PortfolioSettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    curriculum: CurriculumSettings = field(default_factory=CurriculumSettings)

    def __post_init__(self) -> None:
        if self.sft.teacher and not self.portfolio.populations:
            raise ValueError("sft.teacher needs a portfolio: set portfolio.populations above 0")
        if self.grpo.commitment_steps and not self.sft.teacher:
            raise ValueError(
                "grpo.commitment_steps needs a teacher: set sft.teacher, or commitment_steps: null"
            )
        if self.sft.practice and not self.sft.teacher:
            raise ValueError("sft.practice needs a teacher: set sft.teacher, or leave practice out")
        if self.curriculum.stages and self.grpo.rollouts == "episode":
            raise ValueError("curriculum needs states: set grpo.rollouts: state")
