"""From configuration to objects: environments, portfolio and designers."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from daedalus.design.briefs.answers import AnswerBriefs
from daedalus.design.briefs.readers import Reader
from daedalus.design.briefs.wordings import examples, packaged_reader
from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.build import build_all
from daedalus.design.designers.purpose import read_purpose
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.language.prompt import Generate, PromptSettings
from daedalus.design.language.reply import Ask
from daedalus.launch.config.compose import compose_config, quoted
from daedalus.launch.config.task_parts import (
    Designed,
    Game,
    Games,
    Played,
    Restricted,
    Study,
    StudyOfPopulations,
    Task,
    Trained,
    WithTraining,
)
from daedalus.launch.config.tasks import Compare
from daedalus.market.allowed import Allowed, read_allowed
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanisms
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.runs.endings import program
from daedalus.runs.folder import RunFolder
from daedalus.runs.importing import slow_imports
from daedalus.runs.processes import is_main
from daedalus.training.run_portfolio import find_portfolio

if TYPE_CHECKING:
    from daedalus.evaluation.run_report import Report
    from daedalus.runs.tracking import Tracker
    from daedalus.training.run import TrainingRun

logger = logging.getLogger(__name__)

OUTPUTS = Path("outputs")
"""Folder of all runs, relative to the working directory."""
_MODELS = 4  # that answer briefs, kept loaded
_ASKED = ("population", "market", "reward", "allowed", "seed")


def make_env(config: Game) -> DesignEnv:
    """Build the environment that the configuration describes."""
    population = config.population.in_market(config.market.name)
    return DesignEnv.of(config.market, population, config.reward, allowed=allowed_in(config))


def make_envs(config: Games) -> dict[str, DesignEnv]:
    """Build an environment for each of the configuration's populations, by name."""
    market, allowed = config.market, allowed_in(config)
    return {
        name: DesignEnv.of(market, each.in_market(market.name), config.reward, allowed=allowed)
        for name, each in config.populations.items()
    }


def allowed_in(config: Task) -> dict[str, Allowed]:
    """Return what designers may set; nothing is restricted in a task that does not take that."""
    return read_allowed(config.allowed) if isinstance(config, Restricted) else {}


def require_portfolio(config: WithTraining, env: DesignEnv, run: RunFolder) -> Mechanisms:
    """Return the portfolio of a run that needs one, without which it was not composed."""
    _warn_of_other_purposes(config, env)
    portfolio = find_portfolio(config.training.portfolio, env, run, config.seed)
    assert portfolio is not None
    return portfolio


def make_training_run(
    config: Trained, folder: RunFolder, tracker: Tracker, report: Report
) -> TrainingRun:
    """Return what all parts of a training run share. Every process must call it."""
    from daedalus.training.run import TrainingRun  # the service has not all that it imports

    env, model, training, seed = make_env(config), config.model, config.training, config.seed
    if is_main():
        _warn_of_other_purposes(config, env)
    return TrainingRun(env, model, training, folder, tracker, report, seed).with_portfolio()


def _warn_of_other_purposes(config: WithTraining, env: DesignEnv) -> None:
    """Warn of files of other runs whose runs were for something else than ``env``."""
    training, teacher = config.training, config.training.sft.teacher
    files = {"portfolio.file": training.portfolio.file}
    if teacher is not None:
        files["sft.teacher.data"] = teacher.data
    name = config.population.name if isinstance(config, Game) else None
    for key, file in files.items():
        purpose = read_purpose(file) if file else None
        if purpose is not None and (told := purpose.instead(env, name)):
            logger.warning("training.%s=%s comes from another run; %s", key, file, told)


def make_context(
    config: Task,
    env: DesignEnv,
    portfolio: Mechanisms | None = None,
    population: str | None = None,
) -> DesignerContext:
    """Return the context that designers are built from."""
    bidders = bidders_named(env.settings)
    return DesignerContext(
        env,
        config.seed,
        portfolio,
        load_generate,
        population,
        bidders,
        load_reader,
        load_brief_model,
    )


def bidders_named(market: MarketSettings) -> Callable[[str], Population | SeatPlan]:
    """Return what makes bidders of the name of their population, see ``population=NAME``."""

    def bidders(name: str) -> Population | SeatPlan:
        config: Compare = compose_config("task=compare", f"population={quoted(name)}")
        return config.population.in_market(market.name)

    return bidders


def own_context(
    config: Played, env: DesignEnv, portfolio: Mechanisms | None = None
) -> DesignerContext:
    """Return the context of a run that plays its own population alone."""
    return make_context(config, env, portfolio, config.population.name)


