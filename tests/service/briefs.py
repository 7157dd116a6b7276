"""A reader that knows some sentences, and a worker in this process, for services of briefs."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import OTHER
from daedalus.design.briefs.readers import clause, read
from daedalus.market.population_settings import PopulationSettings
from daedalus.service.openenv.briefs_on_offer import BriefsOnOffer, Understand
from experiments.serve import make_briefs
from tests.design.briefs.conftest import SMALL
from tests.launch.config.composing import composed

HUGE = f"The reserve is {' '.join(['hundred'] * 6)}."
KNOWN = {
    "We need money.": "aim/revenue",
    "We want as much revenue as possible.": "aim/revenue",
    "Winners pay their own bid.": "payment/first_price",
    "Use a second-price auction.": "payment/second_price",
    "The reserve is 0.3 at least.": "reserve_least/x",
    "The reserve is high.": "reserve_least/x",
    HUGE: "reserve_least/x",
    "At least half of all must come.": "floor/participation",
    "They are a ring.": "fact/ring",
    "Thank you.": "nothing/all",
}


class KnownSentences:
    """Knows the meaning of some sentences; others it takes for wishes that cannot be set."""

    def clauses(self, sentences: list[str]) -> list[Clause]:
        return [clause(KNOWN.get(each, OTHER), each, 0.9) for each in sentences]


class WorkerHere:
    """Works in this process, where another is not tested: one that searches takes 2 s to start.

    Work and result are copied by pickling, as on their way to a process and back.
    """

    def __init__(self, seconds: float) -> None:
        del seconds

    def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        called, given = pickle.loads(pickle.dumps((work, arguments)))
        return pickle.loads(pickle.dumps(called(*given)))

    def close(self) -> None:
        """Let the work go on: it takes a moment."""


def load() -> Understand:
    return partial(read, KnownSentences(), least_confidence=0.25)


@cache
def bidders() -> dict[str, PopulationSettings]:
    """Return the bidders that briefs may tell of."""
    return dict(make_briefs(composed("+experiment=serve")).populations)


def offer(load: Callable[[], Understand] = load) -> BriefsOnOffer:
    """Return what reads briefs in a service whose reader knows ``KNOWN``, and searches little."""
    return BriefsOnOffer(load, bidders(), budget=SMALL)
