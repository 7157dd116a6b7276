"""Train two steps of GRPO with TRL's trainer; as a script, with the one that Unsloth generates.

A test runs the script in an environment with Unsloth. It gets the folder of a small model, and
prints the log.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

PATCHED = __name__ == "__main__"
if PATCHED:  # before trl; Unsloth's own switch leaves the trainers alone on a CPU
    os.environ |= {"UNSLOTH_ALLOW_CPU": "1", "TORCHDYNAMO_DISABLE": "1"}
    from unsloth.models.rl import _patch_trl_rl_trainers

    _patch_trl_rl_trainers("grpo_trainer")

import pytest  # noqa: E402
import torch  # noqa: E402
from peft import get_peft_model  # noqa: E402
from transformers import PreTrainedModel  # noqa: E402
from trl import GRPOConfig  # noqa: E402

from daedalus.design.env import DesignEnv  # noqa: E402
from daedalus.market.interface import MarketSettings  # noqa: E402
from daedalus.training.algorithms.grpo import trainer as grpo  # noqa: E402
from daedalus.training.algorithms.grpo.settings import GrpoSettings  # noqa: E402
from daedalus.training.backends import lora_config  # noqa: E402
from daedalus.training.model import LanguageModel, load_language_model  # noqa: E402
from daedalus.training.sources.make_source import make_source  # noqa: E402
from tests.populations import population  # noqa: E402
from tests.training.conftest import GRPO, LORA, make_run  # noqa: E402


def loaded(folder: str, patch: pytest.MonkeyPatch) -> LanguageModel:
    """Load the model and add adapters, as the backend of Unsloth does.

    It never samples padding, which Unsloth's trainer leaves out of the loss.
    """
    language_model = load_language_model(folder)
    tokenizer, settings_of = language_model.tokenizer, grpo.grpo_config
    never = {"suppress_tokens": [tokenizer.pad_token_id, tokenizer.eos_token_id]}

    def without_padding(*arguments: Any) -> GRPOConfig:
        config = settings_of(*arguments)
        config.generation_kwargs = never
        return config

    patch.setattr(grpo, "grpo_config", without_padding)
    if PATCHED:  # what FastLanguageModel would add; it loads on a GPU only
        PreTrainedModel.for_training = lambda self, *args, **kwargs: self.train()
        PreTrainedModel.for_inference = lambda self, *args, **kwargs: self.eval()
    torch.manual_seed(0)
    return LanguageModel(get_peft_model(language_model.model, lora_config(LORA)), tokenizer)


def distinct_letters(completions: list[list[dict[str, str]]], **columns: Any) -> list[float]:
    """Return rewards that differ, though no answer of an untrained model is a mechanism."""
    return [float(len(set(chat[0]["content"]))) for chat in completions]


def two_steps(folder: str) -> list[dict[str, Any]]:
    """Train the model of a folder; return the log."""
    changes = {"max_completion_tokens": 16, "beta": 0.1, "entropy_bonus": 0.1}
    settings = GrpoSettings(**{**vars(GRPO), **changes})
    env = DesignEnv.of(MarketSettings(), population(3))
    with tempfile.TemporaryDirectory() as out, pytest.MonkeyPatch.context() as patch:
        run = make_run(env, Path(out), settings)
        model = loaded(folder, patch)
        source = make_source(model, run, "grpo")
        grpo.train_grpo(model, replace(source, reward=distinct_letters), run)
        return run.tracker.history("grpo")


if __name__ == "__main__":
    print(json.dumps(two_steps(sys.argv[1])))
