"""What training needs of the machine, checked before it begins."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

import torch

from daedalus.checks import CannotRunError
from daedalus.runs.processes import count, is_sharded, share
from daedalus.training.settings import GrpoSettings, ModelSettings, TrainingSettings

_CAPABILITY = (8, 0)  # of GPUs that compute in bfloat16
_PATCHED = ("trl", "transformers", "peft")
_INSTEAD = "or choose model.backend=transformers, which trains on a CPU, too"


def has_gpu() -> bool:
    """Return whether there is a GPU that torch can use."""
    return torch.cuda.is_available()


def require_hardware(settings: ModelSettings) -> None:
    """Check the GPU, if there is one, and import Unsloth if the settings name it.

    Call it before anything imports trl, transformers or peft, which Unsloth patches.

    Raises:
        CannotRunError: The machine lacks something. The message says what to choose instead.
        RuntimeError: A library that Unsloth patches is imported already.
    """
    if has_gpu() and torch.cuda.get_device_capability() < _CAPABILITY:
        major, minor = torch.cuda.get_device_capability()
        raise CannotRunError(
            f"{torch.cuda.get_device_name()}: its compute capability is {major}.{minor}, and "
            "training in bfloat16 needs 8.0; rent another GPU, or hide this one with "
            "CUDA_VISIBLE_DEVICES= to train on the CPU"
        )
    _limit_memory(settings.memory_limit)
    if settings.backend == "unsloth":
        _import_unsloth()


def require_shares(model: ModelSettings, training: TrainingSettings) -> None:
    """Check that the processes of the run can share a step, and a model whose weights are sharded.

    Raises:
        CannotRunError: They cannot. The message says what to set instead.
    """
    if training.sft.steps:
        share(training.sft.batch_size, "training.sft.batch_size")
    if training.grpo.steps:
        backward_passes(training.grpo)
    if count() > 1 and model.backend == "unsloth":
        raise CannotRunError(
            "model.backend: unsloth trains in one process; choose model.backend=transformers"
        )
    if is_sharded():
        _require_whole_training(model, training)


def backward_passes(settings: GrpoSettings) -> tuple[int, int]:
    """Return the backward passes of a process in a step of GRPO, and the completions in each.

    Each process has the same number of whole groups.

    Raises:
        CannotRunError: The completions of a step cannot be divided so.
    """
    own = settings.group_size * share(settings.prompts_per_step, "training.grpo.prompts_per_step")
    at_once = min(own, settings.micro_batch)
    if own % at_once:
        raise CannotRunError(
            f"training.grpo.micro_batch: {settings.micro_batch}; each of {count()} processes has "
            f"{own} completions of a step, so give a divisor of {own}"
        )
    return own // at_once, at_once


def require_server(settings: GrpoSettings) -> None:
    """Check that the weights of training can travel to a vLLM server, if the settings name one.

    Raises:
        CannotRunError: They cannot.
    """
    if not settings.vllm_server:
        return
    name = f"training.grpo.vllm_server: {settings.vllm_server}"
    if not has_gpu():
        raise CannotRunError(
            f"{name}: weights travel to the server from a GPU, and none was found; set "
            "training.grpo.vllm_server= to sample in the trainer"
        )
    if find_spec("vllm") is None:
        raise CannotRunError(
            f"{name}: the trainer needs vLLM, too, and it is not installed; install "
            "requirements-vllm.txt in an environment of its own, see docs/training.md"
        )


def _require_whole_training(model: ModelSettings, training: TrainingSettings) -> None:
    grpo = training.grpo
    refused = {
        "model.lora.rank": (model.lora.rank, 0),
        "training.prompt.compact": (training.prompt.compact, False),  # its numbers do not train
        "training.grpo.siblings": (grpo.siblings, 0),
        "training.grpo.rollouts": (grpo.rollouts, "state"),
    }
    for name, (value, instead) in refused.items():
        if value != instead:
            raise CannotRunError(
                f"{name}: {value} does not go with FSDP; set {name}={instead}, or launch with "
                "deploy/accelerate/data_parallel.yaml"
            )


def _limit_memory(limit: float) -> None:
    if not limit:
        return
    if not has_gpu():
        raise CannotRunError("model.memory_limit: there is no GPU; set model.memory_limit=0")
    whole = torch.cuda.get_device_properties(0).total_memory / 2**30
    torch.cuda.set_per_process_memory_fraction(min(1.0, limit / whole))


def begin_measuring_memory() -> None:
    """Forget the peak of the GPU's memory so far. The peak of a process cannot be forgotten."""
    if has_gpu():
        torch.cuda.reset_peak_memory_stats()


def peak_memory() -> float:
    """Return the peak of the memory in use, in GiB: of the GPU, or of the process without one."""
    if has_gpu():
        return torch.cuda.max_memory_reserved() / 2**30
    unit = 1 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def _import_unsloth() -> None:
    if not has_gpu():
        raise CannotRunError(
            f"model.backend: unsloth needs a GPU, and none was found; rent one, {_INSTEAD}"
        )
    if find_spec("unsloth") is None:
        raise CannotRunError(
            "model.backend: unsloth is not installed; run pip install -e '.[gpu]', " + _INSTEAD
        )
    if early := [name for name in _PATCHED if name in sys.modules]:
        raise RuntimeError(f"{', '.join(early)}: imported before unsloth")
    import_module("unsloth")


@contextmanager
def memory_advice(phase: str) -> Iterator[None]:
    """Say what to change if the GPU's memory does not suffice for a phase.

    Raises:
        CannotRunError: It did not suffice.
    """
    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        smaller = "grpo.micro_batch" if phase == "grpo" else "sft.batch_size"
        raise CannotRunError(
            f"{phase}: the GPU has not enough memory; lower training.{smaller}, set "
            "model.load_in_4bit=true, or take a smaller model. The last checkpoint is kept: "
            "resume=true goes on from it"
        ) from error
