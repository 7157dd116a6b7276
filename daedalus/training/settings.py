"""Settings of models and training. The module does not import torch, so that --help is fast."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from daedalus.checks import (
    require_above,
    require_at_least,
    require_folder_or_hub_name,
    require_one_of,
    require_share,
)
from daedalus.designers.distilled import DistilledSettings
from daedalus.language.prompt import PromptSettings
from daedalus.market.mechanism_table import read_mechanisms
from daedalus.market.population_settings import PopulationSettings

REWARD_SCALES = ("group", "batch", "none")
SCHEDULES = ("constant", "constant_with_warmup", "linear", "cosine")
ROLLOUTS = ("state", "episode")
LOSSES = ("grpo", "dr_grpo", "dapo", "bnpo", "cispo", "sapo", "luspo", "vespo")
LEVELS = ("token", "sequence")
BACKENDS = ("transformers", "unsloth")
MERGES = ("base", "dequantised")
_TOKENIZERS = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "tokenizer.model")
_WORDS = {
    "scale_rewards": REWARD_SCALES,
    "schedule": SCHEDULES,
    "rollouts": ROLLOUTS,
    "loss_type": LOSSES,
    "importance_sampling_level": LEVELS,
}


@dataclass
class LoraSettings:
    """Low-rank adapters (Hu et al. 2021) on every linear layer of the transformer blocks.

    Attributes:
        rank: Rank r; 0 trains all weights instead.
        alpha: Scale; updates are multiplied by alpha / r.
        dropout: Dropout on the adapters' input, from 0 to below 1.
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
        backend: Library that loads and adapts the model, one of ``BACKENDS``. Unsloth needs a GPU.
        pretrained: Folder or hub name of the first weights. If it is empty, the embedded model is
            built: a Qwen2 of the sizes below with random weights and its own tokenizer.
        tokenizer: Folder or hub name of a tokenizer that the embedded model takes instead.
        hidden_size: Width of the residual stream.
        layers: Transformer blocks.
        heads: Attention heads. Twice their number divides ``hidden_size``.
        key_value_heads: Heads of keys and values, a divisor of ``heads``; None is as many.
        intermediate_size: Width of the feed-forward layers.
        vocabulary: Largest number of tokens that the tokenizer may learn. A compact prompt adds one
            for each number. With a given tokenizer it is the number of embeddings.
        tie_embeddings: Whether input and output embeddings are the same weights.
        weight_std: Standard deviation of the embedded model's random weights.
        output_std: Standard deviation of its random output embeddings, if they are not tied.
        load_in_4bit: Whether base weights have 4 bits (NF4 of bitsandbytes) while adapters train.
        double_quantisation: Whether the scales of the 4-bit weights are quantised, too. This saves
            0.4 bits for each weight.
        merge: Weights that the adapters are added to at the end, one of ``MERGES``. ``base``: the
            weights before they were quantised. ``dequantised``: the 4-bit weights, as in training.
        memory_limit: Most memory of the GPU that training takes, in GiB; 0 is no limit.
        lora: Settings of the adapters.
    """

    backend: str = "transformers"
    pretrained: str = ""
    tokenizer: str = ""
    hidden_size: int = 128
    layers: int = 4
    heads: int = 4
    key_value_heads: int | None = None
    intermediate_size: int = 512
    vocabulary: int = 512
    tie_embeddings: bool = False
    weight_std: float = 0.05
    output_std: float = 0.3
    load_in_4bit: bool = False
    double_quantisation: bool = False
    merge: str = "base"
    memory_limit: float = 0.0
    lora: LoraSettings = field(default_factory=LoraSettings)

    def __post_init__(self) -> None:
        require_at_least(1, self, "hidden_size", "layers", "heads", "intermediate_size")
        require_at_least(300, self, "vocabulary")
        require_at_least(0, self, "weight_std", "output_std", "memory_limit")
        if self.hidden_size % (2 * self.heads):
            raise ValueError(
                f"heads: {self.heads}; give a divisor of half of hidden_size, {self.hidden_size}"
            )
        shared = self.key_value_heads
        if shared is not None and not (shared > 0 and self.heads % shared == 0):
            raise ValueError(f"key_value_heads: {shared}; give a divisor of heads, {self.heads}")
        require_folder_or_hub_name(self, "pretrained", "config.json")
        require_folder_or_hub_name(self, "tokenizer", *_TOKENIZERS)
        require_one_of(BACKENDS, self, "backend")
        require_one_of(MERGES, self, "merge")
        if self.load_in_4bit and not self.lora.rank:
            raise ValueError("load_in_4bit: quantised weights do not train; set lora.rank too")
        if self.double_quantisation and not self.load_in_4bit:
            raise ValueError("double_quantisation: no weights are quantised; set load_in_4bit too")
        if self.merge == "dequantised" and not self.load_in_4bit:
            raise ValueError("merge: dequantised: no weights are quantised; set load_in_4bit too")
        if self.backend == "unsloth" and not self.lora.rank:
            raise ValueError("backend: unsloth trains adapters only; set lora.rank too")


def without_adapters(settings: ModelSettings) -> ModelSettings:
    """Return settings of the same model with all its weights, not quantised."""
    return replace(
        settings,
        backend="transformers",
        load_in_4bit=False,
        double_quantisation=False,
        merge="base",
        lora=LoraSettings(),
    )


@dataclass
class CorrectionSettings:
    """Further SFT in states to which the model itself leads, with the teacher's answers.

    Attributes:
        rounds: How often the model plays and is then trained; 0 skips this.
        examples: Pairs of a round. They are all steps of the episodes that the model plays.
        steps: Optimiser steps of a round.
        learning_rate: Peak rate of a round's cosine schedule.
    """

    rounds: int = 0
    examples: int = 48000
    steps: int = 1500
    learning_rate: float = 7e-4

    def __post_init__(self) -> None:
        require_at_least(0, self, "rounds", "learning_rate")
        require_at_least(1, self, "examples", "steps")


@dataclass
class SftSettings:
    """Supervised fine-tuning on pairs of a prompt and a valid mechanism.

    Attributes:
        steps: Optimiser steps; 0 skips the phase.
        batch_size: Pairs in a step, of all processes together.
        examples: Pairs in the data set.
        teacher: Settings of the teacher, whose choices are the answers. With None, answers do not
            depend on the prompt, so that the model learns the format only.
        practice: More populations, by any name, in which the teacher answers. Half of the pairs
            come from the run's own population.
        exploration: Probability, 0 to 1, that a random candidate is played instead of the teacher's
            choice, up to the states of the pairs. If the teacher's choices are nearly always in
            force, a model learns to keep what is in force. Without a teacher it has no effect.
        first_decisions: Share of the pairs, 0 to 1, that are the first decision of an episode. The
            others are uniform over the steps. Without a teacher it has no effect.
        corrections: Further training after these pairs. It needs a teacher.
        temperature: Temperature of the teacher's answers, in units of the reward. Answers are drawn
            in proportion to exp(expected reward / temperature).
        learning_rate: Peak rate of a cosine schedule.
        warmup_steps: Steps of the linear warm-up.
        validity_prompts: Prompts on which validity is measured after SFT, at temperature 1.
        save_every: Steps between checkpoints.
    """

    steps: int = 900
    batch_size: int = 32
    examples: int = 16384
    teacher: DistilledSettings | None = None
    practice: dict[str, PopulationSettings] = field(default_factory=dict)
    exploration: float = 0.1
    first_decisions: float = 0.0
    corrections: CorrectionSettings = field(default_factory=CorrectionSettings)
    temperature: float = 0.002
    learning_rate: float = 3e-3
    warmup_steps: int = 20
    validity_prompts: int = 512
    save_every: int = 300

    def __post_init__(self) -> None:
        require_at_least(0, self, "steps", "learning_rate", "warmup_steps")
        require_at_least(1, self, "batch_size", "examples", "validity_prompts", "save_every")
        require_share(self, "exploration", "first_decisions")
        if self.corrections.rounds and not (self.teacher and self.steps):
            raise ValueError(
                "corrections: these follow lessons of a teacher: set teacher and steps"
            )
        require_above(0, self, "temperature")
        self._check_examples()

    def _check_examples(self) -> None:
        """Check that each step has all its pairs, and each population of practice some."""
        if not self.steps:
            return
        given = {"examples": self.examples}
        if self.corrections.rounds:
            given["corrections.examples"] = self.corrections.examples
        for name, count in given.items():
            if count < self.batch_size:
                raise ValueError(
                    f"{name}: {count}; a step takes {self.batch_size} of them "
                    f"(batch_size), so give {self.batch_size} or more, or a smaller batch_size"
                )
        first, least = round(self.first_decisions * self.examples), 2 * len(self.practice)
        for count in filter(None, (first, self.examples - first)):
            if count < least:
                raise ValueError(
                    f"examples: {self.examples}; half of {count} first or later "
                    f"decisions go to the {len(self.practice)} populations of practice, so give "
                    "more, or fewer populations"
                )


@dataclass
class GrpoSettings:
    """Group-relative policy optimisation (Shao et al. 2024) on forked markets.

    Attributes:
        steps: Optimiser steps; 0 skips the phase.
        prompts_per_step: Market states in a step, of all processes together.
        group_size: Completions of each prompt.
        siblings: Completions of each group that are not sampled. They are the best of the group's
            other answers and of the portfolio, by look-ahead.
        micro_batch: Completions in one backward pass; divides the step's completions. A process
            that has fewer takes all of its own.
        rollouts: ``state``: a completion is played in futures of a given market state.
            ``episode``: the model plays whole episodes, and a completion is one of its decisions.
        states: Number of market states, or of episodes, from which prompts are drawn.
        regret_pool: States from which each state is taken. Half of them are those in which the
            best known mechanism earns most above the model's answer, see ``states_of_regret``. With
            1 all states are uniform.
        own_states: Whether the model plays the episodes up to these states. Otherwise a random
            walk does, over the portfolio if there is one.
        futures: Number of futures K in which each mechanism is played. A group shares them.
        horizon: Steps of each future, at least 1; the last is scored.
        commitment_steps: Steps for which the mechanism stays in force, from 1 to below the horizon.
            Then the teacher of SFT chooses the mechanisms. With None it stays for the whole
            horizon.
        learning_rate: Peak rate.
        schedule: Learning-rate schedule, one of ``SCHEDULES``.
        warmup_steps: Steps of the linear warm-up.
        temperature: Sampling temperature of completions.
        loss_type: How the losses of tokens are summed and clipped, one of ``LOSSES``, by the names
            of TRL.
        epsilon: Importance ratios below 1 - epsilon are clipped, and above 1 + epsilon unless
            ``epsilon_high`` is set. With one iteration no ratio differs from 1.
        epsilon_high: Another upper bound (Yu et al. 2025). For the loss ``cispo`` it is the largest
            ratio itself (MiniMax 2025).
        importance_sampling_level: Whether ratios belong to each ``token`` or to the ``sequence``
            (GSPO: Zheng et al. 2025).
        mask_truncated_completions: Whether answers that reach ``max_completion_tokens`` are left
            out of the loss.
        beta: Weight of the KL penalty towards the SFT model. With 0 no reference model is loaded.
        use_bias_correction_kl: Whether the penalty is multiplied by the importance ratio, which
            makes its gradient unbiased (DeepSeek-AI 2025).
        entropy_bonus: Weight of the policy's entropy in the loss.
        iterations: Optimiser passes over each batch of completions.
        scale_rewards: Divisor of the advantages: the standard deviation of rewards in the
            ``group`` or in the ``batch``, or no divisor (``none``).
        max_completion_tokens: Largest number of tokens of a completion.
        max_gradient_norm: Gradients are clipped to this norm.
        vllm_server: Address of a vLLM server that samples the completions, such as
            ``http://localhost:8000``. If it is empty, the trainer samples them itself. It needs a
            GPU, and weights that are not quantised. It has not been run with a real server.
        save_every: Steps between checkpoints.
    """

    steps: int = 300
    prompts_per_step: int = 8
    group_size: int = 8
    siblings: int = 0
    micro_batch: int = 64
    rollouts: str = "state"
    states: int = 2048
    regret_pool: int = 1
    own_states: bool = False
    futures: int = 64
    horizon: int = 1
    commitment_steps: int | None = None
    learning_rate: float = 2e-4
    schedule: str = "constant_with_warmup"
    warmup_steps: int = 5
    temperature: float = 1.0
    loss_type: str = "dapo"
    epsilon: float = 0.2
    epsilon_high: float | None = None
    importance_sampling_level: str = "token"
    mask_truncated_completions: bool = False
    beta: float = 0.0
    use_bias_correction_kl: bool = True
    entropy_bonus: float = 0.0
    iterations: int = 1
    scale_rewards: str = "batch"
    max_completion_tokens: int = 128
    max_gradient_norm: float = 1.0
    vllm_server: str = ""
    save_every: int = 50

    def __post_init__(self) -> None:
        require_at_least(0, self, "steps", "learning_rate", "warmup_steps", "beta", "entropy_bonus")
        require_at_least(1, self, "prompts_per_step", "micro_batch", "states", "futures", "horizon")
        require_at_least(1, self, "iterations", "max_completion_tokens", "save_every")
        require_at_least(2, self, "group_size")
        require_at_least(0, self, "siblings")
        require_at_least(1, self, "regret_pool")
        require_above(0, self, "temperature", "max_gradient_norm")
        if self.siblings >= self.group_size:
            raise ValueError(f"siblings: {self.siblings}; give less than group_size")
        if self.siblings and (self.rollouts == "episode" or self.vllm_server):
            raise ValueError(
                "siblings: only states have them; set rollouts: state and no vllm_server"
            )
        if self.regret_pool > 1 and self.rollouts == "episode":
            raise ValueError("regret_pool: episodes have no pool; set rollouts: state")
        for name, known in _WORDS.items():
            require_one_of(known, self, name)
        self._check_steps()
        if self.commitment_steps is not None and not 1 <= self.commitment_steps < self.horizon:
            raise ValueError(
                f"commitment_steps: {self.commitment_steps}; "
                f"give an integer from 1 to below the horizon, {self.horizon}, or null"
            )
        self._check_loss()
        if self.vllm_server and self.rollouts == "episode":
            raise ValueError(
                "vllm_server: episodes are sampled by the trainer; set rollouts: state"
            )

    def _check_steps(self) -> None:
        """Check that the states suffice for a step, and that its completions can be divided."""
        prompts, micro_batch = self.prompts_per_step, self.micro_batch
        if self.steps and self.states < prompts:
            raise ValueError(
                f"states: {self.states}; a step takes {prompts} of them "
                f"(prompts_per_step), so give {prompts} or more, or a smaller prompts_per_step"
            )
        total = prompts * self.group_size
        if total % micro_batch:
            divisor = next(each for each in range(micro_batch, 0, -1) if total % each == 0)
            unit = micro_batch // math.gcd(micro_batch, self.group_size)
            raise ValueError(
                f"prompts_per_step: {prompts} in groups of {self.group_size} are "
                f"{total} completions, which micro_batch: {micro_batch} does not "
                f"divide; give prompts_per_step: {-(-prompts // unit) * unit}, or micro_batch: "
                f"{divisor}"
            )

    def _check_loss(self) -> None:
        require_at_least(0, self, "epsilon")
        cispo, high = self.loss_type == "cispo", self.epsilon_high
        if cispo and high is None:
            raise ValueError("loss_type: cispo needs epsilon_high, the largest ratio, such as 5")
        least = 1.0 if cispo else self.epsilon
        if high is not None and not least <= high < math.inf:
            raise ValueError(f"epsilon_high: {high}; give a finite number from {least} up")
        if high is not None and self.iterations == 1 and not cispo:
            raise ValueError("epsilon_high: one iteration clips no ratio; set iterations above 1")
        if self.loss_type == "luspo" and self.importance_sampling_level != "sequence":
            raise ValueError("loss_type: luspo needs importance_sampling_level: sequence")


@dataclass
class PortfolioSettings:
    """The portfolio of a run: the best mechanisms for sampled populations.

    Training states come from random walks over the portfolio, and a teacher chooses from it.

    Attributes:
        populations: Number of populations sampled from the run's own. With 0 there is no portfolio,
            and training states come from uniformly random mechanisms.
        episodes: Episodes of each score of the search.
        file: The portfolio.csv of another run, which replaces the search.
    """

    populations: int = 0
    episodes: int = 128
    file: str | None = None

    def __post_init__(self) -> None:
        require_at_least(0, self, "populations")
        require_at_least(1, self, "episodes")
        if self.file and not Path(self.file).is_file():
            raise ValueError(f"file: no file {self.file}; give a run's portfolio.csv, or null")
        if self.file and not self.populations:
            raise ValueError("file: nothing reads it, because populations is 0; give 1 or more")
        if self.file:
            try:
                read_mechanisms(Path(self.file))
            except ValueError as error:
                raise ValueError(f"file: {error}; give a run's portfolio.csv, or null") from error


@dataclass
class StageSettings:
    """A stage of a curriculum: its population, and the threshold at which training leaves it.

    Attributes:
        population: The population.
        promotion: Place of the threshold: 0 is the mean reward of random mechanisms, 1 that of the
            best fixed mechanism. The moving mean of rewards must reach the threshold.
        window: Number of prompts in the moving mean.
    """

    population: PopulationSettings
    promotion: float = 1.0
    window: int = 50

    def __post_init__(self) -> None:
        require_at_least(1, self, "window")
        require_share(self, "promotion")


@dataclass
class CurriculumSettings:
    """Settings of a curriculum.

    Attributes:
        stages: Stages by name, in order. Training ends in the last. If there are none, GRPO trains
            on the run's population.
    """

    stages: dict[str, StageSettings] = field(default_factory=dict)


@dataclass
class TrainingSettings:
    """Settings of SFT, GRPO, the portfolio, the prompt and the curriculum."""

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
            raise ValueError("sft.practice needs a teacher: set sft.teacher, or omit practice")
        for name, least in (("siblings", 0), ("regret_pool", 1)):
            alone = self.curriculum.stages or not self.portfolio.populations
            if getattr(self.grpo, name) > least and alone:
                raise ValueError(
                    f"grpo.{name} needs the portfolio of one population: set "
                    "portfolio.populations above 0, and training/curriculum=none"
                )
        if self.curriculum.stages and self.grpo.rollouts == "episode":
            raise ValueError("curriculum needs states: set grpo.rollouts: state")
