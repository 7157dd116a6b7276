"""Backends: 4-bit weights with adapters take the way of the published model, on a CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from peft import PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, Qwen2ForCausalLM

from daedalus.design.env import DesignEnv
from daedalus.launch.config.compose import compose_config
from daedalus.market.parsing import parse_mechanism
from daedalus.training import pipeline
from daedalus.training.algorithms.grpo import trainer as grpo
from daedalus.training.algorithms.sft import trainer as sft
from daedalus.training.algorithms.sft.settings import SftSettings
from daedalus.training.backends import load_base, lora_config, train_adapters_in_float32
from daedalus.training.checkpoints import export
from daedalus.training.generation import complete, generating
from daedalus.training.model import LanguageModel, load_language_model, qwen2_config
from daedalus.training.settings import ModelSettings, TrainingSettings
from daedalus.training.writing import mechanism_constraint
from tests.training.conftest import GRPO, LORA, PROMPT, QLORA, SFT, chats_of, make_run
from tests.training.generated_trainer import two_steps

ROOT = Path(__file__).parents[2]
UNSLOTH = """
unsloth==2026.10.7 unsloth_zoo==2026.10.7 torchao triton tyro typeguard docstring_parser shtab
cut_cross_entropy msgspec nest_asyncio structlog hf_transfer diffusers
""".split()
"""Unsloth, and the libraries of its own that it imports."""


@pytest.fixture
def base(small: LanguageModel, tmp_path: Path) -> Path:
    export(small, PROMPT, "", tmp_path / "base")
    return tmp_path / "base"


def logits(model: torch.nn.Module) -> torch.Tensor:
    """Return log-probabilities of the tokens after each of some tokens."""
    with generating(model):
        return model(torch.arange(300, 332)[None]).logits.float().log_softmax(-1)


def divergence(one: torch.Tensor, other: torch.Tensor) -> float:
    """Return the mean KL divergence between predictions, in nats."""
    return float((one.exp() * (one - other)).sum(-1).mean())


@pytest.mark.slow
def test_the_published_counts_are_those_of_the_shape(small: LanguageModel) -> None:
    settings = compose_config(
        "+experiment=smoke", "model=qwen2.5-1.5b-shape", "model.tokenizer=any"
    ).model
    lora = lora_config(settings.lora)
    assert lora is not None
    with torch.device("meta"):
        model = Qwen2ForCausalLM(qwen2_config(settings, small.tokenizer))
    assert model.num_parameters() == 1_543_714_304
    with torch.device("meta"):
        adapted = get_peft_model(model, lora)
    assert adapted.get_nb_trainable_parameters() == (18_464_768, 1_562_179_072)


@pytest.mark.parametrize("load_in_4bit", [False, True])
def test_unsloth_gets_every_setting_of_the_model(
    load_in_4bit: bool, small: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}
    loader = SimpleNamespace(
        from_pretrained=lambda **options: given.update(options) or (small.model, small.tokenizer)
    )
    monkeypatch.setitem(sys.modules, "unsloth", SimpleNamespace(FastLanguageModel=loader))
    monkeypatch.setattr("daedalus.training.model.unsloth_loads", lambda: True)
    monkeypatch.setattr("daedalus.training.model.require_hub", lambda name: None)
    settings = ModelSettings(backend="unsloth", load_in_4bit=load_in_4bit, lora=LORA)
    load_base(settings, "org/weights")
    assert given["model_name"] == "org/weights" and given["load_in_4bit"] is load_in_4bit
    quantisation = given["quantization_config"]
    if load_in_4bit:
        assert quantisation.bnb_4bit_quant_type == "nf4"
        assert not quantisation.bnb_4bit_use_double_quant
    else:
        assert quantisation is None
    assert load_language_model("org/trained").model is small.model  # to be evaluated after training


def test_the_mode_of_a_model_is_restored(small: LanguageModel) -> None:
    for training in (True, False):
        small.model.train(training)
        with pytest.raises(KeyError), generating(small.model):
            assert not small.model.training
            raise KeyError
        assert small.model.training == training


def test_weights_that_are_not_adapters_keep_their_precision() -> None:
    layer = torch.nn.Linear(2, 2).bfloat16()
    train_adapters_in_float32(layer)
    assert layer.weight.dtype == torch.bfloat16


def test_a_quantised_model_trains_after_it_generated(
    env: DesignEnv, base: Path, tmp_path: Path
) -> None:
    """On CPUs that multiply bfloat16, bitsandbytes would pack the weights at the first answer."""
    model = load_base(QLORA, base)
    chats = chats_of(env, 2)
    assert len(complete(model, chats, 1.0, 4).texts) == 2
    trained = sft.train(model, make_run(env, tmp_path, SFT, QLORA))
    assert len(complete(trained, chats, 1.0, 4).texts) == 2
    adapters = [each for each in trained.model.parameters() if each.requires_grad]
    assert len(adapters) == 28  # in 16 bits hardly any number moves at 5e-6
    assert {each.dtype for each in adapters} == {torch.float32}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "most"),
    [
        ({"load_in_4bit": True}, 0.3),
        ({"load_in_4bit": True, "merge": "dequantised"}, 1e-4),
        ({"dtype": "bfloat16"}, 1e-3),
    ],
)
def test_a_merged_model_answers_as_the_trained_one(
    env: DesignEnv, base: Path, tmp_path: Path, numbers: dict[str, Any], most: float
) -> None:
    """Merged into the 4-bit weights, little is lost. The other weights differ by rounding."""
    settings = ModelSettings(lora=LORA, **numbers)
    start = load_base(settings, base)
    before = logits(start.model)
    strong = SftSettings(**{**vars(SFT), "learning_rate": 0.1})
    trained = sft.train(start, make_run(env, tmp_path, strong, settings))
    assert isinstance(trained.model, PeftModel)
    export(trained, PROMPT, base, tmp_path / "model", settings)
    assert not list((tmp_path / "model").glob("*adapter*"))
    assert (tmp_path / "model_adapters" / "adapter_model.safetensors").exists()
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    after = logits(trained.model)
    assert divergence(after, logits(merged)) < most < divergence(after, before)


def test_a_quantised_export_loads_plainly_and_again_in_4_bits(base: Path) -> None:
    plain, again = load_language_model(base), load_base(QLORA, base)
    ratio = again.model.get_memory_footprint() / plain.model.get_memory_footprint()
    assert ratio < 0.8
    assert np.isfinite(logits(again.model)).all()


def test_base_weights_in_16_bits_train_and_answer_under_the_schema(
    env: DesignEnv, base: Path, tmp_path: Path
) -> None:
    settings = ModelSettings(dtype="bfloat16", lora=LORA)
    start = load_base(settings, base)
    assert {weight.dtype for weight in start.model.parameters()} == {torch.bfloat16}
    options = replace(GRPO, constrained=True)
    trained = grpo.train(start, make_run(env, tmp_path, options, settings))
    adapters = [weight for weight in trained.model.parameters() if weight.requires_grad]
    assert {weight.dtype for weight in adapters} == {torch.float32}
    assert all(torch.isfinite(weight).all() for weight in adapters)
    chats = chats_of(env, 2)
    said = complete(trained, chats, 0.0, 99, mechanism_constraint(trained))
    assert all(parse_mechanism(text).valid for text in said.texts)


@pytest.mark.slow
def test_where_nothing_follows_sft_its_model_is_exported_as_it_is(
    env: DesignEnv, base: Path, tmp_path: Path
) -> None:
    settings = ModelSettings(dtype="bfloat16", lora=LORA, pretrained=str(base))
    asked = TrainingSettings(prompt=PROMPT, sft=SFT, grpo=replace(GRPO, steps=0))
    run = make_run(env, tmp_path / "run", asked, settings)
    pipeline.train(run)
    taught, whole = (
        load_language_model(folder).model.state_dict()
        for folder in (run.folder.sft_model, run.folder.model)
    )
    assert {each.dtype for each in whole.values()} == {torch.float32}
    assert all(torch.equal(each, whole[name]) for name, each in taught.items())


def test_weights_of_16_bits_train_in_32_unless_the_settings_say_otherwise(
    base: Path, tmp_path: Path
) -> None:
    coarse = load_base(ModelSettings(dtype="bfloat16", lora=LORA), base)
    coarse.model.save_pretrained(tmp_path)
    coarse.tokenizer.save_pretrained(tmp_path)
    fine = load_base(ModelSettings(), tmp_path)
    assert {weight.dtype for weight in fine.model.parameters()} == {torch.float32}


@pytest.fixture(scope="module")
def unsloth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install Unsloth apart, because its libraries change transformers wherever they are found."""
    folder = tmp_path_factory.mktemp("unsloth")
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps"]
    place = ["--python", sys.executable, "--target", str(folder)]
    subprocess.run([*command, *place, *UNSLOTH], check=True)
    return folder


@pytest.mark.slow
def test_the_trainer_that_unsloth_generates_takes_the_same_steps(
    base: Path, unsloth: Path, tmp_path: Path
) -> None:
    path = f"{ROOT}:{unsloth}:{os.environ['PYTHONPATH']}"
    environment = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    script = [sys.executable, "-m", "tests.training.generated_trainer", str(base)]
    answer = subprocess.run(
        script, cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    steps = json.loads(answer.stdout.splitlines()[-1])
    for plain, generated in zip(two_steps(str(base)), steps, strict=True):
        assert set(plain) - set(generated) == {"entropy"}
        assert plain["reward"] == generated["reward"]
        for name in ("loss", "grad_norm"):
            assert generated[name] == pytest.approx(plain[name], rel=2e-3, abs=1e-4)
