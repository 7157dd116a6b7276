"""Mechanisms under simulated bidders and under language models: how both bid, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daedalus.checks import CannotRunError
from daedalus.design.env import DesignEnv, Designer, Episodes, Watcher
from daedalus.evaluation.basis import COLUMN
from daedalus.evaluation.episodes import COMPOSITE, compare, episode_means
from daedalus.evaluation.figures import FAINT, INK, empty_panels, entitle, interval_dots, palette
from daedalus.evaluation.readable import readable
from daedalus.evaluation.statistics import mean_estimate
from daedalus.lab.theory.formats import pays_own_bid, require_format
from daedalus.market.interface import types_of_bidders
from daedalus.market.mechanism import CHOICES, Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.strategic import StrategicMarket, StrategicState

SIMULATED, MODEL = "simulated", "language_model"
"""Names of the two populations of bidders."""

LEAST_VALUE = 0.1
"""Least value at which a bid is divided by it."""

PUBLISHED = {
    "first_price": 0.956,
    "second_price": 0.988,
    "third_price": 0.911,
    "all_pay": 0.804,
}
"""Bid over value of GPT-4o with three bidders, values of 10 or more of 99 (arXiv 2507.09083)."""

_DRAWN = {
    SIMULATED: ("simulated bidders", "#009e73", "D"),
    MODEL: ("{name}", "#0072b2", "o"),
}

_GRID = np.round(np.arange(0.0, 1.0001, 0.01), 2)
_RULES = ["auction_type", "reserve"]
_ENDS, _SIDES = ("low", "high"), ("simulated", "model")


@dataclass
class Noting:
    """A designer that notes all bids under its mechanisms.

    It plays each step in advance on forks, round by round. Forks have the same future, so the bids
    are those of the episodes.

    Attributes:
        designer: Who proposes.
        notes: For each step a row for each bidder and round: ``episode``, ``round`` (from 1),
            ``bidder``, ``value`` and ``bid`` of a first unit, ``rival`` (the bid of others that has
            to be beaten; 0 if a unit is free), ``auction_type`` and ``reserve``.
    """

    designer: Designer
    notes: list[pd.DataFrame] = field(default_factory=list)
    _episodes: Episodes | None = None

    def watch(self, episodes: Episodes) -> None:
        """Take the episodes that it plays from now on."""
        self._episodes = episodes
        if isinstance(self.designer, Watcher):
            self.designer.watch(episodes)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the designer's mechanisms.

        Raises:
            CannotRunError: Theory does not know the best bids in a format. No bidder is asked then.
        """
        mechanisms = self.designer.propose(observations, rng)
        for kind in np.unique(mechanisms.auction_type):
            require_format(CHOICES["auction_type"][kind])
        assert self._episodes is not None
        rows = np.flatnonzero(~mechanisms.malformed & ~self._episodes.done)
        if len(rows):
            self.notes += _bids(self._episodes, rows, mechanisms.take(rows))
        return mechanisms


def _bids(
    episodes: Episodes, rows: NDArray[np.int64], mechanisms: Mechanisms
) -> list[pd.DataFrame]:
    """Return the bids of the next step of some episodes, a table for each round."""
    env, state = episodes.env, episodes.state.fork(rows)
    assert isinstance(state, StrategicState)
    fast = StrategicMarket(types_of_bidders(env.market), env.settings.strategic)
    tables = []
    for _ in range(env.settings.rounds_per_step):
        values = fast.draw_values(state, state.rounds)[..., 0]
        env.market.play(state, mechanisms, 1)
        tables.append(_table(rows, state, values, mechanisms))
    return tables


def _table(
    rows: NDArray[np.int64],
    state: StrategicState,
    values: NDArray[np.float64],
    mechanisms: Mechanisms,
) -> pd.DataFrame:
    """Return the bids of the last round, see ``Noting``."""
    batch, seats = values.shape
    names = np.array(CHOICES["auction_type"], object)[mechanisms.auction_type]
    rivals = np.stack([_to_beat(state, seat) for seat in range(seats)], axis=1)
    table = {
        "episode": np.repeat(rows, seats),
        "round": np.repeat(state.rounds, seats),
        "bidder": np.tile(np.arange(seats), batch),
        "value": values.ravel(),
        "bid": state.bids.ravel(),
        "rival": rivals.ravel(),
        "auction_type": np.repeat(names, seats),
        "reserve": np.repeat(mechanisms.reserve_price, seats),
    }
    present = np.arange(seats) < state.sizes[:, None]
    return pd.DataFrame(table)[present.ravel()]


