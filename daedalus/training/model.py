"""Language models: the embedded one with random weights, or one that is loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from daedalus.checks import CannotRunError, doing
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings, prompts
from daedalus.design.search.states import RandomWalkDesigner, mid_episode_states
from daedalus.market.mechanism import Mechanisms
from daedalus.market.parsing import format_mechanism
from daedalus.runs.hub import is_hub_name, require_hub
from daedalus.training.defaults import neutral_generation, own_defaults, own_tokenizer
from daedalus.training.settings import ModelSettings
from daedalus.training.synthetic import synthetic_mechanisms
from daedalus.training.tokenizer import build_tokenizer, number_tokens

_CORPUS_STATES = 512
_MAX_POSITIONS = 2048
_WAVELENGTHS = (0.3, 25.0)  # of number embeddings, for differences from 0.02 to 9


@dataclass(frozen=True)
class LanguageModel:
    """A causal language model and its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase


def make_language_model(
    settings: ModelSettings,
    prompt: PromptSettings,
    env: DesignEnv,
    seed: int,
    portfolio: Mechanisms | None = None,
) -> LanguageModel:
    """Build the embedded model: a Qwen2 with random weights.

    Its tokenizer is trained on prompts of the environment, before which mechanisms of the portfolio
    are played, see ``RandomWalkDesigner``. The seed draws weights and prompts.
    """
    tokenizer = _tokenizer(settings, prompt, env, seed, portfolio)
    numbers = bool(set(number_tokens()) & set(tokenizer.get_vocab()))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Qwen2ForCausalLM(qwen2_config(settings, tokenizer))
        if not settings.tie_embeddings:
            torch.nn.init.normal_(model.lm_head.weight, std=settings.output_std)
        if numbers:
            _embed_numbers(model, tokenizer, settings.weight_std)
    neutral_generation(model, tokenizer)
    return LanguageModel(model, tokenizer)


def load_language_model(
    source: str | Path, quantisation: BitsAndBytesConfig | None = None
) -> LanguageModel:
    """Load a model from a folder or by its hub name, with ``own_defaults``.

    Raises:
        CannotRunError: There is no such model, it cannot be downloaded, or it cannot chat.
    """
    with doing(f"the model {source} cannot be loaded"), _load_advice(source):
        load = _load_by_unsloth if unsloth_loads() else _load
        model, tokenizer = load(source, quantisation)
    own_defaults(model, tokenizer)
    if torch.cuda.is_available() and not quantisation:  # quantised weights are on the GPU already
        torch.nn.Module.cuda(model)  # the method of the class has no types
    return LanguageModel(model, tokenizer)


def unsloth_loads() -> bool:
    """Return whether Unsloth is imported, and so has to load all models. It needs a GPU."""
    return "unsloth" in sys.modules and torch.cuda.is_available()


def _load(source: str | Path, quantisation: BitsAndBytesConfig | None) -> tuple[Any, Any]:
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForCausalLM.from_pretrained(
        source, dtype="auto", quantization_config=quantisation
    )
    return model, tokenizer


def _load_by_unsloth(
    source: str | Path, quantisation: BitsAndBytesConfig | None
) -> tuple[Any, Any]:
    """Load by Unsloth: it replaces methods of transformers, which fail on models of others."""
    from unsloth import FastLanguageModel

    loaded: tuple[Any, Any] = FastLanguageModel.from_pretrained(
        model_name=str(source),
        max_seq_length=_MAX_POSITIONS,
        dtype=torch.bfloat16,
        load_in_4bit=quantisation is not None,
        quantization_config=quantisation,
        use_exact_model_name=True,  # otherwise it loads other weights that it quantised itself
        use_gradient_checkpointing="unsloth",
        full_finetuning=False,
        fast_inference=False,
    )
    return loaded


