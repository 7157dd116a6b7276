"""From configuration to objects: the environment, designers, and the run's report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.designers.base import Designer, DesignerSettings
from daedalus.designers.endpoint import EndpointSettings
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.language_model import (
    Generate,
    LanguageModelDesigner,
    LanguageModelSettings,
)
from daedalus.designers.planner import DistilledSettings, EvolutionSettings, PlannerSettings
from daedalus.designers.prompt import PromptSettings
from daedalus.designers.random import random_mechanisms
from daedalus.designers.search import SearchDesigner, best_fixed
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import score_mechanisms
from daedalus.evaluation.evolution import evolve
from daedalus.evaluation.portfolio import portfolio
from daedalus.evaluation.report import Report
from daedalus.files import written_whole
from daedalus.market.mechanism import Mechanisms, mechanism_from_mapping
from daedalus.market.seeds import generator
from daedalus.planning.lessons import distil
from daedalus.planning.lookahead import Planner
from daedalus.tracking import Tracker


def make_env(config: Config) -> DesignEnv:
    """Build the environment that the configuration describes."""
    return DesignEnv.of(config.market, config.population.in_market(config.market.name))


def make_envs(config: Config) -> dict[str, DesignEnv]:
    """Build an environment for each of the configuration's populations, by name."""
    market = config.market
    return {
        name: DesignEnv.of(market, each.in_market(market.name))
        for name, each in config.populations.items()
    }


def make_portfolio(config: Config, env: DesignEnv, out: Path) -> Mechanisms | None:
    """Return the rules that training begins from, searched once for a run; None for random ones."""
    settings, path = config.training.portfolio, out / "portfolio.csv"
    if not settings.populations:
        return None
    if not path.exists():
        found = portfolio(env, settings.populations, settings.episodes, config.seed)
        with written_whole(path) as aside:
            pd.DataFrame([found[row].to_dict() for row in range(len(found))]).to_csv(
                aside, index=False
            )
    rows = pd.read_csv(path).to_dict("records")
    return Mechanisms.stack([mechanism_from_mapping(row) for row in rows])


@contextmanager
def tracked(config: Config, out: Path) -> Iterator[tuple[Tracker, Report]]:
    """Open the run's tracker, and a report that writes to it and to ``out``."""
    name = f"{out.parent.name}/{out.name}"
    with Tracker(config.tracking, out, name, asdict(config)) as tracker:
        yield tracker, Report(out, tracker)


def make_designer(
    settings: DesignerSettings,
    env: DesignEnv,
    seed: int,
    rules: Mechanisms | None = None,
) -> Designer:
    """Turn settings into a designer: search, learn, load its model, or take it as it is.

    Args:
        settings: Which designer.
        env: Where it searches or learns; a planner plays there too.
        seed: Seed of the run.
        rules: Rules known to be good somewhere, to choose from; None draws random ones.
    """
    if isinstance(settings, SearchDesigner):
        score = partial(score_mechanisms, env, seed=seed)
        best, _ = best_fixed(settings, score, generator(seed, "search"))
        return FixedDesigner(name=settings.name, mechanism=best)
    if isinstance(settings, EvolutionSettings):
        return FixedDesigner(name=settings.name, mechanism=evolve(env, settings, seed))
    if isinstance(settings, PlannerSettings | DistilledSettings):
        if rules is None:
            rules = random_mechanisms(settings.candidates, generator(seed, "candidates"))
        if isinstance(settings, PlannerSettings):
            return Planner(env, rules, settings, seed)
        return distil(env, rules, settings, seed)
    if isinstance(settings, LanguageModelSettings):
        return _load_designer(settings)
    if isinstance(settings, EndpointSettings):
        return _connect_designer(settings)
    return settings  # type: ignore[return-value]


OUTPUTS = Path("outputs")
"""Where runs leave their models, relative to the working directory."""


def newest_model(outputs: Path) -> str | None:
    """Return the folder of the newest model that was trained below ``outputs``, if there is one."""
    found = outputs.rglob("model/prompt.json")
    newest = max(found, key=lambda path: path.stat().st_mtime, default=None)
    return str(newest.parent) if newest else None


def _load_designer(settings: LanguageModelSettings) -> Designer:
    return LanguageModelDesigner(*load_generate(settings))


def load_generate(settings: LanguageModelSettings) -> tuple[Generate, PromptSettings]:
    """Load a model and return its generate function, and the prompt that it is to be shown."""
    from daedalus.training.generation import make_generate  # torch is slow to import
    from daedalus.training.model import load_language_model, trained_prompt

    model = load_language_model(settings.checkpoint)
    generate = make_generate(
        model, settings.temperature, settings.max_new_tokens, settings.constrained
    )
    return generate, settings.prompt or trained_prompt(settings.checkpoint)


def _connect_designer(settings: EndpointSettings) -> Designer:
    from daedalus.endpoint import make_endpoint_generate  # not everybody needs its client

    return LanguageModelDesigner(make_endpoint_generate(settings), settings.prompt)
