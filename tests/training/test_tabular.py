"""The tabular policy: its probabilities, its gradient, and what it learns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.figure import Figure

from daedalus.design.env import DesignEnv
from daedalus.design.search.space import GRID, mechanisms_at, places_of
from daedalus.market.allowed import Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.training.tabular import (
    TabularPolicy,
    advantages_of,
    loss_of,
    prepare_market,
    rewards_of,
    sample_groups,
    train_tabular,
)
from daedalus.training.tabular_settings import TabularSettings
from experiments import grpo_numbers
from tests.launch.config.composing import composed
from tests.launching import play, sketch

SHORT = TabularSettings(steps=4, prompts_per_step=2, group_size=4, states=8, futures=2, horizon=1)


def skewed() -> TabularPolicy:
    policy = TabularPolicy()
    generator = torch.Generator().manual_seed(0)
    for logits in policy.logits.values():
        logits.data = torch.randn(len(logits), generator=generator)
    return policy


def test_samples_have_the_odds_of_the_logits() -> None:
    policy, count = skewed(), 20_000
    places = policy.sample(count, np.random.default_rng(0))
    assert places.shape == (count, len(FIELDS))
    for column, name in enumerate(FIELDS):
        probabilities = policy.logits[name].softmax(dim=0).detach().numpy()
        shares = np.bincount(places[:, column], minlength=len(probabilities)) / count
        assert np.abs(shares - probabilities).max() < 5 * np.sqrt(0.25 / count), name


def test_log_probabilities_and_entropy_are_those_of_the_odds() -> None:
    policy = skewed()
    for name in FIELDS[1:]:  # one field is left to chance
        policy.logits[name].data[0] += 100.0
    places = np.zeros((3, len(FIELDS)), dtype=np.int64)
    places[:, 0] = range(3)
    probabilities = policy.log_probabilities(places).exp()
    assert probabilities.sum().item() == pytest.approx(1.0)
    assert policy.entropy().item() == pytest.approx(
        -(probabilities * probabilities.log()).sum().item(), abs=1e-5
    )


def test_places_are_values_and_the_mode_is_the_likeliest() -> None:
    policy = skewed()
    drawn = policy.sample(30_000, np.random.default_rng(0))
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
    advantages = advantages_of(earned, torch.zeros(4), settings, 0.0)
    spread = np.std(earned, ddof=1)
    assert advantages.numpy() == pytest.approx(np.array([-0.5, 0.5, -1.5, 1.5]) / spread, rel=1e-3)
    sure = advantages_of(
        earned, torch.tensor([0.0, -50.0, 0.0, -50.0]), replace(settings, loss_type="target"), 0.0
    )
    assert np.abs(sure.numpy()).max() < 1e-6  # probabilities of e^-50 stay what they are


def test_boltzmann_asks_for_odds_of_the_reward_that_grow_sharper() -> None:
    earned, logps = np.array([0.1, 0.2]), torch.tensor([-1.0, -3.0])
    settings = replace(SHORT, loss_type="boltzmann", group_size=2, sharpness=5, last_sharpness=20)
    for done, sharpness in ((0.0, 5.0), (0.5, 10.0), (1.0, 20.0)):
        wanted = np.exp([0.0, sharpness * 0.1])
        probabilities = np.exp([0.0, -2.0])
        expected = 2 * (wanted / wanted.sum() - probabilities / probabilities.sum())
        advantages = advantages_of(earned, logps, settings, done)
        assert advantages.numpy() == pytest.approx(expected, abs=1e-6)


def test_the_gradient_is_the_mean_of_advantages_times_that_of_log_probabilities() -> None:
    policy, actions = skewed(), np.zeros((2, len(FIELDS)), dtype=np.int64)
    actions[1] = 1
    loss_of(policy.log_probabilities(actions), torch.tensor([0.5, -1.5])).backward()
    for logits in policy.logits.values():
        probabilities = logits.detach().softmax(dim=0)
        first, second = torch.eye(len(probabilities))[:2]
        expected = -(0.5 * (first - probabilities) - 1.5 * (second - probabilities)) / 2
        assert torch.allclose(logits.grad, expected, atol=1e-6)


def test_equal_actions_of_a_group_earn_the_same_and_another_step_has_other_futures(
    env: DesignEnv,
) -> None:
    market = prepare_market(env, SHORT, 0, 0, None)
    actions = np.zeros((4, len(FIELDS)), dtype=np.int64)
    first, again, second, _ = rewards_of(mechanisms_at(actions), np.array([3, 5]), market, 0)
    assert first == again != second
    assert rewards_of(mechanisms_at(actions), np.array([3, 5]), market, 1)[0] != first


def test_neighbours_stand_before_the_drawn_and_differ_in_one_field_from_one_of_their_group() -> (
    None
):
    settings = replace(SHORT, loss_type="boltzmann", group_size=5, neighbours=3)
    rng = np.random.default_rng(0)
    changed: Counter[int] = Counter()
    for _ in range(300):
        groups = sample_groups(skewed(), settings, rng).reshape(2, 5, -1)
        for group in groups:
            apart = group[:3, None] != group[None, 3:]
            assert (apart.sum(axis=2) == 1).any(axis=1).all()
            nearest = apart[np.arange(3), apart.sum(axis=2).argmin(axis=1)]
            changed.update(np.nonzero(nearest)[1].tolist())
        flat = groups.reshape(10, -1)
        assert (places_of(mechanisms_at(flat)) == flat).all()
    assert set(changed) == set(range(len(FIELDS)))


def test_the_policy_sets_what_is_allowed_and_its_neighbours_too(env: DesignEnv) -> None:
    goal = Goal(allowed={"auction_type": ("vcg",), "reserve_price": Between(0.105, 0.12)})
    settings = replace(SHORT, loss_type="boltzmann", group_size=5, neighbours=3)
    policy = train_tabular(replace(env, allowed=goal.allowed), settings, 0, lambda *_: None)
    assert len(policy.logits["auction_type"]) == 1 and len(policy.logits["reserve_price"]) == 3
    drawn = policy.mechanisms(sample_groups(policy, settings, np.random.default_rng(0)))
    assert goal.admits(policy.mode()) and all(goal.admits(drawn[row]) for row in range(len(drawn)))


def test_the_same_seed_gives_the_same_policy_and_every_step_is_logged(env: DesignEnv) -> None:
    settings = replace(SHORT, renew_every=2)
    logged: list[int] = []

    def train(seed: int) -> torch.Tensor:
        policy = train_tabular(env, settings, seed, lambda step, _: logged.append(step))
        return policy.logits["reserve_price"].detach()

    one = train(0)
    assert logged == [1, 2, 3, 4]
    assert torch.equal(one, train(0)) and not torch.equal(one, train(1))
    fixed = train_tabular(env, replace(settings, renew_every=0), 0, lambda *_: None)
    assert not torch.equal(one, fixed.logits["reserve_price"].detach())


@pytest.mark.slow
def test_each_update_is_trained_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grpo_numbers, "_EPISODES", 2)
    monkeypatch.setattr(Figure, "savefig", sketch)
    few = ["~evaluation.baselines.search", "evaluation.episodes=2", "tracking=files"]
    config = composed("+experiment=grpo_updates", *few)
    assert len(config.updates) == 8 and config.updates["boltzmann"].neighbours == 8
    updates = {"near": SHORT, "plain": replace(SHORT, loss_type="grpo", steps=2)}
    grpo_numbers.main(replace(config, updates=updates), tmp_path)
    table = pd.read_csv(tmp_path / "updates.csv").set_index("update")
    assert list(table.index) == ["near", "plain"] and (table["entropy"] > 0.5).all()
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert list(summary["designer"]) == ["random", "informed_greedy", "near", "plain"]
    for name, settings in updates.items():
        assert len(pd.read_csv(tmp_path / f"{name}_history.csv")) == settings.steps
        assert (tmp_path / "figures" / f"{name}_neighbours.png").exists()


@pytest.mark.slow
def test_the_experiment_finds_what_search_finds(tmp_path: Path) -> None:
    fewer = ["numbers.futures=8", "~evaluation.baselines.search"]
    play(tmp_path, "+experiment=grpo_numbers", "tracking=files", *fewer)
    summary = pd.read_csv(tmp_path / "summary.csv").set_index("designer")["mean"]
    assert summary["numbers"] > 0.488 - 0.005  # search has 0.488 in README
    assert len(pd.read_csv(tmp_path / "numbers_history.csv")) == 300
    gains, updates = (
        pd.read_csv(tmp_path / f"{name}.csv") for name in ("numbers_neighbours", "updates")
    )
    best = gains.loc[gains["gain"].idxmax()]  # of 190 changes, each played on few futures
    assert updates["gain"].tolist() == [best["gain"]] and best["gain"] - 2 * best["sem"] < 0.005


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"neighbours": 2}, "no other loss has them; set loss_type: boltzmann"),
        ({"sharpness": 2.0}, "no other loss has them; set loss_type: boltzmann"),
        ({"neighbours": 8, "loss_type": "boltzmann"}, "give less than group_size"),
        ({"states": 1}, "give as many or more"),
    ],
)
def test_settings_that_do_not_fit_are_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        replace(TabularSettings(), **wrong)
