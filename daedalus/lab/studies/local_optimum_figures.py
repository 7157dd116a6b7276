"""The figure of what changes of one field would gain."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from daedalus.evaluation.basis import over_episodes
from daedalus.evaluation.figures import INK, empty_panels, entitle
from daedalus.evaluation.readable import readable
from daedalus.evaluation.statistics import half_width

_BETTER, _WORSE = "#0072b2", "#8c8c8c"


def gain_bars(gains: pd.DataFrame) -> Figure:
    """Draw the best change of each field, with its 95 % interval.

    Args:
        gains: The frame of ``one_field_gains``.
    """
    best = gains.groupby("field", sort=False).head(1)
    places = np.arange(len(best))
    figure, (axes,) = empty_panels(1, 1, (7.2, 1.6 + 0.32 * len(best)))
    colours = [_BETTER if gain > 0 else _WORSE for gain in best["gain"]]
    half = half_width(best["sem"], best["count"], 0.95)
    axes.barh(places, best["gain"], xerr=half, color=colours, height=0.6)
    names = [
        f"{readable(field)}: {readable(value)}"
        for field, value in zip(best["field"], best["value"], strict=True)
    ]
    axes.set_yticks(places, names)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set(ylim=(len(best) - 0.5, -0.5), xlabel="reward gained")
    reading = f"thin lines: {over_episodes(best['count'], 0.95)} · the best of many, so too high"
    entitle(figure, "What the best change of each field gains", reading)
    return figure