def _to_beat(state: StrategicState, seat: int) -> NDArray[np.float64]:
    """Return the bid that a bidder has to beat in each market for a unit, shape (B,)."""
    others = np.delete(state.bids, seat, axis=1)
    ranked = -np.sort(-others, axis=1)
    ranked = np.pad(ranked, ((0, 0), (0, int(state.units.max()))))
    found: NDArray[np.float64] = np.take_along_axis(ranked, state.units[:, None] - 1, axis=1)[:, 0]
    return found


def require_single_demand(env: DesignEnv) -> None:
    """Check that a bidder's best response is known: each wants one unit.

    Raises:
        CannotRunError: Some want two.
    """
    for name, each in types_of_bidders(env.market).types.items():
        if each.share > 0 and each.demand > 1:
            raise CannotRunError(
                f"population: type {name} wants two units, and the study knows no best response "
                "for it; set its demand to 1, or choose population=optimum_uniform_3"
            )


@dataclass(frozen=True)
class Played:
    """What designers did in one population of bidders.

    Attributes:
        episodes: The frame of ``episode_means``.
        bids: The notes of ``Noting`` with the columns ``designer`` and ``interim_regret``.
    """

    episodes: pd.DataFrame
    bids: pd.DataFrame


def play(env: DesignEnv, designers: Mapping[str, Designer], episodes: int, seed: int) -> Played:
    """Let designers play, and note how all bid. Values depend on the seed alone, whoever bids."""
    noting = {name: Noting(each) for name, each in designers.items()}
    steps = compare(env, noting, episodes, seed)
    notes = [
        pd.concat(each.notes, ignore_index=True).assign(designer=name)
        for name, each in noting.items()
        if each.notes
    ]
    bids = pd.concat(notes, ignore_index=True)
    regrets = [_regrets(group) for _, group in bids.groupby(["designer", *_RULES], sort=False)]
    means = episode_means(steps.fillna({"revenue": 0.0}))  # a malformed answer sells nothing
    return Played(means, bids.assign(interim_regret=pd.concat(regrets)))


def _regrets(group: pd.DataFrame) -> pd.Series[float]:
    """Return interim regrets: how far the bids of one mechanism fall short of the best, in money.

    Payoffs are means over all ``rival`` bids of the group, those of unlike types pooled. The best
    bid is taken from a grid in hundredths.
    """
    first = pays_own_bid(str(group["auction_type"].iloc[0]))
    reserve, rivals = float(group["reserve"].iloc[0]), np.sort(group["rival"].to_numpy())
    values, bids = group["value"].to_numpy(), group["bid"].to_numpy()
    chances, costs = _odds(_GRID, rivals, reserve, first)
    best = (values[:, None] * chances - costs).max(axis=1)
    chance, cost = _odds(bids, rivals, reserve, first)
    own = values * chance - cost
    return pd.Series(np.maximum(best, own) - own, index=group.index)


