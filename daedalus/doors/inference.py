"""Ask a trained designer: for one mechanism, or for episodes beside the baselines."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pandas as pd
from rich.console import Console

from daedalus.design.designers.build import build_all, instead
from daedalus.design.designers.candidates import newest_model
from daedalus.design.designers.language_model import LanguageModelDesigner, LanguageModelSettings
from daedalus.evaluation.answer_log import AnswerLog, refusals
from daedalus.evaluation.comparison import comparison
from daedalus.evaluation.readable import as_table
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.tasks import Compare
from daedalus.launch.from_config import (
    OUTPUTS,
    load_generate,
    make_context,
    make_env,
    own_context,
    search_command,
)
from daedalus.market.mechanism import Mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs import pretrained
from daedalus.runs.console import make_console
from daedalus.runs.files import write_text

_PURPOSE = "inference"
_SHOWN = 300  # characters of an invalid answer
_SUMMARY = [
    "designer",
    "episodes",
    "mean",
    "mean_low",
    "mean_high",
    "mean_interval",
    "iqr",
    "valid",
]


def chosen(config: Compare) -> str:
    """Return the newest model of a run for the reward; tell which newer ones are passed over."""
    choice = newest_model(OUTPUTS, config.reward)
    if choice.passed_over:
        print(choice, file=sys.stderr)
    return str(choice.model or pretrained.WORD)


def told(config: Compare, changes: Sequence[str]) -> str:
    """Return two lines if the designer was trained for something else, or nothing.

    The second repeats ``changes``, the overrides that ask for it.
    """
    context = own_context(config, make_env(config))
    found = instead(config.designer, context)
    return f"\n{found}\na search for what you ask: {search_command(changes)}" if found else ""


def design(config: Compare) -> Mechanism:
    """Return the mechanism that the designer sets at the start of an episode.

    Raises:
        ConfigError: The model cannot be loaded, or its answer is not a valid mechanism.
    """
    designer = _load(config)
    with Console(stderr=True).status("asking the model"):
        observation = make_env(config).reset(market_seeds(config.seed, _PURPOSE, 1)).observe()
        designer.propose(observation, generator(config.seed, _PURPOSE))
    answer = designer.answers[0]
    if answer.parsed.mechanism is None:
        raise ConfigError(
            f"the model's answer is not a mechanism ({answer.parsed.reason[:_SHOWN]}); give "
            "--constrained, or a model that was trained for the task. "
            f"It wrote: {answer.text[:_SHOWN]!r}"
        )
    return answer.parsed.mechanism


def evaluate(config: Compare, baselines: bool, asked: dict[str, Any], output: Path) -> None:
    """Play the designer, and the baselines if asked; show tables and write a file of results.

    The file repeats what was ``asked`` on the command line. It is written whole or not at all.

    Raises:
        ConfigError: The model cannot be loaded, or ``output`` cannot be written.
    """
    _require_writable(output)
    log = AnswerLog(config.population.name)
    tables = _played(config, baselines, log)
    console = make_console()
    console.print(as_table(tables["summary"][_SUMMARY], "reward by episode"))
    for sentence in refusals(log.counts()):
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    if baselines:
        console.print(as_table(tables["differences"], "paired differences"))
    write_text(output, json.dumps(asked | _results(tables), indent=2, allow_nan=False) + "\n")
    console.print(str(output), soft_wrap=True)


def _require_writable(output: Path) -> None:
    """Refuse a file that cannot be written, before anything is played for it."""
    if output.is_dir():
        raise ConfigError(f"output: {output} is a folder; name a file")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise ConfigError(f"output: {output} cannot be written ({error}); name another") from error


def _played(config: Compare, baselines: bool, log: AnswerLog) -> dict[str, pd.DataFrame]:
    """Return the tables of ``comparison``. Without baselines there are no differences."""
    name, env = config.designer.name, make_env(config)
    trained = _load(config)
    chosen = config.evaluation.baselines if baselines else {}
    designers = build_all(chosen, make_context(config, env))
    references = list(designers) or [name]
    played, settings = designers | {name: trained}, config.evaluation
    return comparison(env, played, references, settings, config.seed, log)


def _results(tables: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Return the reward of every episode, the summary and the differences."""
    rewards = tables["episodes"].groupby("designer", sort=False)["reward"]
    return {
        "rewards": {name: each.tolist() for name, each in rewards},
        "summary": _records(tables["summary"]),
        "differences": _records(tables["differences"]),
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON values; a missing number is null."""
    rows: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return rows


def _load(config: Compare) -> LanguageModelDesigner:
    """Return the designer, whose prompt shows the run's reward."""
    settings: LanguageModelSettings = config.designer
    try:
        generate, prompt = settings.load(load_generate)
    except (OSError, ValueError) as error:
        said = str(error).strip().partition("\n")[0]
        raise ConfigError(
            f"checkpoint: {settings.checkpoint!r} cannot be loaded ({said}); give the `model` "
            "folder of a training run, or a hub name OWNER/NAME"
        ) from error
    prompt.require_shown(config.reward.active)
    return LanguageModelDesigner(generate, prompt, settings.strict)
