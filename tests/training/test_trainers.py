"""A phase goes on where it was interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from daedalus.env import DesignEnv
from daedalus.rewards.stack import RewardStack
from daedalus.search.states import RandomWalkDesigner
from daedalus.training.grpo import train_grpo
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.settings import GrpoSettings
from daedalus.training.sources import state_source
from daedalus.training.trainers import finish_checkpoints_together, whole
from tests.training.conftest import ALL_WEIGHTS, GRPO, PROMPT, SMALL, make_tracker


def test_resuming_a_phase_ends_where_an_uninterrupted_one_does(
    env: DesignEnv, tmp_path: Path
) -> None:
    """Stop after one of two steps; the second run must give the weights of one whole run."""

    def run(folder: Path, steps: int) -> tuple[torch.Tensor, list[dict[str, float]]]:
        model = make_language_model(SMALL, PROMPT, env, seed=0)
        changes = {"steps": steps, "schedule": "constant", "entropy_bonus": 0.1}
        settings = GrpoSettings(**{**vars(GRPO), **changes})  # no answer earns a reward
        folder.mkdir(exist_ok=True)
        log = make_tracker(folder)
        source = state_source(
            env, RandomWalkDesigner(), RewardStack(), None, PROMPT, settings, seed=0
        )
        trained = train_grpo(model, source, settings, ALL_WEIGHTS, log, folder / "checkpoints", 0)
        weights = torch.cat([each.flatten() for each in trained.model.parameters()])
        return weights.detach(), log.history("grpo")

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


def test_a_checkpoint_waits_for_the_random_state_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    trainer = SimpleNamespace(_save_rng_state=order.append)
    monkeypatch.setattr("daedalus.training.trainers.gathered", lambda _: order.append("all"))
    finish_checkpoints_together(trainer)  # type: ignore[arg-type]
    trainer._save_rng_state("mine")
    assert order == ["mine", "all"]
