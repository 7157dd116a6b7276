"""Checkpoints that are complete, and exported models and adapters that load by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.market.seeds import market_seeds
from daedalus.runs.folder import RunFolder
from daedalus.training.backends import lora_config
from daedalus.training.checkpoints import completed_steps, export, last_checkpoint, write_sum
from daedalus.training.generation import generating, make_generate
from daedalus.training.model import LanguageModel, load_language_model
from daedalus.training.trained_prompt import trained_prompt
from tests.training.conftest import LORA, PROMPT


def test_exported_model_designs_by_itself(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    prompt = PromptSettings(rounds=1, stage=True)
    export(small, prompt, "", tmp_path / "model")
    assert trained_prompt(tmp_path / "model") == prompt
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    assert model.generation_config.eos_token_id == tokenizer.convert_tokens_to_ids("<|im_end|>")
    generate = make_generate(LanguageModel(model, tokenizer), 0.0, 16)
    designer = LanguageModelDesigner(generate, prompt)
    observed = env.reset(market_seeds(0, "x", 3)).observe()
    proposals = designer.propose(observed, np.random.default_rng(0))
    assert len(proposals) == 3  # nonsense from random weights, so malformed, but never an exception
    assert proposals.malformed.all()


def test_a_checkpoint_cut_short_is_not_resumed(tmp_path: Path) -> None:
    for step, state in ((9, "{}"), (10, "{}"), (11, None), (12, ""), (13, '{"best_metric": nul')):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert completed_steps(tmp_path) == 10
    assert last_checkpoint(tmp_path / "nothing") is None
    assert completed_steps(tmp_path / "nothing") == 0


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
