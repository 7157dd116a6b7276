"""Logs of bids written as files, and what is made of them; helpers for tests, not a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.bids.estimator import Estimator
from daedalus.lab.bids.log import BidLog, load_bids
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.verdict import MULTIPLES
from tests.lab.bids.simulated import best_multiple

Row = Sequence[object]


def sales_of(auctions: int, bidders: int, seed: int) -> list[tuple[str, float]]:
    """Return first-price bids of values from 0 to 100, whose best reserve is about 50."""
    rng = np.random.default_rng(seed)
    return [
        (str(auction), round(rng.random() * (bidders - 1) / bidders * 100 + 0.01, 2))
        for auction in range(auctions)
        for _ in range(bidders)
    ]


def text_of(rows: Iterable[Row], header: str = "auction,bid", separator: str = ",") -> str:
    """Return a table as text; cells are written as they are."""
    lines = [header, *(separator.join(map(str, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def read(folder: Path, text: str | bytes, name: str = "sales.csv", **settings: object) -> BidLog:
    """Return the log in a file of this text."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_bids(str(path), BidLogSettings(**settings))  # type: ignore[arg-type]


def refusal(folder: Path, text: str | bytes, **settings: object) -> str:
    """Return why such a file is refused, in one sentence."""
    with pytest.raises(CannotRunError) as caught:
        Estimator.of(read(folder, text, **settings), BidLogSettings(**settings))  # type: ignore[arg-type]
    said = str(caught.value)
    assert said.startswith("bids: ") and "\n" not in said and not said.endswith(".")
    return said


def estimator_of(folder: Path, text: str | bytes, **settings: object) -> Estimator:
    """Return the estimator of the log in such a file."""
    return Estimator.of(read(folder, text, **settings), BidLogSettings(**settings))  # type: ignore[arg-type]


def best_of(folder: Path, text: str | bytes, **settings: object) -> float:
    """Return the best reserve by such a file: money, or a multiple of its base."""
    estimator = estimator_of(folder, text, **settings)
    return best_multiple(estimator.estimate(), MULTIPLES) * estimator.unit


def notes_of(log: BidLog, kind: str) -> str:
    """Return the notes of a kind as one text."""
    return " ".join(note.text for note in log.notes if note.kind == kind)
