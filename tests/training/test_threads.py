"""Threads of PyTorch wait passively."""

from __future__ import annotations

import os
import subprocess
import sys

from daedalus.launch.config.paths import ROOT


def test_threads_wait_passively_when_training_is_imported() -> None:
    asks = "import os, daedalus.training; print(os.environ['OMP_WAIT_POLICY'])"
    plain = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", asks], cwd=ROOT, env=plain, capture_output=True, text=True
    )
    assert done.stdout == "PASSIVE\n"
