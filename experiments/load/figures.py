"""The figure of a service under load: the latency of its steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import seaborn as sns
from matplotlib.figure import Figure

from daedalus.evaluation.figures import FAINT, empty_panels, entitle

SHARES = (0.0, 0.5, 0.9, 0.99, 0.999)
"""Shares of steps that are labelled below the panels."""


def latency_curves(loads: Sequence[tuple[str, Sequence[float]]]) -> Figure:
    """Draw the latencies of steps in order, with a panel for each protocol.

    Args:
        loads: The name of each load, which begins with the protocol and a comma, and the latencies
            of its steps in seconds.
    """
    protocols = sorted({name.split(", ")[0] for name, _ in loads})
    figure, axes = empty_panels(1, len(protocols), (5.6 * len(protocols), 5.0))
    for panel, protocol in zip(axes, protocols, strict=True):
        shown = [(name, times) for name, times in loads if name.startswith(f"{protocol}, ")]
        for (name, times), colour in zip(
            shown, sns.color_palette("crest", len(shown)), strict=True
        ):
            ordered = 1000.0 * np.sort(times)
            slower = 1.0 - np.arange(len(ordered)) / len(ordered)
            panel.plot(
                slower, ordered, color=colour, lw=1.6, label=name.removeprefix(f"{protocol}, ")
            )
        panel.set(xscale="log", yscale="log", xlim=(1.0, 0.001), title=protocol)
        panel.set_xticks([1.0 - share for share in SHARES], [f"{share:g}" for share in SHARES])
        panel.yaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        panel.set_ylim(top=4.0 * panel.get_ylim()[1])  # room for the legend
        panel.set_xlabel("share of steps answered sooner", color=FAINT)
        panel.legend(frameon=False, fontsize=8.5, loc="upper left")
    axes[0].set_ylabel("latency, ms")
    entitle(figure, "Latency of a step", "from the time when the step was due")
    return figure
