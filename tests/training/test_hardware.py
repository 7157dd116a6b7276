"""Unsloth is imported first, or not at all: the message then says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from daedalus.checks import CannotRunError
from daedalus.training.hardware import memory_advice, require_hardware
from daedalus.training.settings import LoraSettings, ModelSettings

ROOT = Path(__file__).parents[2]
UNSLOTH = ModelSettings(backend="unsloth", lora=LoraSettings(rank=4))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
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
    with pytest.raises(CannotRunError, match=r"not installed; run pip install .*, or choose"):
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


@pytest.mark.parametrize(("phase", "setting"), [("sft", "batch_size"), ("grpo", "micro_batch")])
def test_too_little_memory_names_the_setting_to_lower(phase: str, setting: str) -> None:
    with pytest.raises(CannotRunError, match=rf"lower training\.{phase}\.{setting}, .*resume=true"):
        with memory_advice(phase):
            raise torch.cuda.OutOfMemoryError


@pytest.mark.slow
def test_a_run_says_so_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "run.py", "+experiment=smoke", f"hydra.run.dir={tmp_path}"]
    command += ["model=tiny_qlora", "model.backend=unsloth"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode != 0
    lines = answer.stderr.splitlines()
    assert lines[-1].startswith("model.backend: unsloth needs a GPU")
    assert "Traceback" not in answer.stderr and not (tmp_path / "finished").exists()
