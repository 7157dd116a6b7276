"""What every test may rely on."""

from __future__ import annotations

import gc
import os
import signal
import sys
from functools import cache
from pathlib import Path

import hypothesis
import pytest

from daedalus.launch.config.compose import compose_both
from daedalus.launch.provenance import run_record
from daedalus.runs.files import locked
from daedalus.runs.folder import RunFolder
from tests.children.kept_packages import keep_packages
from tests.children.unused import leave_out
from tests.launch.config.kept_compositions import keep_compositions
from tests.left_out import LeftOut

# Before PyTorch is loaded: its threads that wait must leave the cores to other workers.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Some services that run tests ask for colours, which tests of texts do not expect.
for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)
# No test compiles by torch, but bitsandbytes loads the compiler, which takes each process a second.
os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
if "PYTEST_XDIST_WORKER" in os.environ:  # workers share the cores
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")

# Composing and compiling make many objects, and the collector took a quarter of their time. In a
# process that a test starts it took 1.6 of 14.9 seconds; Python imports a sitecustomize by itself.
gc.set_threshold(100_000)
gc.disable()  # while tests are imported
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(Path(__file__).parent / "children"), os.environ.get("PYTHONPATH")])
)
keep_compositions(pytest.MonkeyPatch())
keep_packages()
leave_out()

# The same examples in every run. A stalled core makes any of them slow, and the first one pays for
# tables that are made once. Test modules take over what is loaded when they are imported.
hypothesis.settings.register_profile(
    "any_core",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("any_core")

# Who runs the tests in the background has the shell ignore interrupts, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Name at the end what was left out: the process that hears of every test does it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(LeftOut())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that have slow tests: at the end no core waits for one of them.

    Tests of launchers wait for Slurm. They come first, while the tests of the service run beside.
    """
    slow = {each.path for each in items if each.get_closest_marker("slow")}
    items.sort(key=lambda each: (each.path.stem != "test_launchers", each.path not in slow))


def pytest_collection_finish() -> None:
    """Let the collector begin, and pass over what imports left."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Let the collector of the end pass over all that is left, which took each worker 1 s."""
    gc.freeze()


def pytest_runtest_teardown() -> None:
    """Let the collector pass over what imports left: each training collects, which took 0.4 s."""
    if "trl.trainer.grpo_trainer" in sys.modules:
        freeze()


@cache
def freeze() -> None:
    gc.freeze()


SMALLEST = (
    "+experiment=smoke",
    "model.lora.rank=4",
    "model.hidden_size=32",
    "model.heads=2",
    "model.layers=2",
    "model.intermediate_size=64",
    "training.grpo.max_completion_tokens=24",
    "evaluation.episodes=3",
    "evaluation.resamples=100",
)


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Leave a finished training run with adapters. Its model learnt nothing.

    The workers share it: who comes first trains. No test may change it.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with locked(shared):
        train(shared / "trained")
    return RunFolder(shared / "trained")


def train(out: Path) -> None:
    """Train, unless it is done."""
    from experiments import grpo  # slow to import

    out.mkdir(exist_ok=True)
    composed, config = compose_both(*SMALLEST)
    with run_record(composed, out) as begun:
        if begun:
            grpo.main(config, out)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process the second of two, as ``accelerate launch`` does."""
    for name, value in {"LOCAL_RANK": "1", "RANK": "1", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
