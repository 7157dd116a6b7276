"""What a trained designer does when it is asked: one mechanism, or episodes beside baselines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from daedalus.config import Config, ConfigError
from daedalus.designers.base import Generate
from daedalus.designers.language_model import LanguageModelDesigner, LanguageModelSettings
from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.evaluation.report import as_table, make_console
from daedalus.files import written_whole
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import parse_mechanism
from daedalus.market.seeds import generator, market_seeds
from experiments.build import build_all, load_generate, make_context, make_env
from experiments.compare import comparison

_PURPOSE = "inference"
_SHOWN = 300  # characters of an answer that is no mechanism
_SUMMARY = ["designer", "episodes", "mean", "mean_low", "mean_high", "iqr", "valid"]


def design(config: Config) -> Mechanism:
    """Return the designer's mechanism for an episode that has just begun.

    Raises:
        ConfigError: The model cannot be loaded, or its answer is no mechanism.
    """
    generate, prompt = _load(config.designer)
    with Console(stderr=True).status("asking; the first market compiles for minutes"):
        observation = make_env(config).reset(market_seeds(config.seed, _PURPOSE, 1))
        text = generate(prompts(observation, prompt), generator(config.seed, _PURPOSE))[0]
    parsed = parse_mechanism(text)
    if parsed.mechanism is None:
        wrong = "; ".join(f"{name}: {error}" for name, error in parsed.errors.items())
        raise ConfigError(
            f"the model's answer is no mechanism ({wrong[:_SHOWN]}); give --constrained, or a "
            f"model that was trained to write one. It wrote: {text[:_SHOWN]!r}"
        )
    return parsed.mechanism


def evaluate(config: Config, baselines: bool, asked: dict[str, Any], output: Path) -> None:
    """Play the designer, beside the baselines if asked; show tables and write a file of results.

    Args:
        config: The designer, the market, how many episodes and which baselines.
        baselines: Whether the baselines play, too.
        asked: What the file says was asked for.
        output: The file, written whole or not at all.

    Raises:
        ConfigError: The model cannot be loaded, or ``output`` is a folder.
    """
    if output.is_dir():
        raise ConfigError(f"output: {output} is a folder; name a file")
    tables = _played(config, baselines)
    with written_whole(output) as aside:
        aside.write_text(json.dumps(asked | _results(tables), indent=2, allow_nan=False) + "\n")
    console = make_console()
    console.print(as_table(tables["summary"][_SUMMARY], "reward by episode"))
    if baselines:
        console.print(as_table(tables["differences"], "paired differences"))
    console.print(str(output), soft_wrap=True)


def _played(config: Config, baselines: bool) -> dict[str, pd.DataFrame]:
    """Return the tables of ``comparison``; without baselines there are no differences."""
    name, env = config.designer.name, make_env(config)
    trained = LanguageModelDesigner(*_load(config.designer))
    chosen = config.evaluation.baselines if baselines else {}
    designers = build_all(chosen, make_context(config, env))
    return comparison(config, env, designers | {name: trained}, list(designers) or [name])


def _results(tables: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Return every episode's reward and what follows from them."""
    rewards = tables["episodes"].groupby("designer", sort=False)["reward"]
    return {
        "rewards": {name: each.tolist() for name, each in rewards},
        "summary": _records(tables["summary"]),
        "differences": _records(tables["differences"]),
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON knows them, null where a number is missing."""
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return rows


def _load(settings: LanguageModelSettings) -> tuple[Generate, PromptSettings]:
    try:
        return settings.load(load_generate)
    except (OSError, ValueError) as error:
        said = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"checkpoint: {settings.checkpoint!r} is no model here, nor one that the hub gives "
            f"({said}); give the `model` folder of a training run, or a hub name OWNER/NAME"
        ) from error
