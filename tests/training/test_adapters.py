"""The adapters of two phases add up to one that turns the base into the trained model."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from daedalus.runs.folder import RunFolder
from daedalus.training.backends import lora_config
from daedalus.training.checkpoints import export, write_sum
from daedalus.training.generation import generating
from daedalus.training.model import LanguageModel, load_language_model
from tests.training.conftest import LORA, PROMPT


def adapted(folder: Path, seed: int) -> LanguageModel:
    """Return an exported model with adapters of a random update that changes its answers."""
    loaded = load_language_model(folder)
    settings = lora_config(LORA)
    assert isinstance(settings, LoraConfig)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        settings.init_lora_weights = False
        return LanguageModel(get_peft_model(loaded.model, settings), loaded.tokenizer)


def logits(folder: Path) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(folder)
    with generating(model):
        return model(torch.arange(300, 332)[None]).logits


def test_two_phases_add_up(small: LanguageModel, tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    export(small, PROMPT, "", run.base_model)
    export(adapted(run.base_model, 1), PROMPT, run.base_model, run.sft_model)
    export(adapted(run.sft_model, 2), PROMPT, run.sft_model, run.model)
    for phases, trained in (
        ([run.sft_adapters], run.sft_model),
        ([run.sft_adapters, run.adapters], run.model),
    ):
        folder = tmp_path / f"sum_of_{len(phases)}"
        folder.mkdir()
        write_sum(run.base_model, phases, folder)
        assert sorted(path.name for path in folder.iterdir() if path.name != "README.md") == [
            "adapter_config.json", "adapter_model.safetensors",
        ]  # fmt: skip
        config = json.loads((folder / "adapter_config.json").read_text())
        assert config["base_model_name_or_path"] == str(run.base_model)
        assert config["r"] == len(phases) * LORA.rank
        torch.testing.assert_close(logits(folder), logits(trained), atol=1e-4, rtol=1e-4)
    assert (logits(run.model) - logits(run.base_model)).abs().max() > 0.01