def _odds(
    bids: NDArray[np.float64], rivals: NDArray[np.float64], reserve: float, first: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the chance that each bid wins a unit, and its mean payment; each of shape (N,)."""
    beaten = np.where(bids >= max(reserve, 1e-9), np.searchsorted(rivals, bids), 0)
    chances = beaten / len(rivals)
    paid = np.concatenate([[0.0], np.cumsum(np.maximum(rivals, reserve))])
    return chances, chances * bids if first else paid[beaten] / len(rivals)


def bidding(played: Mapping[str, Played], confidence: float) -> pd.DataFrame:
    """Summarise how populations bid under each designer.

    Returns:
        A row for each designer and population: ``designer``, ``bidders``; ``bid_over_value`` (mean
        over values of ``LEAST_VALUE`` or more) and ``interim_regret`` (units of value in a round,
        see ``_regrets``) with intervals over episodes, ``entry`` (share of bidders whose bid
        competes) and number of ``bids``.
    """
    rows = []
    for population, each in played.items():
        for name, notes in each.bids.groupby("designer", sort=False):
            high = notes[notes["value"] >= LEAST_VALUE]
            ratios = (high["bid"] / high["value"]).groupby(high["episode"]).mean()
            regrets = notes.groupby("episode")["interim_regret"].mean()
            competes = (notes["bid"] > 0) & (notes["bid"] >= notes["reserve"])
            rows.append(
                {"designer": name, "bidders": population}
                | mean_estimate("bid_over_value", ratios, confidence, "episode")
                | mean_estimate("interim_regret", regrets, confidence, "episode")
                | {"entry": competes.mean(), "bids": len(notes)}
            )
    return pd.DataFrame(rows)


def behaviour_gap(simulated: Played, model: Played, confidence: float) -> pd.DataFrame:
    """Return what each mechanism earns in both populations, and the paired difference.

    Returns:
        A row for each designer: ``designer``; for R (``r``) and ``revenue`` the means in both
        (``_simulated``, ``_model``) with intervals over episodes, and ``_gap``, model less
        simulated, with its.
    """
    rows = []
    for name in simulated.episodes["designer"].unique():
        row: dict[str, object] = {"designer": name}
        pair = [_of(each, name) for each in (simulated, model)]
        for label in ("r", "revenue"):
            numbers = [each[label].to_numpy() for each in pair]
            for word, sample in zip(
                ("simulated", "model", "gap"), [*numbers, numbers[1] - numbers[0]], strict=True
            ):
                row |= mean_estimate(f"{label}_{word}", sample, confidence, "episode")
        rows.append(row)
    return pd.DataFrame(rows)


def _of(played: Played, designer: object) -> pd.DataFrame:
    """Return R and revenue of a designer by episode; 0 where it proposed nothing."""
    table = played.episodes
    table = table[table["designer"] == designer].sort_values("episode")
    return table.assign(r=table[COMPOSITE if COMPOSITE in table else "reward"])


def bids_by_format(table: pd.DataFrame, name: str) -> Figure:
    """Draw bid over value by mechanism, beside published figures.

    Args:
        table: The frame of ``bidding``.
        name: Name of the language model.
    """
    shown = [str(each) for each in table["designer"].unique()]
    shown += [each for each in PUBLISHED if each not in shown]
    figure, (axes,) = empty_panels(1, 1, (7.6, 1.9 + 0.36 * len(shown)))
    for population, (label, colour, marker) in _DRAWN.items():
        rows = table[table["bidders"] == population]
        places = [shown.index(each) for each in rows["designer"]]
        label = label.format(name=name)
        interval_dots(axes, rows, "bid_over_value", places, marker, ms=5, color=colour, label=label)
    places = [shown.index(each) for each in PUBLISHED]
    axes.plot(
        list(PUBLISHED.values()), places, "x", ms=6, color=INK, zorder=5, label="GPT-4o, published"
    )
    axes.set_yticks(range(len(shown)), [readable(each) for each in shown])
    axes.invert_yaxis()
    axes.axvline(1.0, color=FAINT, lw=0.8, ls="--")
    axes.set_xlabel("bid over value, mean where the value is 0.1 or more")
    axes.set_xlim(left=0.0)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    reading = "bars: intervals over episodes · crosses: three bidders, arXiv 2507.09083"
    texts = table[f"bid_over_value{COLUMN}"]
    entitle(figure, "How language models bid", reading, texts)
    return figure


def both_rewards(gaps: pd.DataFrame, name: str) -> Figure:
    """Draw what each mechanism earns under both populations of bidders.

    Args:
        gaps: The frame of ``behaviour_gap``.
        name: Name of the language model.
    """
    figure, panels = empty_panels(1, 2, (10.4, 4.2))
    colours = palette([str(each) for each in gaps["designer"]])
    for panel, (key, label) in zip(panels, {"r": "R", "revenue": "revenue"}.items(), strict=True):
        top = gaps[[f"{key}_simulated_high", f"{key}_model_high"]].max().max() * 1.05
        panel.plot([0, top], [0, top], color=FAINT, lw=0.8, ls="--")
        for number, row in enumerate(gaps.to_dict("records")):
            x, y = row[f"{key}_simulated"], row[f"{key}_model"]
            ends = [
                [[abs(row[f"{key}_{side}_{end}"] - middle)] for end in _ENDS]
                for side, middle in (("simulated", x), ("model", y))
            ]
            designer = str(row["designer"])
            panel.errorbar(
                x, y, xerr=ends[0], yerr=ends[1], fmt="o", ms=max(11 - number, 4), lw=1,
                color=colours[designer], label=readable(designer),
            )  # fmt: skip
        panel.set(xlabel=f"{label} under simulated bidders", ylabel=f"{label} under {name}")
        panel.set(xlim=(-0.04 * top, None), ylim=(-0.04 * top, None))
    panels[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    reading = (
        "a dot for each mechanism; rings: several in one place · bars: intervals over episodes"
    )
    texts = gaps[[f"{key}_{side}{COLUMN}" for key in ("r", "revenue") for side in _SIDES]]
    title = "Mechanisms under two kinds of bidders"
    entitle(figure, title, reading, texts.to_numpy().ravel())
    return figure
