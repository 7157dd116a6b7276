"""Ask a trained designer for a mechanism, and play a few episodes with it and with others."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.env import DesignEnv, Designer
from daedalus.evaluation.answers import AnswerLog
from daedalus.evaluation.report import Report
from daedalus.evaluation.scale import scale_of
from daedalus.language.prompt import observation_texts
from daedalus.market.mechanism import Mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs.pretrained import described
from experiments.build import build_all, make_context, make_env
from experiments.compare import comparison, keep_answers
from experiments.tracked import tracked

_SHOWN = ["designer", "episodes", "mean", "mean_low", "mean_high", "valid"]


def main(config: Config, out: Path) -> None:
    """Show a prompt, the mechanism that the designer sets, and what designers earn."""
    env = make_env(config)
    with tracked(config, out) as (_, report):
        report.say(f"designer: {described(config.designer.checkpoint)}")
        asked = build_all({config.designer.name: config.designer}, make_context(config, env))
        designer = asked[config.designer.name]
        assert isinstance(designer, LanguageModelDesigner)
        _show_answer(config, env, designer, report)
        others = build_all(config.evaluation.baselines, make_context(config, env))
        if (scale := scale_of(env)) is not None:
            others["best_own"] = FixedDesigner(scale.mechanism)
        _compare(config, env, others | asked, report)


def _show_answer(
    config: Config, env: DesignEnv, designer: LanguageModelDesigner, report: Report
) -> None:
    """Show what the designer reads and sets at the beginning of the first episode."""
    observation = env.reset(market_seeds(config.seed, "evaluation", 1)).observe()
    designer.propose(observation, generator(config.seed, "ask"))
    answer = designer.answers[0]
    with_names = replace(designer.prompt, compact=False, mechanism=False)  # which a table shows
    read = observation_texts(observation, with_names)[0]
    report.say(f"\n{config.population.name}, seed {config.seed}. It reads:\n{read}\n")
    if answer.parsed.mechanism is None:
        report.say(f"Its answer is no mechanism ({answer.parsed.reason}): {answer.text}")
    else:
        before = observation.mechanisms[0]
        report.show(_beside(before, answer.parsed.mechanism), "it takes over, and sets")


def _beside(before: Mechanism, after: Mechanism) -> pd.DataFrame:
    """Return a row for each field of two mechanisms."""
    old, new = (
        {name: str(value) for name, value in asdict(each).items()} for each in (before, after)
    )
    return pd.DataFrame({"field": old.keys(), "before": old.values(), "now": new.values()})


def _compare(
    config: Config, env: DesignEnv, designers: dict[str, Designer], report: Report
) -> None:
    """Play all designers in the same episodes; write tables, and show the means."""
    log = AnswerLog(config.population.name)
    frames = comparison(config, env, designers, [config.designer.name], log)
    keep_answers([log], report)
    for name in ("steps", "episodes", "summary"):
        report.table(frames[name], name)
    title = f"mean {config.reward.name} over {config.evaluation.episodes} episodes"
    report.show(frames["summary"][_SHOWN].drop(columns="episodes"), title)
