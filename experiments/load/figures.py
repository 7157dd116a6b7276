"""Figure of a service under load: how many steps take how long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure

from daedalus.evaluation.figures import FAINT, empty_panels, entitle

SHARES = (0.0, 0.5, 0.9, 0.99, 0.999)
"""Shares of steps that are named below the panels."""


def latency_curves(loads: Sequence[tuple[str, Sequence[float]]]) -> Figure:
    """Draw latency over the share of steps that are as quick, a panel for each way in.

    Args:
        loads: For each load its name, which begins with the way in and a comma, and the latencies
            of its steps in seconds.
    """
    ways = sorted({name.split(", ")[0] for name, _ in loads})
    figure, axes = empty_panels(1, len(ways), (5.6 * len(ways), 5.0))
    for panel, way in zip(axes, ways, strict=True):
        shown = [(name, times) for name, times in loads if name.startswith(f"{way}, ")]
        for (name, times), colour in zip(
            shown, sns.color_palette("crest", len(shown)), strict=True
        ):
            ordered = 1000.0 * np.sort(times)
            slower = 1.0 - np.arange(len(ordered)) / len(ordered)
            panel.plot(slower, ordered, color=colour, lw=1.6, label=name.removeprefix(f"{way}, "))
        panel.set(xscale="log", yscale="log", xlim=(1.0, 0.001), title=way)
        panel.set_xticks([1.0 - share for share in SHARES], [f"{share:g}" for share in SHARES])
        panel.minorticks_off()
        panel.set_ylim(top=4.0 * panel.get_ylim()[1])  # room for the legend
        panel.set_xlabel("share of steps answered sooner", color=FAINT)
        panel.legend(frameon=False, fontsize=8.5, loc="upper left")
    axes[0].set_ylabel("latency, ms")
    entitle(figure, "How soon a step is answered", "from when it was due, so that waiting counts")
    return figure
