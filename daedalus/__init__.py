"""Daedalus: a laboratory where language models learn to design markets.

The public surface: ``make`` opens a market (``Market``), whose ``step`` takes a ``Mechanism`` and
returns a ``Step``. Each is imported when it is first used.

    market = daedalus.make("stage4", "market.episode_length=20")
    first = market.reset(seed=0)
    step = market.step(daedalus.Mechanism(reserve_price=0.2))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from daedalus.doors.public import Market, Step, make
    from daedalus.market.mechanism import Mechanism

__all__ = ["Market", "Mechanism", "Step", "make"]

_PLACES = {
    "Market": "daedalus.doors.public",
    "Mechanism": "daedalus.market.mechanism",
    "Step": "daedalus.doors.public",
    "make": "daedalus.doors.public",
}


def __getattr__(name: str) -> Any:
    """Import a part of the public surface.

    Raises:
        AttributeError: It has no part of this name.
    """
    if name not in _PLACES:
        raise AttributeError(f"daedalus has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """Return the names of the public surface."""
    return sorted({*globals(), *__all__})
