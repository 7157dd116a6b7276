"""Backends: how a model is loaded to train and gets adapters."""

from __future__ import annotations

from pathlib import Path

import torch
from peft import LoraConfig, PeftModel
from transformers import BitsAndBytesConfig, PreTrainedModel

from daedalus.training.model import LanguageModel, load_language_model
from daedalus.training.settings import LoraSettings, ModelSettings

ADAPTED = "all-linear"
"""peft's name of all linear layers but the output's. Each gets an adapter."""

_PACKED = "support_avx512bf16_for_cpu"  # of bitsandbytes' layers


def load_base(settings: ModelSettings, source: str | Path) -> LanguageModel:
    """Load the base weights from a folder or by a hub name, in the numbers of the settings.

    Raises:
        CannotRunError: The weights cannot be loaded.
    """
    if settings.load_in_4bit:
        language_model = load_language_model(source, quantisation())
        allow_training_after_generation(language_model.model)
        return language_model
    language_model = load_language_model(source)
    torch.nn.Module.to(language_model.model, getattr(torch, settings.dtype))
    return language_model


def adapted_by_unsloth(
    language_model: LanguageModel, lora: LoraSettings, seed: int
) -> LanguageModel:
    """Return the model with Unsloth's adapters.

    ``daedalus.training.hardware`` must have imported Unsloth before trl and transformers.
    """
    from unsloth import FastLanguageModel

    adapted = FastLanguageModel.get_peft_model(
        language_model.model,
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=ADAPTED,
        bias="none",
        use_gradient_checkpointing="unsloth",
        random_state=seed,
    )
    return LanguageModel(adapted, language_model.tokenizer)


def quantisation() -> BitsAndBytesConfig:
    """Return NF4 quantisation (Dettmers et al. 2023), which computes in bfloat16."""
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def allow_training_after_generation(model: PreTrainedModel) -> None:
    """Keep the layout of 4-bit weights on CPUs that multiply bfloat16.

    In evaluation mode, bitsandbytes packs the weights for such CPUs, and they no longer train.
    """
    if torch.cuda.is_available():
        return
    for layer in model.modules():
        if hasattr(layer, _PACKED):
            setattr(layer, _PACKED, False)


def lora_config(settings: LoraSettings) -> LoraConfig | None:
    """Return adapters on every linear layer, or None to train all weights."""
    if not settings.rank:
        return None
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=ADAPTED,
        task_type="CAUSAL_LM",
    )


def train_adapters_in_float32(model: torch.nn.Module) -> None:
    """Give adapters 32 bits.

    TRL gives the adapters of 4-bit models 16 bits. An update at a rate of 5e-6 is less than half
    of the distance between two such numbers, so hardly any would change.
    """
    if not isinstance(model, PeftModel):
        return
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
