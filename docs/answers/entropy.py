"""Entropy and groups without variance: GRPO, an entropy bonus, Boltzmann targets with neighbours.

The policy is a table of probabilities for three fields of a mechanism, so a training takes seconds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import daedalus
from daedalus import Mechanism
from daedalus.market.mechanism import FIELDS, Mechanisms
from daedalus.market.seeds import generator
from daedalus.training.tabular import prepare_market, rewards_of, sample_groups, train_tabular
from daedalus.training.tabular_settings import TabularSettings

FREE = ("auction_type", "reserve_price", "withdrawal_penalty")
GRPO = TabularSettings(
    loss_type="grpo",
    learning_rate=0.1,
    prompts_per_step=4,
    group_size=16,
    states=64,
    renew_every=0,
    futures=8,
    horizon=1,
)
UPDATES = {
    "GRPO": GRPO,
    "GRPO, entropy bonus": replace(GRPO, entropy_bonus=0.05),
    "Boltzmann targets, neighbours": replace(GRPO, loss_type="boltzmann", neighbours=8),
}


def main() -> None:
    """Train by each update; print what is left of entropy and of variance, and what it earns."""
    fixed = {name: [getattr(Mechanism(), name)] for name in FIELDS if name not in FREE}
    env = daedalus.make("stage3", allowed=fixed).env
    print(f"{'update':30}{'nats':>6}{'groups without spread':>24}{'R of the likeliest':>20}")
    for name, settings in UPDATES.items():
        policy = train_tabular(env, settings, 0, lambda step, metrics: None)
        groups = replace(settings, prompts_per_step=settings.states)
        actions = sample_groups(policy, groups, generator(0, "last groups"))
        market, states = prepare_market(env, groups, 1, 0, None), np.arange(groups.states)
        rewards = rewards_of(policy.mechanisms(actions), states, market, 0)
        equal = np.ptp(rewards.reshape(groups.states, -1), axis=1) < 1e-8
        likeliest = Mechanisms.repeat(policy.mode(), groups.states)
        earned = rewards_of(likeliest, states, market, 0).mean()
        print(f"{name:30}{policy.entropy().item():6.2f}{equal.mean():24.0%}{earned:20.3f}")


if __name__ == "__main__":
    main()
