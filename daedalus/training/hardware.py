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
from daedalus.runs.endings import is_of_memory
from daedalus.runs.processes import count, is_sharded
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.settings import ModelSettings, TrainingSettings

_CAPABILITY = (8, 0)  # of GPUs that compute in bfloat16
_PATCHED = ("trl", "transformers", "peft")
_INSTEAD = "or choose model.backend=transformers, which trains on a CPU, too"


def has_gpu() -> bool:
    """Return whether there is a GPU that torch can use."""
    return torch.cuda.is_available()


def require_machine(model: ModelSettings, training: TrainingSettings) -> None:
    """Check all that a training run needs, before anything else of training is imported.

    Raises:
        CannotRunError: The machine lacks something. The message says what to choose instead.
    """
    require_hardware(model)
    require_shares(model, training)
    require_server(training.grpo.vllm_server)


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
    for name, each in training.reinforcement.items():
        if each.steps:
            backward_passes(each, f"training.{name}")
    if count() > 1 and model.backend == "unsloth":
        raise CannotRunError(
            "model.backend: unsloth trains in one process; choose model.backend=transformers"
        )
    for name, each in training.reinforcement.items():
        if each.constrained and model.backend == "unsloth":
            raise CannotRunError(
                f"training.{name}.constrained: Unsloth computes probabilities in its own way, over "
                "all tokens; choose model.backend=transformers"
            )
    if is_sharded():
        _require_whole_training(model, training)


def share(total: int, setting: str) -> int:
    """Return the part of a process in what a setting counts for the whole run.

    Raises:
        CannotRunError: The number of processes does not divide it.
    """
    if total % count():
        raise CannotRunError(
            f"{setting}: {total} cannot be divided over {count()} processes; give a multiple of "
            f"{count()}, or launch another number of processes"
        )
    return total // count()


def backward_passes(settings: ReinforcementSettings, key: str) -> tuple[int, int]:
    """Return the backward passes of a process in a step, and the completions in each.

    Each process has the same number of whole groups. Messages name the settings by their key, such
    as ``training.grpo``.

    Raises:
        CannotRunError: The completions of a step cannot be divided so.
    """
    own = settings.group_size * share(settings.prompts_per_step, f"{key}.prompts_per_step")
    at_once = min(own, settings.micro_batch)
    if own % at_once:
        raise CannotRunError(
            f"{key}.micro_batch: {settings.micro_batch}; each of {count()} processes has "
            f"{own} completions of a step, so give a divisor of {own}"
        )
    return own // at_once, at_once


def require_server(address: str) -> None:
    """Check that the weights of training can travel to a vLLM server; an empty address is none.

    Raises:
        CannotRunError: They cannot.
    """
    if not address:
        return
    name = f"training.grpo.vllm_server: {address}"
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
    refused: dict[str, tuple[object, object]] = {
        "model.lora.rank": (model.lora.rank, 0),
        "training.prompt.compact": (training.prompt.compact, False),  # its numbers do not train
    }
    for name, each in training.reinforcement.items():
        refused[f"training.{name}.constrained"] = (each.constrained, False)
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
            "model.backend: unsloth is not installed; run pip install -e '.[gpu]' in a checkout, "
            "pip install 'FILE.whl[gpu]' without one, " + _INSTEAD
        )
    if early := [name for name in _PATCHED if name in sys.modules]:
        raise RuntimeError(f"{', '.join(early)}: imported before unsloth")
    import_module("unsloth")


@contextmanager
def memory_advice(phase: str, setting: str) -> Iterator[None]:
    """Say what to change if the memory of the GPU or of the machine does not suffice for a phase.

    Args:
        phase: Its name.
        setting: Key of the setting that takes less memory with a lower value.

    Raises:
        CannotRunError: It did not suffice.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_of_memory(error):
            raise
        raise CannotRunError(
            f"{phase}: the {'GPU' if has_gpu() else 'machine'} has not enough memory; lower "
            f"{setting}, set model.load_in_4bit=true, or take a smaller model, and start a new "
            "run. On a larger machine resume=true goes on from the last checkpoint"
        ) from error
