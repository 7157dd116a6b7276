"""Measure how much of the training reward is signal, here and in the published recipe."""

from __future__ import annotations

from pathlib import Path

from daedalus.design.env import DesignEnv
from daedalus.evaluation.figures import reward_scatter
from daedalus.launch.config.tasks import SignalToNoise
from daedalus.launch.from_config import make_env
from daedalus.launch.tracked import tracked
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan

GROUPS, DRAWS = 128, 32


def main(config: SignalToNoise, out: Path) -> None:
    """Reward the same mechanisms many times by each recipe; write the table and the figure."""
    from daedalus.lab.studies import signal_to_noise as signal

    truthful = Population() if config.market.name == "strategic" else SeatPlan()
    stage0 = DesignEnv.of(config.market, truthful, config.reward)
    group_size = config.training.grpo.group_size
    recipes = signal.reward_recipes(make_env(config), stage0, GROUPS, group_size, config.seed)
    with tracked(config, out) as (_, report):
        table = signal.signal_to_noise(recipes, DRAWS)
        title = f"{GROUPS} groups of {group_size} mechanisms, {DRAWS} draws"
        report.table(table, "summary", title)
        names = (signal.PUBLISHED, signal.shared_futures(64))
        panels = {name: recipes[name](0) for name in names}
        truth = recipes[signal.shared_futures(64)](DRAWS)
        report.figure(reward_scatter(panels, truth), "signal_to_noise")
