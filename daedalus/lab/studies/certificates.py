"""Certificates of the mechanisms that a designer chooses.

``daedalus.lab.theory.certificates`` defines the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from tqdm import tqdm

from daedalus.checks import CannotRunError
from daedalus.evaluation.figures import FAINT, INK, empty_panels, entitle, legend_below, palette
from daedalus.evaluation.readable import readable
from daedalus.lab.theory.certificates import certify, draw_values, groups_of, truthful_regret
from daedalus.lab.theory.formats import FORMATS_WITH_THEORY
from daedalus.market.interface import Market
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.population import Population
from daedalus.market.seeds import generator
from daedalus.market.strategic import StrategicMarket

MOST = 24
"""The most mechanisms that are certified, the most frequent ones."""

KEY = ["auction_type", "reserve_price", "share"]
"""Columns that name a mechanism, and its share of steps."""

PANELS = {
    "interim_regret": "interim regret",
    "ex_post_regret": "ex-post regret",
    "ring_gain": "a ring's gain",
}
"""Columns that are drawn, and their titles; a column without numbers is left out."""

MOST_ROWS = 12
"""The most mechanisms that are drawn, the most frequent ones."""

_BAR = "#d9d9d9"
_SALE = KEY[:2]
_DRAWS = 5000


class Chosen(NamedTuple):
    """A mechanism that stands for all of its format and reserve.

    Attributes:
        mechanism: The most frequent one of them.
        share: Their share of all steps, in [0, 1].
        own_share: The share of steps with all fields of ``mechanism``, at most ``share``.
    """

    mechanism: Mechanism
    share: float
    own_share: float


def chosen_mechanisms(steps: pd.DataFrame) -> list[Chosen]:
    """Return mechanisms of a designer and the shares of steps that each stands for.

    A certificate of one sale depends on format and reserve alone. So mechanisms with the same
    format and the same reserve, to 0.01, are one; its other fields are the most frequent ones.
    Steps are those of ``compare`` for one designer.

    Returns:
        At most ``MOST`` mechanisms, the most frequent first. Shares are of all steps.

    Raises:
        CannotRunError: The designer set no valid mechanism.
    """
    valid = steps[steps["valid"]].round({"reserve_price": 2})
    if valid.empty:
        raise CannotRunError("the designer set no valid mechanism, so there is none to certify")
    counts = valid.groupby(list(FIELDS)).size().rename("count").reset_index()
    counts["total"] = counts.groupby(_SALE)["count"].transform("sum")
    first = counts.sort_values("count", ascending=False, kind="stable").drop_duplicates(_SALE)
    kept = first.sort_values("total", ascending=False, kind="stable").head(MOST)
    rows: list[dict[str, Any]] = kept.to_dict("records")  # type: ignore[assignment]  # str keys
    return [
        Chosen(
            Mechanism(**{f: row[f] for f in FIELDS}),
            row["total"] / len(steps),
            row["count"] / len(steps),
        )
        for row in rows
    ]


def certificate_tables(
    population: Population, chosen: Sequence[Chosen], seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the certificates of several mechanisms.

    Args:
        population: The bidders.
        chosen: Mechanisms, and the shares of steps of each.
        seed: Seed of the run.

    Returns:
        A row for each mechanism: ``auction_type``, ``reserve_price`` and ``share``; the numbers of
        ``types``, of which worst regrets and gains are the largest of a type and all others are
        means over bidders; and the numbers of the sale, see ``Certificate``. And ``types``, a row
        for each mechanism and type: the numbers of ``certify``.

    Raises:
        CannotRunError: The population draws its bidders, values have atoms, or theory does not know
            a format.
    """
    groups, rows, types = groups_of(population), [], []
    for mechanism, share, _ in tqdm(chosen, "certificates", leave=False, disable=None):
        found = certify(mechanism, groups, population.units, seed)
        part = pd.DataFrame(found.types)
        key: dict[str, Any] = {name: getattr(mechanism, name) for name in _SALE} | {"share": share}
        rows.append(key | _over_types(part) | found.sale)
        types.append(pd.DataFrame([key] * len(part)).join(part))
    return pd.DataFrame(rows), pd.concat(types, ignore_index=True)


