"""Ask a trained designer for a mechanism, and play a few episodes with it and with others."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError, doing
from daedalus.design.designers.build import build_all, instead
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.language.prompt import observation_texts
from daedalus.evaluation.answer_log import AnswerLog
from daedalus.evaluation.comparison import comparison
from daedalus.evaluation.run_report import Report
from daedalus.evaluation.scale import scale_of
from daedalus.launch.brief_answer import answer_brief, brief_text
from daedalus.launch.comparison import keep_answers
from daedalus.launch.config.changes import changes
from daedalus.launch.config.tasks import Ask
from daedalus.launch.from_config import make_env, own_context, search_command
from daedalus.launch.tracked import tracked
from daedalus.market.mechanism import Mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs.folder import RunFolder
from daedalus.runs.pretrained import described

_SHOWN = ["designer", "episodes", "mean", "mean_low", "mean_high", "mean_interval", "valid"]
_OWN = "best_own"


def main(config: Ask, out: Path) -> None:
    """Show a prompt, the mechanism that the designer sets, and what designers earn."""
    if config.brief:
        _require_unasked(asked_changes(config, out))
        with tracked(config, out, drawn=False) as (_, report):
            answer_brief(brief_text(config.brief), own_context(config, make_env(config)), report)
        return
    env, name = make_env(config), config.designer.name
    context = own_context(config, env)
    with tracked(config, out, drawn=False) as (_, report):
        report.say(f"designer: {described(config.designer.checkpoint)}")
        told = instead(config.designer, context)
        if told:
            command = search_command(asked_changes(config, out))
            report.say(f"{told}\na longer search for what you ask: {command}")
        with doing(f"designer {name} cannot be built"):
            designer = config.designer.build(context)
        own = _best_own(config, env, report)
        before, answer = _answer(config, env, designer, report)
        if answer:
            found = {"now": answer} | ({_OWN: own.mechanism} if told else {})
            report.show(_beside({"before": before} | found), "it takes over, and sets")
        others = {key: each for key, each in config.evaluation.baselines.items() if key != _OWN}
        designers = build_all(others, context) | {_OWN: own, name: designer}
        _compare(config, env, designers, report)


def _require_unasked(overrides: list[str]) -> None:
    """Refuse changes that nothing reads beside a brief."""
    for each in changes(overrides):
        if each.first in ("designer", "evaluation"):
            raise CannotRunError(
                f"{each.text}: with a brief a search sets the mechanism and scores it; leave it out"
            )


def asked_changes(config: Ask, out: Path) -> list[str]:
    """Return the overrides of this run, and its population in any case."""
    launch, own = RunFolder(out).launch, f"population={config.population.name}"
    asked = json.loads(launch.read_text())["overrides"] if launch.is_file() else []
    return [own, *(each for each in asked if each != own)]


def _best_own(config: Ask, env: DesignEnv, report: Report) -> FixedDesigner:
    """Return the mechanism of the scale, or where nobody measured one, that of a short search."""
    if (scale := scale_of(env)) is not None:
        return FixedDesigner(scale.mechanism)
    report.say(f"searching {_OWN}, one mechanism for what you ask (4 s for 8 bidders, 22 s for 64)")
    context = own_context(config, env)
    own = build_all({_OWN: config.evaluation.baselines[_OWN]}, context)[_OWN]
    assert isinstance(own, FixedDesigner)
    return own


def _answer(
    config: Ask, env: DesignEnv, designer: LanguageModelDesigner, report: Report
) -> tuple[Mechanism, Mechanism | None]:
    """Show what the designer reads at the beginning of the first episode.

    Returns:
        The mechanism in force there, and the designer's; None if its answer holds none.
    """
    observation = env.reset(market_seeds(config.seed, "evaluation", 1)).observe()
    designer.propose(observation, generator(config.seed, "ask"))
    answer = designer.answers[0]
    with_names = replace(designer.prompt, compact=False, mechanism=False)  # which a table shows
    read = observation_texts(observation, with_names)[0]
    report.say(f"\n{config.population.name}, seed {config.seed}. It reads:\n{read}\n")
    if answer.parsed.mechanism is None:
        report.say(f"Its answer is no mechanism ({answer.parsed.reason}): {answer.text}")
    return observation.mechanisms[0], answer.parsed.mechanism


def _beside(mechanisms: dict[str, Mechanism]) -> pd.DataFrame:
    """Return a row for each field of mechanisms, which are columns."""
    columns = {
        name: [str(value) for value in asdict(each).values()] for name, each in mechanisms.items()
    }
    return pd.DataFrame({"field": asdict(Mechanism()).keys()} | columns)


def _compare(config: Ask, env: DesignEnv, designers: dict[str, Designer], report: Report) -> None:
    """Play all designers in the same episodes; write tables, and show the means."""
    log = AnswerLog(config.population.name)
    references, settings = [config.designer.name], config.evaluation
    frames = comparison(env, designers, references, settings, config.seed, log)
    keep_answers([log], report)
    for name in ("steps", "episodes", "summary"):
        report.table(frames[name], name)
    title = f"mean {config.reward.name} over {config.evaluation.episodes} episodes"
    report.show(frames["summary"][_SHOWN].drop(columns="episodes"), title)
