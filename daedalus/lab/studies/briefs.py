"""What designers make of briefs: rules kept, objective and score of each, and who read what."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.generator import label
from daedalus.design.briefs.meanings import NOTHING, kind
from daedalus.design.briefs.scoring import EPISODES, NO_MECHANISM, mean_terms, verdict
from daedalus.design.designers.brief_model import BriefModel
from daedalus.design.designers.brief_search import BriefSearch
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.answer_log import AnswerLog
from daedalus.evaluation.basis import COLUMN, basis
from daedalus.evaluation.statistics import interval_row, mean_estimate, share_interval
from daedalus.market.allowed import written_allowed
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism, Mechanisms, mechanism_from_mapping
from daedalus.market.seeds import generator, market_seeds

TRUTH = "true_parts"
"""Name in tables of the search that knows the true parts."""

_TWIN = re.compile(r"(pairs-\d{4})[ab]")
_OF_KIND = ("designer", "kind")

Markets = Callable[[str], DesignEnv]
"""Returns the market of bidders by the name of their population."""
Designers = Callable[[str], Mapping[str, Designer]]
"""Returns the designers that expect the bidders of a population, by their names in tables."""


@dataclass(frozen=True)
class Proposal:
    """What a designer sets under a brief.

    Attributes:
        designer: Its name in tables.
        brief: The brief.
        mechanism: What it sets; None if its answer was no mechanism.
        understood: What it says that it understood; None if it does not say.
        reason: Why its answer was refused, if it is that of a language model.
    """

    designer: str
    brief: Brief
    mechanism: Mechanism | None
    understood: Understanding | None
    reason: str = ""


def proposals(
    briefs: Sequence[Brief],
    markets: Markets,
    designers: Designers,
    seed: int,
    logs: list[AnswerLog] | None = None,
) -> list[Proposal]:
    """Let each designer set a mechanism under each brief.

    A designer sees the words of the brief, and the market of the bidders that it expects. It sees
    neither weights nor rules.

    Args:
        briefs: The briefs.
        markets: Returns markets by population.
        designers: Returns designers by the population that they expect.
        seed: Seed of the run.
        logs: Gets a log of the answers of language models for each population; None keeps none.
    """
    found = []
    for population, group in _by(briefs, lambda each: each.known_population).items():
        env = markets(population)
        log = AnswerLog(population)
        if logs is not None:
            logs.append(log)
        episodes = env.reset(market_seeds(seed, "briefs/observed", len(group)))
        episodes.goals = np.array([Goal({}, {}, each.text) for each in group], object)
        observation = episodes.observe()
        for name, designer in designers(population).items():
            rng = generator(seed, f"designer/{name}")
            proposed = designer.propose(observation, rng)
            log.add(name, designer, 1, range(len(group)))
            reasons = _reasons(designer, len(group))
            found += [
                Proposal(name, brief, _mechanism(proposed, row), _understood(designer, brief), why)
                for row, (brief, why) in enumerate(zip(group, reasons, strict=True))
            ]
        found += [
            Proposal(TRUTH, each, mechanism_from_mapping(dict(each.scale.mechanism)), each.truth)
            for each in group
            if each.scale
        ]
    return found


def scores(
    given: Sequence[Proposal], markets: Markets, seed: int, split: Callable[[Brief], str]
) -> pd.DataFrame:
    """Return a row for each proposal: rules kept, objective, score and what was understood.

    Args:
        given: The proposals.
        markets: Returns markets by population.
        seed: Seed of the futures in which mechanisms are scored.
        split: Returns the split of a brief.
    """
    rows = []
    for population, group in _by(given, lambda each: each.brief.population).items():
        played = [each.mechanism or Mechanism() for each in group]
        terms = _terms(markets(population), played, seed)
        rows += [_row(each, row, split(each.brief)) for each, row in zip(group, terms, strict=True)]
    order = {name: place for place, name in enumerate(dict.fromkeys(p.designer for p in given))}
    frame = pd.DataFrame(rows)
    return frame.sort_values(
        ["designer", "id"], key=lambda each: each.map(order) if each.name == "designer" else each
    ).reset_index(drop=True)


def summarised(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return a row for each split and designer of ``scores``: means with intervals over briefs.

    Those of minimal pairs are over pairs, whose two briefs are no two draws.
    """
    rows: list[dict[str, Any]] = []
    splits = list(dict.fromkeys(table["split"]))
    groups = sorted(
        table.groupby(["split", "designer"], sort=False), key=lambda each: splits.index(each[0][0])
    )
    for (split, designer), group in groups:
        kept = group[group["rules_kept"]]
        pairs = group["id"].str.replace(_TWIN, r"\1", regex=True)
        means = group.groupby(pairs, sort=False)[["score", "rules_kept"]].mean()
        unit = "brief" if len(means) == len(group) else "pair"
        rows.append(
            {"split": split, "designer": designer, "briefs": len(group)}
            | mean_estimate("score", means["score"].dropna(), confidence, unit)
            | _share_estimate("rules_kept", means["rules_kept"], confidence, unit)
            | {"score_where_kept": kept["score"].mean(), "all_read": group["all_read"].mean()}
        )
    return pd.DataFrame(rows)


