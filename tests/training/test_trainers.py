"""A phase goes on where it was interrupted."""

from __future__ import annotations

from pathlib import Path

import torch

from daedalus.env import DesignEnv
from daedalus.rewards.stack import RewardStack
from daedalus.search.states import RandomWalkDesigner
from daedalus.training.grpo import train_grpo
from daedalus.training.model import make_language_model
from daedalus.training.settings import GrpoSettings
from daedalus.training.sources import state_source
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
