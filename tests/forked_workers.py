"""``accelerate launch`` whose workers are forks of it, and need not import; not a test."""

from __future__ import annotations

import runpy
import sys
from typing import Any

from accelerate.commands import launch
from torch.distributed import run

_configured = run.config_from_args


def _forking(arguments: Any) -> tuple[Any, Any, list[str]]:
    """Return what torchrun starts: a function in forks instead of Python in new processes."""
    config, _, words = _configured(arguments)
    config.start_method = "fork"
    return config, _work, words[words.index("-u") + 1 :]


def _work(script: str, *words: str) -> None:
    sys.argv = [script, *words]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    run.config_from_args = _forking
    launch.main()
