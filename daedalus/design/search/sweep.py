"""Sweeps: one field after the other is set to its best level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from daedalus.design.search.objective import Objective
from daedalus.design.search.space import LEVELS, FieldValues, variants
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms


def sweep(
    mechanism: Mechanism,
    score: Objective,
    sweeps: int,
    episodes: int,
    levels: FieldValues = LEVELS,
) -> Mechanism:
    """Set one field after the other to its best level.

    Args:
        mechanism: Where the search starts.
        score: What is maximised.
        sweeps: Most sweeps over all fields. A sweep that changes nothing ends the search.
        episodes: Episodes behind each score.
        levels: Values of each field that are tried.
    """
    for _ in range(sweeps):
        before = mechanism
        for name in FIELDS:
            candidates = [mechanism, *variants(mechanism, name, levels)]
            scores = score(Mechanisms.stack(candidates), episodes)
            mechanism = candidates[int(np.argmax(scores))]
        if mechanism == before:
            break
    return mechanism


def sweep_each_type(
    pools: Sequence[Mechanisms],
    score: Objective,
    sweeps: int,
    episodes: int,
    levels: FieldValues = LEVELS,
) -> list[Mechanism]:
    """Sweep from the best candidate of each auction type.

    A change of the auction type pays only together with changes of other fields. So one sweep
    starts from each auction type.

    Args:
        pools: Candidates, each pool sorted from best to worst. The first pool that has an auction
            type supplies its start.
        score: What is maximised.
        sweeps: See ``sweep``.
        episodes: See ``sweep``.
        levels: See ``sweep``.

    Returns:
        One mechanism for each auction type among the candidates.
    """
    starts: dict[int, Mechanism] = {}
    for pool in pools:
        types, first = np.unique(pool.auction_type, return_index=True)
        for auction_type, row in zip(types, first, strict=True):
            starts.setdefault(int(auction_type), pool[int(row)])
    return [sweep(starts[each], score, sweeps, episodes, levels) for each in sorted(starts)]
