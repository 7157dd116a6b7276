"""A phase goes on where it was interrupted, and says why it cannot; its history is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from transformers import Trainer, TrainingArguments

from daedalus.checks import CannotRunError
from daedalus.design.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.runs.folder import RunFolder
from daedalus.runs.tracking import Tracker
from daedalus.training import trainers
from daedalus.training.algorithms.grpo import trainer as grpo
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.sft import trainer as sft
from daedalus.training.backends import load_base
from daedalus.training.checkpoints import completed_steps, export
from daedalus.training.model import LanguageModel
from daedalus.training.settings import ModelSettings
from daedalus.training.trainer_logs import write_history
from daedalus.training.trainers import whole
from daedalus.training.trl_internals import WRITTEN_FOR, finish_checkpoints_together
from tests.populations import population
from tests.training.conftest import (
    GRPO,
    PROMPT,
    QLORA,
    SFT,
    SMALL,
    make_run,
    make_tracker,
    small_model,
)

ENTROPY = {"entropy_bonus": 0.1}  # no answer earns a reward
NEIGHBOURS = {"constrained": True, "loss_type": "boltzmann", "neighbours": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "update"),
    [
        (SMALL, ENTROPY),
        (QLORA, ENTROPY),
        (SMALL, NEIGHBOURS),
        (SMALL, ENTROPY | {"states": 3}),  # of which a pass has two: the second step begins another
        (SMALL, ENTROPY | {"loss_type": "target"}),
    ],
    ids=["all weights", "4 bits", "neighbours", "second pass", "probabilities of free answers"],
)
def test_resuming_a_phase_ends_where_an_uninterrupted_one_does(
    env: DesignEnv,
    small: LanguageModel,
    tmp_path: Path,
    settings: ModelSettings,
    update: dict[str, Any],
) -> None:
    """Stop after one of two steps; the second run must give the weights of one whole run."""
    export(small, PROMPT, "", tmp_path / "base")

    def run(folder: Path, steps: int) -> tuple[torch.Tensor, list[dict[str, float]]]:
        model = load_base(settings, tmp_path / "base")
        changes = {"steps": steps, "schedule": "constant", **update}
        asked = GrpoSettings(**{**vars(GRPO), **changes})
        run = make_run(env, folder, asked, settings)
        trained = [each for each in grpo.train(model, run).model.parameters() if each.requires_grad]
        return torch.cat([each.detach().flatten() for each in trained]), run.tracker.history("grpo")

    whole, history = run(tmp_path / "whole", 2)
    first, first_part = run(tmp_path / "parts", 1)
    assert not torch.equal(first, whole)
    resumed, resumed_history = run(tmp_path / "parts", 2)
    torch.testing.assert_close(resumed, whole)
    assert resumed_history[:1] == first_part  # its seconds too: the step was not played again
    assert (
        [each["step"] for each in resumed_history] == [each["step"] for each in history] == [1, 2]
    )


@pytest.fixture
def alone() -> Iterator[None]:
    """Be the only process of a group."""
    torch.distributed.init_process_group(
        "gloo", rank=0, world_size=1, store=torch.distributed.HashStore()
    )
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("alone")
def test_sharded_weights_become_a_whole_model(small: LanguageModel) -> None:
    model, tokens = small.model, torch.arange(10)[None]
    expected = {name: each.detach().clone() for name, each in model.named_parameters()}
    logits = model(tokens).logits.detach()
    assert whole(model) is model
    for part in (*model.model.layers, model):
        fully_shard(part, mesh=init_device_mesh("cpu", (1,)))
    copy = whole(model)
    assert copy is not model and type(copy).__name__ == "Qwen2ForCausalLM"
    found = dict(copy.named_parameters())
    assert found.keys() == expected.keys()
    for name, each in found.items():
        assert type(each) is torch.nn.Parameter and torch.equal(each, expected[name])
    torch.testing.assert_close(copy(tokens).logits, logits)
    assert copy.generation_config.eos_token_id == model.generation_config.eos_token_id


def sft_history(folder: Path, steps: int = 3) -> tuple[list[dict[str, float]], torch.Tensor]:
    """Train the small model from the same start, or from the last checkpoint in the folder."""
    env = DesignEnv.of(MarketSettings(), population(3))
    run = make_run(env, folder, replace(SFT, steps=steps))
    trained = sft.train(small_model(), run)
    weights = torch.cat([each.flatten() for each in trained.model.parameters()])
    return run.tracker.history("sft"), weights.detach()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.Tensor]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    return folder, sft_history(folder)[1]


def test_training_is_saved_by_time_and_goes_on_as_if_uninterrupted(
    uninterrupted: tuple[Path, torch.Tensor], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, weights = uninterrupted
    kept = (folder / "checkpoints/sft").glob("checkpoint-*")
    assert [each.name for each in kept] == ["checkpoint-3"]
    monkeypatch.setattr(trainers, "SAVE_SECONDS", 0.0)

    def interrupt(self: Tracker, phase: str, step: int, metrics: dict[str, float]) -> None:
        if step == 3:
            raise KeyboardInterrupt
        write(self, phase, step, metrics)

    write = Tracker.log
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Tracker, "log", interrupt)
        sft_history(tmp_path)
    assert completed_steps(tmp_path / "checkpoints/sft") == 2
    resumed, same = sft_history(tmp_path)
    assert resumed == make_tracker(folder).history("sft") and torch.equal(same, weights)


def test_a_phase_without_enough_states_fails(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    settings = replace(GRPO)
    settings.states = 1  # which composing refuses
    with pytest.raises(CannotRunError, match="grpo: it made 0 steps, and its settings ask for 2"):
        grpo.train(small, make_run(env, tmp_path, settings))


def fill_the_gpu(trainer: Trainer) -> None:
    raise torch.cuda.OutOfMemoryError("CUDA out of memory.")  # as PyTorch says it


def fill_the_memory(trainer: Trainer) -> None:
    torch.empty(2**60)


def diverge(trainer: Trainer) -> None:
    logs = {"loss": float("nan")}
    trainer.callback_handler.on_log(trainer.args, trainer.state, trainer.control, logs)


@pytest.mark.parametrize(
    ("phase", "size", "rate"),
    [
        ("sft", "sft.batch_size", "sft.learning_rate"),
        ("corrections_0", "sft.batch_size", "sft.corrections.learning_rate"),
        ("grpo", "grpo.micro_batch", "grpo.learning_rate"),
    ],
)
@pytest.mark.parametrize("fail", [fill_the_gpu, fill_the_memory, diverge])
def test_a_phase_that_cannot_go_on_names_the_setting_to_lower(
    env: DesignEnv,
    small: LanguageModel,
    tmp_path: Path,
    phase: str,
    size: str,
    rate: str,
    fail: Callable[[Trainer], None],
) -> None:
    class Failing(Trainer):
        def train(self, **_: object) -> None:
            fail(self)

    arguments = TrainingArguments(str(tmp_path), max_steps=1, use_cpu=True)
    trainer = Failing(small.model, arguments, processing_class=small.tokenizer)
    hint = (
        rf"training\.{rate}, and start" if fail is diverge else rf"training\.{size}, .*resume=true"
    )
    with pytest.raises(CannotRunError, match=f"^{phase}: .*; lower {hint}"):
        trainers.run_phase(trainer, phase, make_run(env, tmp_path, SFT))


def test_a_phase_that_was_trained_for_longer_is_not_the_phase_that_is_asked_for(
    uninterrupted: tuple[Path, torch.Tensor],
) -> None:
    with pytest.raises(CannotRunError, match="sft: it made 3 steps, and its settings ask for 2"):
        sft_history(uninterrupted[0], steps=2)


def test_the_history_of_a_phase_is_written_as_json_and_csv(tmp_path: Path) -> None:
    with make_tracker(tmp_path) as tracker:
        for step in (1, 2):
            tracker.log("grpo", step, {"reward": 0.1 * step, "loss": 0.5})
        tracker.log("sft", 1, {"loss": 2.0})
        history = write_history(tracker, "grpo", RunFolder(tmp_path))
    assert history["step"].tolist() == [1, 2]
    records = json.loads((tmp_path / "training_history.json").read_text())
    assert [record["reward"] for record in records] == [0.1, 0.2]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "training_history.csv"), history)


def test_these_methods_were_read_in_the_versions_that_are_installed() -> None:
    assert {name: version(name) for name in WRITTEN_FOR} == WRITTEN_FOR


def test_a_checkpoint_waits_for_the_random_state_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    trainer = SimpleNamespace(_save_rng_state=order.append)
    monkeypatch.setattr("daedalus.training.trl_internals.gathered", lambda _: order.append("all"))
    finish_checkpoints_together(trainer)  # type: ignore[arg-type]
    trainer._save_rng_state("mine")
    assert order == ["mine", "all"]