def mean_regrets(steps: pd.DataFrame, market: Market, seed: int) -> pd.Series[float]:
    """Return the mean ex-post regret of truthful bidders in one sale, for several designers.

    It is a mean over the valid mechanisms of each designer, whose reserves are rounded to 0.01.

    Args:
        steps: The frame of ``compare``.
        market: The market that they played.
        seed: Seed of the run.

    Returns:
        A number for each ``designer``, in units of value; NaN if no certificate describes the
        market, because its episodes draw their bidders or because it is the classic one, or if
        theory does not know a format that the designer chose.
    """
    designers = pd.Index(steps["designer"].unique(), name="designer")
    unknown = pd.Series(np.nan, designers, name="ex_post_regret")
    if not isinstance(market, StrategicMarket) or market.players:
        return unknown
    try:
        groups, units = groups_of(market.population), market.population.units
    except CannotRunError:
        return unknown
    bids = draw_values(groups, _DRAWS, generator(seed, "certificates/regrets"))
    valid = steps[steps["valid"]].round({"reserve_price": 2})
    rules = valid[_SALE].drop_duplicates()
    regrets = [
        truthful_regret(Mechanism(auction_type=kind, reserve_price=reserve), groups, units, bids)
        if kind in FORMATS_WITH_THEORY
        else np.nan
        for kind, reserve in rules.itertuples(index=False)
    ]
    joined = valid.merge(rules.assign(ex_post_regret=regrets), on=_SALE)
    return joined.groupby("designer")["ex_post_regret"].mean(skipna=False).reindex(designers)


def _over_types(part: pd.DataFrame) -> dict[str, float]:
    """Return means over bidders, and of worst regrets and gains the largest of a type."""
    found: dict[str, float] = {}
    for name in part.columns.drop(["type", "bidders", "ring"]).tolist():
        largest = any(word in name for word in ("worst", "gain"))
        mean = np.average(part[name], weights=part["bidders"])
        found[name] = float(part[name].max() if largest else mean)
    return found


def certificate_dots(
    summary: pd.DataFrame, types: pd.DataFrame, notes: Sequence[str] = ()
) -> Figure:
    """Draw regrets and gains of each mechanism: a bar for the mean or largest, a dot for a type.

    Args:
        summary: The first frame of ``certificate_tables``.
        types: The second one.
        notes: Lines below the title, such as what is left out.
    """
    shown = summary.head(MOST_ROWS)
    names = [
        f"{readable(kind)}, reserve {reserve:.2f}: {100.0 * share:.0f} %"
        for kind, reserve, share in zip(*(shown[name] for name in KEY), strict=True)
    ]
    columns = [name for name in PANELS if types[name].notna().any()]
    size = (3.2 + 2.5 * len(columns), 1.9 + 0.36 * len(shown) + 0.24)
    figure, axes = empty_panels(1, len(columns), size)
    for panel, column in zip(axes, columns, strict=True):
        _panel(panel, shown, types, column)
        panel.set_yticks(range(len(shown)), names if panel is axes[0] else [""] * len(shown))
    if types["type"].nunique() > 1:
        legend_below(figure, axes[0], 6, "right")
    reading = (
        "bar: mean over bidders, of a ring's gain the largest · dot: a type · all units together "
        "· %: share of steps\n" + "\n".join(notes)
    )
    entitle(figure, "What truthful bidders could gain by other bids", reading)
    return figure


def _panel(axes: Axes, shown: pd.DataFrame, types: pd.DataFrame, column: str) -> None:
    """Draw one column; rows of ``types`` follow the mechanisms in the order of ``shown``."""
    axes.barh(range(len(shown)), shown[column], height=0.62, color=_BAR)
    colours = palette([str(name) for name in types["type"].unique()])
    for name, rows in types.groupby("type", sort=False):
        values = rows[column].head(len(shown))
        style: dict[str, Any] = {
            "color": colours[str(name)],
            "s": 26,
            "lw": 0.6,
            "edgecolor": "white",
        }
        axes.scatter(values, range(len(shown)), label=readable(name), zorder=3, **style)
    axes.axvline(0.0, color=INK, lw=0.8)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.xaxis.set_major_locator(MaxNLocator(4))
    top = max(1.12 * float(types[column].max()), 0.01)
    axes.set_xlim(-0.03 * top, top)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_title(PANELS[column], loc="left")
    axes.set_xlabel("units of value a sale", color=FAINT)