def load_tokenizer(source: str | Path) -> PreTrainedTokenizerBase:
    """Load a tokenizer from a folder or by its hub name, see ``own_tokenizer``.

    Raises:
        CannotRunError: There is no such tokenizer, it cannot be downloaded, or it cannot chat.
    """
    with _load_advice(source):
        tokenizer = AutoTokenizer.from_pretrained(source)
    assert isinstance(tokenizer, PreTrainedTokenizerBase)
    own_tokenizer(tokenizer)
    return tokenizer


@contextmanager
def _load_advice(source: str | Path) -> Iterator[None]:
    if is_hub_name(str(source)):
        require_hub(str(source))
    try:
        yield
    except OSError as error:
        said = str(error).strip().partition("\n")[0]
        raise CannotRunError(
            f"{source}: no folder of a model, and not loaded from the hub "
            f"({said}); check the name and the network, and for a private model set HF_TOKEN"
        ) from error


def _tokenizer(
    settings: ModelSettings,
    prompt: PromptSettings,
    env: DesignEnv,
    seed: int,
    portfolio: Mechanisms | None,
) -> PreTrainedTokenizerBase:
    """Load a tokenizer, or train one on the prompts of states and as many mechanisms."""
    if settings.tokenizer:
        return load_tokenizer(settings.tokenizer)
    player = RandomWalkDesigner(portfolio)
    states = mid_episode_states(env, _CORPUS_STATES, seed, "corpus", designer=player)
    chats = prompts(states.observe(), prompt)
    texts = [message["content"] for chat in chats for message in chat]
    drawn = synthetic_mechanisms(_CORPUS_STATES, seed, env.goal)
    texts += [format_mechanism(each) for each in drawn]
    texts += ["system", "user", "assistant"] * _CORPUS_STATES
    return build_tokenizer(texts, settings.vocabulary, numbers=prompt.compact)


def qwen2_config(settings: ModelSettings, tokenizer: PreTrainedTokenizerBase) -> Qwen2Config:
    """Return the shape of the embedded model for a tokenizer."""
    tokens = len(tokenizer)
    return Qwen2Config(
        vocab_size=max(tokens, settings.vocabulary) if settings.tokenizer else tokens,
        hidden_size=settings.hidden_size,
        intermediate_size=settings.intermediate_size,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        num_key_value_heads=settings.key_value_heads or settings.heads,
        max_position_embeddings=_MAX_POSITIONS,
        tie_word_embeddings=settings.tie_embeddings,
        initializer_range=settings.weight_std,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _embed_numbers(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerBase, std: float) -> None:
    """Give close numbers close embeddings.

    Each dimension is a wave over the number with random length and phase (random Fourier features:
    Rahimi & Recht 2007). From 10 up numbers are sizes of markets, and ratios of sizes count: the
    waves are then over the logarithm.
    """
    numbers, rows = number_tokens(), tokenizer.convert_tokens_to_ids(number_tokens())
    values = torch.tensor([float(text) for text in numbers])[:, None]
    values = torch.where(values < 10, values, 10 * (1 + torch.log(values.clamp(min=10) / 10)))
    shortest, longest = np.log(_WAVELENGTHS)
    size = model.config.hidden_size
    lengths = torch.exp(shortest + (longest - shortest) * torch.rand(size))
    waves = torch.cos(2 * np.pi * (values / lengths + torch.rand(size)))
    with torch.no_grad():
        _input_weight(model)[rows] = np.sqrt(2.0) * std * waves


def keep_numbers_alike(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Freeze the embeddings of numbers, in models that have a token for each number.

    Training never shows many of the numbers. Without the freeze, their neighbours would move and
    they would not.
    """
    vocabulary = tokenizer.get_vocab()
    rows = [vocabulary[text] for text in number_tokens() if text in vocabulary]
    weight = _input_weight(model)
    if rows and weight.requires_grad:
        trained = torch.ones(len(weight), 1, device=weight.device, dtype=weight.dtype)
        trained[rows] = 0.0
        weight.register_hook(lambda gradient: gradient * trained)


def _input_weight(model: PreTrainedModel) -> torch.Tensor:
    """Return the input embeddings, shape (tokens, width)."""
    weight = model.get_input_embeddings().weight
    assert isinstance(weight, torch.Tensor)
    return weight