def leads(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return a row for each split and two designers of ``scores``: how much more the first scores.

    Both answer the same briefs, so scores are paired by brief, or by minimal pair.

    Returns:
        Columns ``split``, ``designer``, ``other``, and ``lead`` with its interval. The designer
        with the higher mean is the first of two; the search that knows the true parts is none.
    """
    rows: list[dict[str, Any]] = []
    for split, group in table[table["designer"] != TRUTH].groupby("split", sort=False):
        of_pairs = group.assign(id=group["id"].str.replace(_TWIN, r"\1", regex=True))
        paired = of_pairs.pivot_table("score", "id", "designer", sort=False)
        unit = "brief" if len(paired) == group["id"].nunique() else "pair"
        best_first = paired.mean().sort_values(ascending=False, kind="stable").index
        for first, second in itertools.combinations(best_first, 2):
            more = (paired[first] - paired[second]).dropna()
            row = {"split": split, "designer": first, "other": second}
            rows.append(row | mean_estimate("lead", more, confidence, unit))
    lead = ("lead", "lead_low", "lead_high", f"lead{COLUMN}")
    return pd.DataFrame(rows, columns=["split", "designer", "other", *lead])


def _share_estimate(
    label: str, values: pd.Series[float], confidence: float, unit: str
) -> dict[str, float | str]:
    """Return what ``mean_estimate`` does, for a share: its interval stays between 0 and 1."""
    share = float(values.mean())
    ends = share_interval(share, len(values), confidence)
    return interval_row(label, share, ends, basis(values, unit))


def by_pair(given: Sequence[Proposal], table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each designer and minimal pair: what became of both briefs.

    Args:
        given: The proposals.
        table: Their rows of ``scores``.

    Returns:
        Columns ``designer`` and ``pair``; ``a`` and ``b``, the meanings that differ; of both briefs
        ``…_text``, ``…_understood`` (as the table has it) and ``…_kept`` (its rules); ``differs``
        (whether the designer set two mechanisms), ``both_kept``, ``score`` (mean of both).
    """
    rows = table.set_index(["designer", "id"])
    briefs = {each.brief.id: each.brief for each in given}
    twins = [(name, f"{name[:-1]}b") for name in briefs if _TWIN.fullmatch(name)]
    twins = [(first, second) for first, second in twins if first != second and second in briefs]
    return pd.DataFrame(
        {"designer": designer, "pair": first[:-1]}
        | _of_pair(briefs[first], briefs[second], rows.loc[[(designer, first), (designer, second)]])
        for designer in dict.fromkeys(each.designer for each in given)
        for first, second in twins
    )


def _of_pair(first: Brief, second: Brief, both: pd.DataFrame) -> dict[str, Any]:
    """Return what became of a minimal pair, from its two rows of ``scores``."""
    a, b = set(first.clauses), set(second.clauses)
    found: dict[str, Any] = {"a": "; ".join(sorted(a - b)), "b": "; ".join(sorted(b - a))}
    for letter, brief, row in zip("ab", (first, second), both.to_dict("records"), strict=True):
        found[f"{letter}_text"] = brief.text
        found[f"{letter}_understood"] = row["understood"]
        found[f"{letter}_kept"] = row["rules_kept"]
    found["differs"] = both["mechanism"].nunique() == 2
    return found | {"both_kept": bool(both["rules_kept"].all()), "score": both["score"].mean()}


def by_clause(given: Sequence[Proposal], table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each split, designer and type of clause: how often it was read right.

    Args:
        given: The proposals.
        table: Their rows of ``scores``.

    Returns:
        Columns ``split``, ``designer``, ``kind``, ``clauses``, ``read`` (share whose meaning and
        amount were understood; NaN if the designer does not say), ``score`` (mean of their briefs).
    """
    scored = table.set_index(["designer", "id"])
    rows = []
    for each in given:
        understood = each.understood
        said = {label(c) for c in understood.clauses} if understood else set()
        says = understood is not None and each.designer != TRUTH
        split, score = scored.loc[(each.designer, each.brief.id), ["split", "score"]]
        for clause in each.brief.clauses:
            read = float(clause in said) if says else np.nan
            rows.append((split, each.designer, kind(clause.split()[0]), read, score))
    frame = pd.DataFrame(rows, columns=["split", *_OF_KIND, "read", "score"])
    frame = frame[frame["kind"] != kind(NOTHING)].sort_values("split", kind="stable")
    grouped = frame.groupby(["split", *_OF_KIND], sort=False)
    return grouped.agg(
        clauses=("score", "size"), read=("read", "mean"), score=("score", "mean")
    ).reset_index()


def _row(proposal: Proposal, terms: NDArray[np.float64], split: str) -> dict[str, Any]:
    brief, mechanism = proposal.brief, proposal.mechanism
    row: dict[str, Any] = {"designer": proposal.designer, "split": split, "id": brief.id}
    judged = NO_MECHANISM if mechanism is None else verdict(brief, mechanism, terms)
    score = judged.score if brief.scale else np.nan  # of valid answers and of others alike
    row |= {"rules_kept": judged.keeps_rules, "objective": judged.objective, "score": score}
    understood = proposal.understood
    row["all_read"] = understood.same_as(brief.truth) if understood else np.nan
    row["broken"] = "; ".join(judged.broken) + (f": {proposal.reason}" if proposal.reason else "")
    row["mechanism"] = json.dumps(mechanism.to_dict()) if mechanism else ""
    row["understood"] = json.dumps(_written(understood)) if understood else ""
    return row


def _written(understood: Understanding) -> dict[str, Any]:
    return {
        "reward": dict(understood.reward),
        "allowed": written_allowed(understood.allowed),
        "floors": dict(understood.floors),
        "population": understood.population,
    }


def _terms(env: DesignEnv, played: Sequence[Mechanism], seed: int) -> NDArray[np.float64]:
    """Return the mean terms of mechanisms; those that are equal are played once."""
    texts = [json.dumps(each.to_dict()) for each in played]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    unique = Mechanisms.stack([played[texts.index(text)] for text in places])
    terms = mean_terms(env, unique, EPISODES, seed)
    return terms[[places[text] for text in texts]]


def _mechanism(proposed: Mechanisms, row: int) -> Mechanism | None:
    return None if proposed.malformed[row] else proposed[row]


def _reasons(designer: Designer, count: int) -> list[str]:
    """Return why each answer of the last proposal was refused; empty where none was."""
    if isinstance(designer, LanguageModelDesigner):
        return [each.parsed.reason for each in designer.answers]
    return [""] * count


def _understood(designer: Designer, brief: Brief) -> Understanding | None:
    if isinstance(designer, BriefSearch | BriefModel):
        return designer.understand(brief.text)
    return None


def _by(items: Iterable[Any], key: Callable[[Any], str]) -> dict[str, list[Any]]:
    groups = defaultdict(list)
    for each in items:
        groups[key(each)].append(each)
    return dict(groups)
