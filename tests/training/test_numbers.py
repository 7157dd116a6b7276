"""The policy of plain numbers: its odds, its gradient, and what it learns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from daedalus.env import DesignEnv
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.search.space import GRID, mechanisms_at
from daedalus.training.numbers.policy import NumbersPolicy
from daedalus.training.numbers.settings import NumbersSettings
from daedalus.training.numbers.trainer import PHASE, advantages_of, train_numbers
from tests.launching import play

SHORT = NumbersSettings(steps=4, prompts_per_step=2, group_size=4, states=8, futures=2, horizon=1)


def skewed() -> NumbersPolicy:
    policy = NumbersPolicy()
    generator = torch.Generator().manual_seed(0)
    for logits in policy.logits.values():
        logits.data = torch.randn(len(logits), generator=generator)
    return policy


def test_what_is_drawn_has_the_odds_that_are_told() -> None:
    policy, count = skewed(), 20_000
    places = policy.draw(count, np.random.default_rng(0))
    assert places.shape == (count, len(FIELDS))
    for column, name in enumerate(FIELDS):
        odds = policy.logits[name].softmax(dim=0).detach().numpy()
        shares = np.bincount(places[:, column], minlength=len(odds)) / count
        assert np.abs(shares - odds).max() < 5 * np.sqrt(0.25 / count), name


def test_log_probabilities_and_entropy_are_those_of_the_odds() -> None:
    policy = skewed()
    for name in FIELDS[1:]:  # one field is left to chance
        policy.logits[name].data[0] += 100.0
    places = np.zeros((3, len(FIELDS)), dtype=np.int64)
    places[:, 0] = range(3)
    odds = policy.logps(places).exp()
    assert odds.sum().item() == pytest.approx(1.0)
    assert policy.entropy().item() == pytest.approx(-(odds * odds.log()).sum().item(), abs=1e-5)


def test_places_are_values_and_the_mode_is_the_likeliest() -> None:
    policy = skewed()
    drawn = policy.draw(30_000, np.random.default_rng(0))
    best = policy.mode()
    for column, name in enumerate(FIELDS):
        counts = Counter(drawn[:, column])
        assert GRID[name][counts.most_common(1)[0][0]] == getattr(best, name)
    assert mechanisms_at(np.zeros((1, len(FIELDS)), np.int64))[0] == Mechanism(
        auction_type=GRID["auction_type"][0], **{name: GRID[name][0] for name in FIELDS[1:]}
    )


def test_grpo_weighs_by_the_batch_and_the_target_is_bounded() -> None:
    earned = np.array([0.0, 1.0, 0.0, 3.0])
    settings = replace(SHORT, loss_type="grpo", group_size=2)
    found = advantages_of(earned, torch.zeros(4), settings)
    spread = np.std(earned, ddof=1)
    assert found.numpy() == pytest.approx(np.array([-0.5, 0.5, -1.5, 1.5]) / spread, rel=1e-3)
    sure = advantages_of(
        earned, torch.tensor([0.0, -50.0, 0.0, -50.0]), replace(settings, loss_type="target")
    )
    assert np.abs(sure.numpy()).max() < 1e-6  # odds of e^-50 stay what they are


def test_the_same_seed_gives_the_same_policy_and_every_step_is_logged(env: DesignEnv) -> None:
    settings = replace(SHORT, renew_every=2)
    logged: list[tuple[str, int]] = []

    def train(seed: int) -> torch.Tensor:
        policy = train_numbers(
            env, settings, seed, lambda name, step, _: logged.append((name, step))
        )
        return policy.logits["reserve_price"].detach()

    one = train(0)
    assert logged == [(PHASE, step) for step in range(1, 5)]
    assert torch.equal(one, train(0)) and not torch.equal(one, train(1))
    fixed = train_numbers(env, replace(settings, renew_every=0), 0, lambda *_: None)
    assert not torch.equal(one, fixed.logits["reserve_price"].detach())


@pytest.mark.slow
def test_the_experiment_finds_what_search_finds(tmp_path: Path) -> None:
    search = "evaluation.baselines.search"
    fewer = ["numbers.futures=8", f"{search}.candidates=256", f"{search}.sweep_episodes=64"]
    play(tmp_path, "+experiment=grpo_numbers", "tracking=files", *fewer)
    summary = pd.read_csv(tmp_path / "summary.csv").set_index("designer")["mean"]
    assert summary["numbers"] > summary["search"] - 0.005
    assert len(pd.read_csv(tmp_path / "history.csv")) == 300
    assert pd.read_csv(tmp_path / "neighbours.csv")["gain"].max() < 0.005
