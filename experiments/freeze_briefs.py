"""Draw the benchmark's briefs again, measure the ends of their scores, and write their hashes."""

from __future__ import annotations

import gzip
import json
from functools import partial
from pathlib import Path

from tqdm import tqdm

from daedalus.design.briefs.brief import Brief, write_briefs
from daedalus.design.briefs.frozen import digest
from daedalus.design.briefs.generator import (
    TEST_SPLITS,
    TRAINING,
    draw_pairs,
    draw_split,
    training_briefs,
)
from daedalus.design.briefs.search import Measured
from daedalus.design.briefs.splits import PAIRS, SPLITS
from daedalus.design.env import DesignEnv
from daedalus.launch.config.tasks import FreezeBriefs
from daedalus.runs.files import written_whole_folder
from daedalus.runs.workers import share_out

_PAIRS = 150


def main(config: FreezeBriefs, out: Path) -> None:
    """Write a file for each split, and sha256.json, to ``out``/briefs."""
    envs = {
        name: DesignEnv.of(config.market, each.in_market(config.market.name))
        for name, each in config.populations.items()
    }
    drawn = share_out(partial(_drawn, envs), SPLITS, len(SPLITS))
    found = [*tqdm(drawn, "splits", len(SPLITS))]
    with written_whole_folder(out / "briefs") as folder:
        for name, briefs in zip(SPLITS, found, strict=True):
            write_briefs(briefs, folder / f"{name}.jsonl")
        _write_training(folder / f"{TRAINING.name}.jsonl.gz")
        hashes = {path.name: digest(path) for path in sorted(folder.glob("*.jsonl*"))}
        (folder / "sha256.json").write_text(json.dumps(hashes, indent=1) + "\n")


def _write_training(path: Path) -> None:
    rows = (json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in training_briefs())
    path.write_bytes(gzip.compress("".join(rows).encode(), mtime=0))


def _drawn(envs: dict[str, DesignEnv], name: str) -> list[Brief]:
    measure = Measured(envs)
    taken = frozenset(each.text for each in training_briefs())
    if name == PAIRS:
        return [*draw_pairs(_PAIRS, measure, taken)]
    split = next(each for each in TEST_SPLITS if each.name == name)
    return [*draw_split(split, measure, taken)]
