"""A designer that sets what a function says; a helper for tests, not a test."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from daedalus.market.mechanism import Mechanism, Mechanisms


def proposing(choose: Callable[..., list[Mechanism | None]]) -> SimpleNamespace:
    """Return a designer that proposes ``choose(steps, rng)``, a mechanism for each market.

    Steps are from 0; None is a malformed proposal.
    """
    return SimpleNamespace(
        propose=lambda seen, rng: Mechanisms.stack(choose(seen.round_number, rng))
    )
