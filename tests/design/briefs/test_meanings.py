"""What sentences may mean does not change if the market has a format that no sentence names."""

from __future__ import annotations

from runpy import run_path

import pytest

from daedalus.design.briefs import meanings
from daedalus.market import mechanism
from daedalus.market.mechanism import AUCTION_TYPES


def test_a_format_without_sentences_has_no_meaning_and_passes_every_ban(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = tuple(each for each in AUCTION_TYPES if each != "vcg")
    monkeypatch.setattr(mechanism, "AUCTION_TYPES", (*AUCTION_TYPES, "all_pay"))
    found = run_path(meanings.__file__)["MEANINGS"]
    assert list(found) == list(meanings.MEANINGS)
    assert found["payment/vcg"].allowed == {"auction_type": ("vcg",)}
    assert found["ban/vcg"].allowed == {"auction_type": (*others, "all_pay")}
    assert meanings.MEANINGS["ban/vcg"].allowed == {"auction_type": others}
