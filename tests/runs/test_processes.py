"""Several processes of one run: the same losses, files of one process, and an end for all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from accelerate.commands import launch as accelerate_launch
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.utils.launch import prepare_multi_gpu_env

from daedalus.runs import processes
from daedalus.runs.folder import RunFolder
from tests import forked, watched_run
from tests.launch.config.composing import composed

ROOT = Path(__file__).parents[2]
CPU = ROOT / "deploy" / "accelerate" / "cpu.yaml"
TRAINING = """
    +experiment=smoke model.hidden_size=32 model.layers=2 model.heads=2 model.intermediate_size=64
    training.sft.steps=5 training.sft.save_every=5 training.grpo.steps=7 training.grpo.save_every=2
    training.grpo.prompts_per_step=4 training.grpo.group_size=4 training.grpo.warmup_steps=0
    training.grpo.learning_rate=3e-3 training.grpo.entropy_bonus=0.1 evaluation.episodes=2
    training.grpo.max_completion_tokens=64 training.grpo.states=64
""".split()
LAUNCHER = str(accelerate_launch.__file__)
COMPLETIONS = 16  # in a step of GRPO
SAME_SAMPLING = "step", "loss", "reward", "grad_norm", "entropy", "completion_length"
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


def test_without_a_launcher_there_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")  # a cluster may set it for its own ends
    assert processes.count() == 1 and processes.is_main()
    assert processes.once(lambda: 3)() == 3 and processes.gathered([1, 2]) == [1, 2]


@pytest.mark.usefixtures("two")
def test_the_second_of_two_is_not_the_main_one() -> None:
    assert processes.count() == 2 and not processes.is_main()


def test_one_process_does_not_import_torch() -> None:
    script = (
        "import sys; from daedalus.runs import processes\n"
        "processes.once(lambda: 0)(), processes.gathered([0])\n"
        "print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", script]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


@pytest.mark.parametrize("count", [1, 2, 8])
@pytest.mark.parametrize("path", sorted(CPU.parent.glob("*.yaml")), ids=lambda path: path.stem)
def test_accelerate_reads_each_configuration(path: Path, count: int) -> None:
    parser = launch_command_parser()
    given = ["--config_file", str(path), "--num_processes", str(count), "run.py"]
    arguments, _, _ = _validate_launch_command(parser.parse_args(given))
    sharded = path.stem == "fsdp2"
    assert (arguments.multi_gpu, arguments.use_fsdp) == (not sharded, sharded)
    variables = prepare_multi_gpu_env(arguments)
    assert arguments.nproc_per_node == str(count)
    assert variables["ACCELERATE_MIXED_PRECISION"] == ("no" if path == CPU else "bf16")
    if sharded:
        assert variables["ACCELERATE_USE_FSDP"] == "true" and variables["FSDP_VERSION"] == "2"
        assert variables["FSDP_STATE_DICT_TYPE"] == "FULL_STATE_DICT"


class Launched(NamedTuple):
    """A run of two processes: its folder, what they noted, and the exit status."""

    run: RunFolder
    notes: Path
    status: int
    said: str

    def of(self, kind: str, process: int) -> list[str]:
        return (self.notes / f"{kind}_{process}.txt").read_text().splitlines()


def launch(
    out: Path, notes: Path, *overrides: str, kill: int | None = None, alone: bool = False
) -> Launched:
    """Train in two processes, which ``alone`` are new ones, and else forks with their libraries."""
    notes.mkdir()
    words = ["--config_file", str(CPU), "tests/watched_run.py", str(notes), *overrides]
    words.append(f"hydra.run.dir={out}")
    given = dict(os.environ) | NO_GPU | ({"WATCHED_KILL": str(kill)} if kill else {})
    launcher = LAUNCHER if alone else "tests/forked_workers.py"
    answer = forked.run(launcher, *words, cwd=ROOT, environment=given)
    return Launched(RunFolder(out), notes, answer.returncode, answer.stdout + answer.stderr)


def signals(run: RunFolder, phase: str, *names: str) -> np.ndarray:
    """Return the logged numbers of each step of a phase, shape (steps, names)."""
    records = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    return np.array([[each[name] for name in names] for each in records if each["phase"] == phase])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    """Train in two processes."""
    folder = tmp_path_factory.mktemp("pair")
    launched = launch(folder / "run", folder / "notes", *TRAINING, alone=True)
    assert launched.status == 0, launched.said
    return launched


@pytest.mark.slow
def test_two_processes_train_and_only_one_writes(pair: Launched) -> None:
    run = pair.run
    assert run.finished.exists() and run.summary.exists() and (run.model / "prompt.json").exists()
    assert json.loads(run.provenance.read_text())[-1]["processes"] == 2
    below = f"{run.path}/"
    main, other = ([path for path in pair.of("written", n) if below in path] for n in (0, 1))
    assert any(path.endswith("metrics.jsonl") for path in main)
    assert any(path.endswith("model.safetensors") for path in main)
    files = [Path(path).name for path in other if not Path(path).name.startswith("checkpoint-")]
    assert files == ["rng_state_1.pth"] * 5  # its random numbers, in each checkpoint's folder


@pytest.mark.slow
def test_each_completion_is_rewarded_once(pair: Launched) -> None:
    noted = [[json.loads(line) for line in pair.of("rewarded", n)] for n in (0, 1)]
    assert [len(each) for each in noted] == [7, 7]
    for step, parts in enumerate(zip(*noted, strict=True)):
        states = [set(rows) for _, rows, _ in parts]
        assert [number for number, _, _ in parts] == [step, step]
        assert [len(texts) for _, _, texts in parts] == [COMPLETIONS // 2] * 2
        assert [len(each) for each in states] == [2, 2] and not states[0] & states[1]


@pytest.mark.slow
def test_one_process_has_the_same_losses(
    pair: Launched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trl import GRPOTrainer

    from daedalus.launch.from_config import make_training_run
    from daedalus.launch.tracked import tracked
    from daedalus.training.pipeline import train

    monkeypatch.setattr(GRPOTrainer, "_generate_single_turn", watched_run.fixed_sampling())
    fixed = watched_run.FIXED_STEPS
    alone = RunFolder(tmp_path)
    config = composed(*TRAINING, f"training.grpo.steps={fixed}")
    with tracked(config, tmp_path) as (tracker, report):
        train(make_training_run(config, alone, tracker, report))
    names = "step", "loss", "grad_norm", "learning_rate"
    ours, theirs = (signals(each, "sft", *names) for each in (alone, pair.run))
    assert len(ours) == 5 and np.allclose(ours, theirs, rtol=1e-4)
    ours, theirs = (signals(each, "grpo", *SAME_SAMPLING)[:fixed] for each in (alone, pair.run))
    assert np.allclose(ours, theirs, rtol=1e-3), ours - theirs
    assert (ours[:, 2] > 0).all() and (ours[:, 3] > 0).all()


@pytest.mark.slow
def test_a_killed_main_process_ends_all_and_the_run_resumes(pair: Launched, tmp_path: Path) -> None:
    out = tmp_path / "run"
    killed = launch(out, tmp_path / "killed", *TRAINING, kill=5)
    assert killed.status != 0 and not killed.run.finished.exists()
    for process in (0, 1):
        (identity,) = killed.of("process", process)
        assert not Path(f"/proc/{identity}").exists()
    resumed = launch(out, tmp_path / "resumed", *TRAINING, "resume=true")
    assert resumed.status == 0, resumed.said
    steps = [json.loads(line)[0] for line in resumed.of("rewarded", 1)]
    assert steps == [4, 5, 6]  # it goes on from the checkpoint
    for phase in ("sft", "grpo"):
        names = ("step", "loss") if phase == "sft" else SAME_SAMPLING
        broken, whole = (signals(each, phase, *names) for each in (resumed.run, pair.run))
        assert np.array_equal(broken, whole)
