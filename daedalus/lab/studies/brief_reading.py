"""What readers of briefs understand of another writer's sentences."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from daedalus.design.briefs.meanings import MEANINGS, kind
from daedalus.design.briefs.readers import Reader
from daedalus.design.briefs.wordings import wordings
from daedalus.evaluation.figures import empty_panels, entitle, palette
from daedalus.evaluation.readable import readable
from daedalus.evaluation.statistics import mean_estimate


def reading(reader: Reader, benchmark: bool) -> pd.DataFrame:
    """Return a row for each sentence of the second writer: meaning, read as, how sure, right.

    Args:
        reader: It reads them.
        benchmark: Whether types that never train are left out.
    """
    given = [
        (text.replace("{x}", "0.5"), name)
        for name, texts in wordings("second").items()
        if not benchmark or MEANINGS[name].trained
        for text in texts
    ]
    clauses = reader.clauses([text for text, _ in given])
    return pd.DataFrame(
        {
            "kind": kind(name),
            "meaning": name,
            "read": each.meaning,
            "sure": each.confidence,
            "right": each.meaning == name,
            "sentence": each.sentence,
        }
        for (_, name), each in zip(given, clauses, strict=True)
    )


def shares(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the share that is read right, with intervals over sentences.

    Args:
        table: Rows of ``reading``, with columns ``reader`` and ``wordings``.
        confidence: Coverage of the intervals.
    """
    groups = table.groupby(["reader", "wordings"], sort=False)
    return pd.DataFrame(
        {"reader": reader, "wordings": count}
        | mean_estimate("right", group["right"], confidence, "sentence")
        for (reader, count), group in groups
    )


def reading_curves(found: pd.DataFrame, confidence: float) -> Figure:
    """Draw the share that each reader reads right over the wordings of each meaning it learnt.

    Args:
        found: The frame of ``shares``.
        confidence: Coverage of its intervals.
    """
    readers = list(found["reader"].unique())
    figure, (axes,) = empty_panels(1, 1, (7.0, 4.2))
    for name, colour in palette(readers).items():
        rows = found[found["reader"] == name]
        axes.plot(rows["wordings"], rows["right"], "o-", color=colour, label=readable(name))
        axes.fill_between(
            rows["wordings"], rows["right_low"], rows["right_high"], color=colour, alpha=0.12, lw=0
        )
    axes.set(ylim=(0, 1), xlabel="sentences of each meaning that it learnt", ylabel="read right")
    axes.set_xticks(sorted(found["wordings"].unique()))
    axes.legend(frameon=False, loc="upper left")
    reading = f"another writer's sentences; bands: {100 * confidence:g} % intervals over them"
    entitle(figure, "What readers understand", reading)
    return figure
