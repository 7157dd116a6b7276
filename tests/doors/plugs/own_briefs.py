"""Two briefs of a file, and answers to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.market.mechanism import Mechanism

ROWS: list[dict[str, Any]] = [
    {"id": "own", "brief": "Every winner pays its own bid.", "population": "stage1"}
    | {"allowed": {"auction_type": ["first_price"]}},
    {"id": "money", "brief": "We need money.", "population": "stage1"}
    | {"reward": {"revenue": 1.0}, "scale": {"floor": 0.0, "ceiling": 0.5, "mechanism": {}}},
]
OWN, OTHER = Mechanism("first_price", 0.2), Mechanism("vcg")


def write(folder: Path) -> str:
    """Write the file and return its path."""
    path = folder / "mine.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in ROWS))
    return str(path)


def rewards(asked: Benchmark, mechanism: Mechanism) -> list[float]:
    """Return what a mechanism earns under each of the briefs."""
    return [asked.judge(each, mechanism).reward for each in asked.briefs]
