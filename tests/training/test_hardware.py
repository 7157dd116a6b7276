"""Unsloth is imported first, or not at all: the message then says what to do."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import PromptSettings
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.sft.settings import SftSettings
from daedalus.training.hardware import (
    backward_passes,
    require_hardware,
    require_server,
    require_shares,
)
from daedalus.training.settings import LoraSettings, ModelSettings, TrainingSettings

UNSLOTH = ModelSettings(backend="unsloth", lora=LoraSettings(rank=4))


@pytest.mark.skipif(torch.cuda.is_available(), reason="tested elsewhere: there is a GPU here")
def test_without_a_gpu_another_backend_is_named() -> None:
    with pytest.raises(CannotRunError, match=r"unsloth needs a GPU, .*=transformers"):
        require_hardware(UNSLOTH)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that there is a GPU of the kind that the published run used."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 9))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "L4")


@pytest.mark.usefixtures("gpu")
def test_what_is_not_installed_can_be() -> None:
    ways = r"pip install -e '\.\[gpu\]' .*, pip install 'FILE\.whl\[gpu\]' .*, or choose"
    with pytest.raises(CannotRunError, match=f"not installed; run {ways}"):
        require_hardware(UNSLOTH)


@pytest.mark.usefixtures("gpu")
def test_it_comes_before_what_it_patches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "unsloth.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError, match="transformers, peft: imported before unsloth"):
        require_hardware(UNSLOTH)


@pytest.mark.usefixtures("gpu")
def test_an_old_gpu_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    require_hardware(ModelSettings())
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 5))
    with pytest.raises(CannotRunError, match=r"L4: its compute capability is 7\.5, .* needs 8\.0"):
        require_hardware(ModelSettings())


SERVER = "http://localhost:8000"


@pytest.mark.skipif(torch.cuda.is_available(), reason="tested elsewhere: there is a GPU here")
def test_a_server_needs_a_gpu_for_the_trainer() -> None:
    require_server("")
    with pytest.raises(CannotRunError, match=r"vllm_server: http://localhost:8000: .* from a GPU"):
        require_server(SERVER)


@pytest.mark.usefixtures("gpu")
def test_a_server_needs_vllm_beside_the_trainer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(CannotRunError, match=r"not installed; install requirements-vllm\.txt"):
        require_server(SERVER)
    (tmp_path / "vllm.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    require_server(SERVER)


@pytest.mark.parametrize(
    ("training", "hint"),
    [
        (TrainingSettings(SftSettings(batch_size=7)), r"sft\.batch_size: 7 .* multiple of 2"),
        (
            TrainingSettings(grpo=GrpoSettings(prompts_per_step=3, micro_batch=8)),
            r"grpo\.prompts_per_step: 3 .* multiple of 2",
        ),
        (
            TrainingSettings(grpo=GrpoSettings(prompts_per_step=6, group_size=4, micro_batch=8)),
            r"micro_batch: 8; each of 2 processes has 12 completions .* a divisor of 12",
        ),
    ],
)
def test_two_processes_share_a_step_or_the_run_is_refused(
    training: TrainingSettings, hint: str, request: pytest.FixtureRequest
) -> None:
    require_shares(ModelSettings(), training)
    request.getfixturevalue("two")
    require_shares(ModelSettings(), TrainingSettings())
    with pytest.raises(CannotRunError, match=hint):
        require_shares(ModelSettings(), training)
    with pytest.raises(CannotRunError, match="unsloth trains in one process"):
        require_shares(UNSLOTH, TrainingSettings())


def test_who_computes_probabilities_otherwise_is_refused() -> None:
    constrained = TrainingSettings(grpo=GrpoSettings(constrained=True))
    with pytest.raises(CannotRunError, match=r"training\.grpo\.constrained: Unsloth computes"):
        require_shares(UNSLOTH, constrained)


@pytest.mark.parametrize(
    ("model", "training", "name"),
    [
        (ModelSettings(lora=LoraSettings(rank=4)), TrainingSettings(), "model.lora.rank"),
        (
            ModelSettings(),
            TrainingSettings(prompt=PromptSettings(compact=True)),
            "training.prompt.compact",
        ),
        (
            ModelSettings(),
            TrainingSettings(grpo=GrpoSettings(constrained=True)),
            "training.grpo.constrained",
        ),
    ],
)
def test_what_does_not_go_with_sharded_weights_is_refused(
    model: ModelSettings, training: TrainingSettings, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_shares(model, training)
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    require_shares(ModelSettings(), TrainingSettings())
    with pytest.raises(CannotRunError, match=f"^{name}: .* does not go with FSDP; set {name}="):
        require_shares(model, training)


@pytest.mark.parametrize(("micro_batch", "expected"), [(32, (1, 16)), (16, (1, 16)), (4, (4, 4))])
def test_a_process_takes_its_own_completions(
    micro_batch: int, expected: tuple[int, int], request: pytest.FixtureRequest
) -> None:
    settings = GrpoSettings(prompts_per_step=4, group_size=8, micro_batch=micro_batch)
    assert backward_passes(settings, "training.grpo") == (32 // micro_batch, micro_batch)
    request.getfixturevalue("two")
    assert backward_passes(settings, "training.grpo") == expected


def test_of_bitsandbytes_only_the_missing_package_is_not_worth_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("bitsandbytes.backends.cpu.ops")
    logger.warning("Failed to load CPU gemm_4bit_forward from kernels-community: %s", "missing")
    logger.warning("another matter")
    assert [each.getMessage() for each in caplog.records] == ["another matter"]
