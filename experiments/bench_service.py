"""Measure the service: a server in one process, its players in another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from tqdm import tqdm

from daedalus.evaluation.figures import FAINT, empty_panels, entitle
from daedalus.launch.config.tasks import BenchService
from daedalus.launch.tracked import tracked
from daedalus.service.load.players import Pace, Player, http_players, play, websocket_players
from daedalus.service.load.service_process import ServiceProcess, Usage
from daedalus.service.load_settings import LoadSettings
from experiments.serve import make_catalogue

Opener = Callable[[str, int], Awaitable[Sequence[Player]]]
OPENERS: dict[str, Opener] = {"HTTP": http_players, "WebSocket": websocket_players}
SHARES = (0.0, 0.5, 0.9, 0.99, 0.999)
"""Shares of steps that are labelled below the panels of the figure."""
PATIENCE = 30.0  # seconds in which a service must release what it held


@dataclass(frozen=True)
class Load:
    """One load: ``rate`` steps a second for all sessions; None is as fast as answered."""

    over: str
    sessions: int
    rate: float | None
    seconds: float


def main(config: BenchService, out: Path) -> None:
    """Put every load on a server, and report latencies and what the server held."""
    planned = loads(config.load)
    with ServiceProcess(config.service, make_catalogue(config), out / "service.log") as server:
        held = [server.usage()]
        seen = []
        for load in tqdm(planned, "load", leave=False, disable=None):
            pace, before, after = asyncio.run(put_on(server, load))
            seen.append((load, pace, 1000 * (after.processor - before.processor)))
            held.append(after)
        last = settled(server, held[0])
    speed = pd.DataFrame([_row(*each) for each in seen])
    usage = pd.DataFrame([{"when": name} | asdict(each) for name, each in _ends(held, last)])
    with tracked(config, out) as (_, report):
        report.table(speed, "speed", f"steps, population {config.population.name}")
        report.table(usage, "usage")
        report.show(usage.drop(columns="processor"), "what the service held, memory in MiB")
        paced = [(load, pace.latencies) for load, pace, _ in seen if load.rate is not None]
        report.figure(latency_curves(paced), "latency")


def loads(settings: LoadSettings) -> list[Load]:
    """Return the loads: HTTP at every rate, WebSockets at one rate, both also at full speed."""
    count, rates = settings.http_sessions, settings.http_rates
    planned = [Load("HTTP", count, rate, settings.seconds) for rate in rates[:-1]]
    planned.append(Load("HTTP", count, rates[-1], settings.longest))
    planned.append(Load("HTTP", count, None, settings.seconds))
    for sessions in settings.websocket_sessions:
        for rate in (settings.websocket_rate, None):
            planned.append(Load("WebSocket", sessions, rate, settings.seconds))
    return planned


async def put_on(server: ServiceProcess, load: Load) -> tuple[Pace, Usage, Usage]:
    """Play, and return the measurements of players, and of the server before and after."""
    players = await OPENERS[load.over](server.address, load.sessions)
    before = server.usage()
    pace = await play(players, load.seconds, load.rate)
    after = server.usage()
    await asyncio.gather(*(player.close() for player in players))
    return pace, before, after


def settled(server: ServiceProcess, first: Usage) -> Usage:
    """Return the usage when all sessions and sockets have closed, or after ``PATIENCE``."""
    until = time.monotonic() + PATIENCE
    while True:
        usage = server.usage()
        over = not usage.http_sessions and not usage.websocket_sessions
        if (over and usage.descriptors <= first.descriptors) or time.monotonic() > until:
            return usage
        time.sleep(0.2)


def latency_curves(loads: Sequence[tuple[Load, Sequence[float]]]) -> Figure:
    """Draw the latencies of steps in order, in seconds, with a panel for each protocol."""
    protocols = sorted({load.over for load, _ in loads})
    figure, axes = empty_panels(1, len(protocols), (5.6 * len(protocols), 5.0))
    for panel, protocol in zip(axes, protocols, strict=True):
        shown = [(load, times) for load, times in loads if load.over == protocol]
        colours = sns.color_palette("crest", len(shown))
        for (load, times), colour in zip(shown, colours, strict=True):
            ordered = 1000.0 * np.sort(times)
            slower = 1.0 - np.arange(len(ordered)) / len(ordered)
            name = f"{load.rate:g} steps/s, sessions: {load.sessions}"
            panel.plot(slower, ordered, color=colour, lw=1.6, label=name)
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


def _row(load: Load, pace: Pace, processor: float) -> dict[str, Any]:
    steps = len(pace.latencies)
    median, p95, p99 = 1000 * np.percentile(pace.latencies, [50, 95, 99])
    return {
        "over": load.over,
        "sessions": load.sessions,
        "offered": "all" if load.rate is None else f"{load.rate:g}/s",
        "steps_per_second": steps / pace.seconds,
        "refused": pace.refused,
        "median_ms": median,
        "p95_ms": p95,
        "p99_ms": p99,
        "processor_ms": processor / steps,
    }


def _ends(held: Sequence[Usage], last: Usage) -> list[tuple[str, Usage]]:
    """Return the first usage, the largest of each resource, and the last."""
    rows = pd.DataFrame([asdict(each) for each in held])
    most: dict[str, Any] = {str(name): rows[name].max() for name in rows}
    return [("before", held[0]), ("peak", Usage(**most)), ("after", last)]
