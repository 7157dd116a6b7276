"""What several experiments share: building designers, and reporting a comparison."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from daedalus.config import Config
from daedalus.designers.base import Designer, DesignerSettings
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.language_model import LanguageModelDesigner, LanguageModelSettings
from daedalus.designers.search import SearchDesigner, successive_halving
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import compare, episode_means, score_mechanisms
from daedalus.evaluation.figures import metric_panels, reward_boxplot, save
from daedalus.evaluation.statistics import paired_differences, summarise
from daedalus.files import written_whole
from daedalus.market.interface import make_market
from daedalus.market.seeds import generator
from daedalus.tracking import Tracker

console = Console(width=None if sys.stdout.isatty() else 150)


def make_env(config: Config) -> DesignEnv:
    """Build the environment that the configuration describes."""
    return DesignEnv(make_market(config.market, config.population), config.market)


def make_tracker(config: Config, out: Path) -> Tracker:
    """Open the run's tracker."""
    return Tracker(config.tracking, out, f"{out.parent.name}/{out.name}", asdict(config))


def make_designer(settings: DesignerSettings, env: DesignEnv, seed: int) -> Designer:
    """Turn settings into a designer: search for its mechanism, load its model, or as it is."""
    if isinstance(settings, SearchDesigner):
        score = partial(score_mechanisms, env, seed=seed)
        best, _ = successive_halving(settings, score, generator(seed, "search"))
        return FixedDesigner(name=settings.name, mechanism=best)
    if isinstance(settings, LanguageModelSettings):
        from daedalus.training.generation import make_generate  # torch is slow to import
        from daedalus.training.model import load_language_model, trained_prompt

        model = load_language_model(settings.checkpoint)
        generate = make_generate(model, settings.temperature, settings.max_new_tokens)
        prompt = settings.prompt or trained_prompt(settings.checkpoint)
        return LanguageModelDesigner(generate, prompt)
    return settings  # type: ignore[return-value]


def compare_designers(
    config: Config, env: DesignEnv, out: Path, tracker: Tracker, extra: dict[str, Designer]
) -> pd.DataFrame:
    """Play the baselines and ``extra`` on paired markets, report, and return the summary."""
    designers = {
        name: make_designer(settings, env, config.seed)
        for name, settings in config.evaluation.baselines.items()
    }
    steps = compare(env, designers | extra, config.evaluation.episodes, config.seed)
    write_table(steps, "steps", out, tracker)
    episodes = episode_means(steps)
    write_table(episodes, "episodes", out, tracker)
    summary = summarise(episodes, config.evaluation, config.seed)
    write_table(summary, "summary", out, tracker)
    write_table(_all_differences(episodes, list(designers), config), "differences", out, tracker)
    print_table(summary.drop(columns=["std", "collusion_signal", "revenue"]), "episodes")
    title = f"{config.market.rules} market, stage {config.population.stage}"
    write_figure(reward_boxplot(episodes, title), "boxplot", out, tracker)
    write_figure(metric_panels(episodes), "metrics", out, tracker)
    return summary


def _all_differences(episodes: pd.DataFrame, references: list[str], config: Config) -> pd.DataFrame:
    """Return every designer's paired difference to every baseline, and print it."""
    tables = [
        paired_differences(later, reference, config.evaluation, config.seed)
        for number, reference in enumerate(references)
        if (later := episodes[~episodes["designer"].isin(references[:number])])[
            "designer"
        ].nunique()
        > 1
    ]
    differences = pd.concat(tables, ignore_index=True)
    print_table(differences, "paired differences")
    return differences


def write_table(
    frame: pd.DataFrame, name: str, out: Path, tracker: Tracker, show: bool = False
) -> None:
    """Write a table as CSV, send it to the tracker, and print it if asked."""
    with written_whole(out / f"{name}.csv") as aside:
        frame.to_csv(aside, index=False)
    tracker.table(name, frame)
    if show:
        print_table(frame, name.replace("_", " "))


def write_figure(figure: object, name: str, out: Path, tracker: Tracker) -> None:
    """Write a figure as PNG, send it to the tracker, and say where it is."""
    path = out / "figures" / f"{name}.png"
    save(figure, path)  # type: ignore[arg-type]
    tracker.image(name, path)
    console.print(f"[dim]{path}[/dim]")


def print_table(frame: pd.DataFrame, title: str) -> None:
    """Print a table to the terminal, a number and its interval (X, X_low, X_high) in one cell."""
    table = Table(title=title, title_justify="left")
    bounds = {f"{name}_{end}" for name in frame.columns for end in ("low", "high")}
    names = [name for name in frame.columns if name not in bounds]
    for name in names:
        table.add_column(name.replace("_", " "))
    for row in frame.to_dict("records"):
        table.add_row(*(_cell(row, name) for name in names))
    console.print(table)


def _cell(row: dict[Hashable, Any], name: str) -> str:
    text = f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name])
    if f"{name}_low" in row:
        text += f" [{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]"
    return text
