"""The processes of one run: all train, and the main one does everything else.

``accelerate launch`` starts them and tells each its number in environment variables. It stops all
of them when one fails. Without it there is one process, and nothing here imports torch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import wraps
from typing import ParamSpec, TypeVar, cast

_PATIENCE = timedelta(days=7)  # the main process may search for hours while the others wait

Given = ParamSpec("Given")
Result = TypeVar("Result")


def count() -> int:
    """Return the number of processes of this run."""
    launched = "LOCAL_RANK" in os.environ
    return int(os.environ.get("WORLD_SIZE", 1)) if launched else 1


def is_main() -> bool:
    """Return whether this is the process that writes the run's files."""
    return count() == 1 or os.environ["RANK"] == "0"


def is_sharded() -> bool:
    """Return whether each process holds a part of the weights in training (FSDP)."""
    return os.environ.get("ACCELERATE_USE_FSDP", "false").lower() == "true"


def once(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return a function that the main process runs while the others wait for its result.

    Every process must call it, in the same order. The result travels pickled.
    """

    @wraps(work)
    def by_main(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        return cast(Result, handed_over(work(*args, **kwargs) if is_main() else None))

    return by_main


def handed_over(value: Result) -> Result:
    """Return the value of the main process in each process. It travels pickled.

    Every process must call it, in the same order.
    """
    if count() == 1:
        return value
    from accelerate.utils import broadcast_object_list

    _join()
    return cast(Result, broadcast_object_list([value])[0])


def gathered(values: Sequence[Result]) -> list[Result]:
    """Return the values of all processes, in the order of their numbers, in each process."""
    if count() == 1:
        return list(values)
    from accelerate.utils import gather_object

    _join()
    return cast(list[Result], gather_object(list(values)))


def _join() -> None:
    """Meet the other processes, and take the GPU of this process."""
    from accelerate.state import PartialState
    from accelerate.utils import is_cuda_available

    gpu = is_cuda_available()
    if not gpu:  # instead of "cpu:0", to which torch cannot load a checkpoint
        os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"
    PartialState(cpu=not gpu, timeout=_PATIENCE)