def search_command(changes: Sequence[str]) -> str:
    """Return the command that searches a mechanism for what is asked.

    Args:
        changes: Overrides. Those of market, bidders, reward, what is allowed, and seed count.
    """
    kept = [each for each in changes if each.lstrip("+~").split("=")[0].split(".")[0] in _ASKED]
    return shlex.join([*program().split(), "+experiment=search", *kept])


def each_population(
    config: StudyOfPopulations, portfolio: Mechanisms | None = None
) -> Iterator[tuple[str, DesignEnv, dict[str, Designer]]]:
    """Yield each of the configuration's populations by name, with its environment and designers.

    Designers that are made for one population are built anew for each. The others are built once.
    """
    designers = portable_designers(config, portfolio)
    for population, env in make_envs(config).items():
        yield population, env, designers | designers_of(config, population, env, portfolio)


def portable_designers(config: Study, portfolio: Mechanisms | None) -> dict[str, Designer]:
    """Build the designers that play in every population."""
    context = make_context(config, make_env(config), portfolio)
    return build_all(_designer_settings(config, per_population=False), context)


def designers_of(
    config: Designed, population: str, env: DesignEnv, portfolio: Mechanisms | None
) -> dict[str, Designer]:
    """Build the designers that are made for a population, and play there; ``env`` is its own."""
    settings = _designer_settings(config, per_population=True)
    chosen = {name: each for name, each in settings.items() if each.plays(population)}
    return build_all(chosen, make_context(config, env, portfolio, population))


def all_designers(config: Designed) -> dict[str, DesignerSettings]:
    """Return the baselines and the designer; one that changes a baseline is NAME_changed."""
    name, baselines = config.designer.name, config.evaluation.baselines
    changed = name in baselines and baselines[name] != config.designer
    return baselines | {f"{name}_changed" if changed else name: config.designer}


def _designer_settings(config: Designed, per_population: bool) -> dict[str, DesignerSettings]:
    settings = all_designers(config)
    return {name: each for name, each in settings.items() if each.per_population == per_population}


def load_generate(
    checkpoint: str, temperature: float, max_new_tokens: int, constrained: bool | None
) -> tuple[Generate[str], PromptSettings]:
    """Load a language model; ``constrained=None`` decodes as in training, or as a goal restricts.

    Returns:
        Its generate function, and the prompt that it was trained on.
    """
    logger.info("loading %s, and PyTorch if it is not loaded yet (5 to 10 s)", checkpoint)
    with slow_imports():
        from daedalus.training.generation import make_generate
        from daedalus.training.model import load_language_model
        from daedalus.training.trained_prompt import trained_prompt, was_constrained

    model = load_language_model(checkpoint)
    if constrained is None:
        constrained = was_constrained(checkpoint) or None
    generate = make_generate(model, temperature, max_new_tokens, constrained)
    return generate, trained_prompt(checkpoint)


def load_reader(name: str, benchmark: bool, checkpoint: str) -> Reader:
    """Load a reader of briefs that needs PyTorch; its encoder is downloaded once.

    Args:
        name: ``minilm`` or ``tuned``.
        benchmark: See ``BriefSearchSettings``; the package has a tuned reader of each kind.
        checkpoint: Folder of a tuned reader; empty for that of the package.

    Raises:
        CannotRunError: The weights cannot be had.
    """
    if name == "tuned":
        with slow_imports():
            from daedalus.training.judging_reader import load_judging_reader
            from daedalus.training.tuned_reader import load_reader as load_tuned

        if checkpoint or benchmark:
            folder = Path(checkpoint) if checkpoint else packaged_reader("benchmark_reader")
            return load_tuned(folder)
        return load_judging_reader()
    with slow_imports():
        from daedalus.design.briefs.linear_reader import LinearReader
        from daedalus.training.sentence_encoder import load_sentence_encoder

    return LinearReader(load_sentence_encoder()).fit(examples(benchmark))


@lru_cache(maxsize=_MODELS)  # the designers of each population share it
def load_brief_model(checkpoint: str, temperature: float, at_once: bool | None) -> AnswerBriefs:
    """Load a language model that answers briefs; for arguments see ``BriefModelSettings``."""
    with slow_imports():
        from daedalus.training.brief_model import load_brief_model as load

    return load(checkpoint, temperature, at_once)


def load_ask(source: str, temperature: float, pattern: str) -> Ask:
    """Load a language model that answers one chat at a time, in texts of a pattern.

    Args:
        source: What ``model.pretrained`` may be.
        temperature: Sampling temperature; 0 decodes greedily.
        pattern: A regular expression of its answers.
    """
    with slow_imports():
        from daedalus.training.generation import make_ask
        from daedalus.training.model import load_language_model
        from daedalus.training.weight_sources import resolved

    return make_ask(load_language_model(resolved(source)), temperature, pattern)
