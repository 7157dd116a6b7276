"""Rules as the frozen briefs have them, which were drawn when the market had three formats."""

from __future__ import annotations

from collections.abc import Mapping

from daedalus.design.briefs.meanings import FORMATS_WITH_SENTENCES
from daedalus.market.allowed import Allowed


def as_frozen(allowed: Mapping[str, Allowed]) -> dict[str, Allowed]:
    """Return rules without the formats that came later: a ban lets them through."""
    formats = allowed.get("auction_type", ())
    assert isinstance(formats, tuple)
    known = tuple(each for each in formats if each in FORMATS_WITH_SENTENCES)
    return {**allowed, "auction_type": known} if formats else dict(allowed)
