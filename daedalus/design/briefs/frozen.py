"""The frozen briefs of the benchmark, and the hashes that show that they are unchanged."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path

from daedalus.design.briefs.brief import Brief, BriefError, brief_from, read_briefs
from daedalus.design.briefs.generator import TRAINING
from daedalus.design.briefs.splits import SPLITS
from daedalus.design.briefs.wordings import DATA

HASHES = DATA / "sha256.json"


@cache
def frozen_briefs(name: str) -> tuple[Brief, ...]:
    """Return the briefs of one of ``SPLITS``, or of ``training``, as they were frozen.

    Raises:
        BriefError: There is no such split, or its file has changed since it was frozen.
    """
    if name not in (*SPLITS, TRAINING.name):
        raise BriefError(f"split: {name!r}; choose from {', '.join((*SPLITS, TRAINING.name))}")
    path = DATA / (f"{name}.jsonl.gz" if name == TRAINING.name else f"{name}.jsonl")
    if digest(path) != json.loads(HASHES.read_text())[path.name]:
        raise BriefError(
            f"{path.name} has changed since it was frozen; restore it, or freeze all splits again "
            "by +experiment=freeze_briefs"
        )
    if name != TRAINING.name:
        return tuple(read_briefs(path))
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    return tuple(brief_from(json.loads(line)) for line in lines if line)


def digest(path: Path) -> str:
    """Return the SHA-256 of a split's lines, whatever packs them."""
    raw = path.read_bytes()
    return hashlib.sha256(gzip.decompress(raw) if path.suffix == ".gz" else raw).hexdigest()
