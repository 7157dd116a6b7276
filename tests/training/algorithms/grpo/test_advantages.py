"""The target policy: its gradient, its bounds, and what a model learns by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset

from daedalus.design.env import DesignEnv
from daedalus.market.parsing import parse_mechanism
from daedalus.training.algorithms.grpo.advantages import (
    boltzmann_advantages,
    target_advantages,
    targeted_advantages,
)
from daedalus.training.algorithms.grpo.trainer import train_grpo
from daedalus.training.beliefs import field_beliefs
from daedalus.training.model import LanguageModel
from daedalus.training.sources.make_source import Source
from daedalus.training.trl_internals import replace_advantages
from tests.training.conftest import GRPO, make_run, small_model

CHAT = [{"role": "user", "content": "market 1"}]


def test_the_gradient_is_that_of_the_cross_entropy_against_the_target() -> None:
    rng = np.random.default_rng(0)
    known, advantages = rng.normal(-9, 2, (3, 4)), rng.normal(size=(3, 4))
    logps = torch.tensor(known, requires_grad=True)
    found = target_advantages(logps.flatten(), torch.tensor(advantages.ravel()), 4)
    (-(found.detach() * logps.flatten()).sum() / 4).backward()
    probabilities = np.exp(known) / np.exp(known).sum(axis=1, keepdims=True)
    wanted = probabilities * np.exp(advantages)
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert logps.grad is not None
    assert logps.grad.numpy() == pytest.approx(probabilities - wanted)


def test_equal_odds_leave_small_advantages_and_large_ones_are_bounded() -> None:
    small = torch.tensor([0.02, 0.01, -0.01, 0.0])
    found = target_advantages(torch.full((4,), -7.0), small, 4)
    assert found.numpy() == pytest.approx((small - small.mean()).numpy(), abs=3e-4)
    huge = target_advantages(torch.tensor([-3.0, -40.0]), torch.tensor([0.0, 1e6]), 2)
    assert huge.tolist() == [-2.0, 2.0]


def test_boltzmann_grows_sharper_by_the_same_factor_each_step() -> None:
    settings = replace(GRPO, loss_type="boltzmann", sharpness=3.0, last_sharpness=48.0)
    logps, advantages = torch.tensor([-1.0, -2.0]), torch.tensor([0.01, -0.01])
    for step, sharpness in ((0, 3.0), (50, 12.0), (100, 48.0)):
        progress = {"state": SimpleNamespace(global_step=step)}
        trainer: Any = SimpleNamespace(**progress, args=SimpleNamespace(max_steps=100))
        found = targeted_advantages(trainer, settings, logps, advantages)
        assert torch.allclose(found, boltzmann_advantages(logps, sharpness * advantages, 2))


def test_each_process_takes_the_advantages_of_its_own_answers() -> None:
    """Four answers of a group lie in two processes, and this is the second."""
    logps, advantages = torch.tensor([-3.0, -1.0, -2.0, -5.0]), torch.tensor([1.0, -1.0, 0.5, -0.5])
    whole = {"logps": logps, "advantages": advantages}
    ids, mask = torch.zeros(2, 3, dtype=torch.long), torch.tensor([[1, 1, 0], [1, 1, 1]])
    output = {
        "prompt_ids": ids, "prompt_mask": torch.ones_like(ids), "completion_ids": ids,
        "completion_mask": mask, "advantages": advantages[2:],
    }  # fmt: skip
    spread = torch.zeros(2, 3)  # the last token of the first answer is padding
    spread[:, 0], spread[0, 2] = logps[2:], -99.0

    def gather(mine: torch.Tensor) -> torch.Tensor:
        (found,) = (each for each in whole.values() if torch.equal(each[2:], mine))
        return found

    trainer = SimpleNamespace(
        model=None,
        num_generations=4,
        args=SimpleNamespace(per_device_train_batch_size=2),
        accelerator=SimpleNamespace(gather=gather, process_index=1),
        _generate_and_score_completions=lambda _: output,
        _get_per_token_logps_and_entropies=lambda *_, **__: (spread, None, None),
    )
    replace_advantages(trainer, lambda *both: target_advantages(*both, 4))  # type: ignore[arg-type]
    found = trainer._generate_and_score_completions([])["advantages"]
    assert torch.equal(found, target_advantages(logps, advantages, 4)[2:])


def format_source() -> Source:
    """Return a prompt for which ``vcg`` earns 1, and everything else nothing."""

    def reward(completions: list[Any], **_: Any) -> list[float]:
        found = [parse_mechanism(each[0]["content"]).mechanism for each in completions]
        return [float(each is not None and each.auction_type == "vcg") for each in found]

    return Source(Dataset.from_dict({"prompt": [CHAT] * 64}), reward)


def train(
    steps: int, env: DesignEnv, folder: Path, **changes: Any
) -> tuple[LanguageModel, list[dict[str, Any]]]:
    """Train an untrained model on that source; return it, and the log."""
    model = small_model()
    settings = replace(
        GRPO, constrained=True, steps=steps, prompts_per_step=4, group_size=8, micro_batch=32,
        states=64, learning_rate=1e-2, warmup_steps=0, **changes,
    )  # fmt: skip
    run = make_run(env, folder, settings)
    return train_grpo(model, format_source(), run), run.tracker.history("grpo")


@pytest.mark.slow
def test_the_setting_changes_the_gradient_of_the_same_answers(
    env: DesignEnv, tmp_path: Path
) -> None:
    (plain,), (aimed,) = (
        train(1, env, tmp_path / loss, loss_type=loss)[1] for loss in ("dapo", "target")
    )
    assert plain["reward"] == aimed["reward"] and 0 < plain["reward"] < 1
    assert aimed["grad_norm"] != pytest.approx(plain["grad_norm"], rel=0.01)


@pytest.mark.slow
def test_a_model_ends_at_the_boltzmann_odds_of_known_rewards(
    env: DesignEnv, tmp_path: Path
) -> None:
    """The reward is 1 or 0 and undivided, so the probabilities of formats are e^2 to 1 to 1."""
    trained, _ = train(
        60, env, tmp_path, loss_type="boltzmann", neighbours=4, scale_rewards="none",
        sharpness=1.0, last_sharpness=2.0, schedule="cosine",
    )  # fmt: skip
    found = field_beliefs(trained, CHAT, 1024, seed=0).set_index(["field", "value"])["probability"]
    assert found["auction_type", "vcg"] == pytest.approx(np.e**2 / (np.e**2 + 2), abs=0.06)
    assert found["reveal_reserve", True] == pytest.approx(0.5, abs=0.1)  # it earns nothing
