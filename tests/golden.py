"""Numbers of small runs, to twelve digits: record them before a change, check them after it.

``python -m tests.golden record`` writes ``tests/data/golden.json``. With ``check`` instead of
``record`` it plays the same runs and names every table whose numbers differ. Both take names of
runs, to play only those. A hash covers all numbers of a table, except times, and no column names.
Digits after the twelfth are left out: the last bit of a logarithm depends on the processor.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).parent / "data" / "golden.json"
PHASES = "phases.csv"  # times alone
TIMES = {"generation_seconds", "reward_seconds", "step_seconds"}

SMALL_SEARCH = "candidates=16 {0}.episodes=2 {0}.sweeps=1 {0}.sweep_episodes=4"
SMALL_TREES = "rounds=2 {0}.states=256 {0}.futures=2 {0}.refinements=1 {0}.improvements=1"
SMALL_PORTFOLIO = "training.portfolio.populations=3 training.portfolio.episodes=4"
BASELINES = (
    "+experiment=boxplot +designer@evaluation.baselines.random_card=random_published "
    "+designer@evaluation.baselines.heuristic=heuristic"
)
"""The experiment baselines, with the label that ``random_published`` had when it was recorded."""


def _small(template: str, key: str) -> str:
    return f"{key}." + template.format(key)


RUNS: dict[str, str] = {
    "baselines_strategic": f"-m {BASELINES} population=stage4 seed=0,1,2 tracking=files",
    "baselines_classic": f"-m {BASELINES} population=stage4 market=classic seed=0,1,2 "
    "tracking=files",
    "smoke": "+experiment=smoke",
    "distilled": "+experiment=grpo_mixture tracking=files training.sft.steps=12 "
    "training.sft.examples=256 training.sft.validity_prompts=16 training.grpo.steps=2 "
    "training.grpo.prompts_per_step=8 training.grpo.states=16 training.grpo.futures=2 "
    "model.hidden_size=32 model.heads=2 model.intermediate_size=64 evaluation.episodes=6 "
    f"{SMALL_PORTFOLIO} {_small(SMALL_TREES, 'training.sft.teacher')} "
    + _small(SMALL_SEARCH, "evaluation.baselines.search"),
    "leaderboard": "+experiment=leaderboard designer=random_published "
    "designer.name=random_card workers=2 tracking=files "
    f"evaluation.episodes=8 {SMALL_PORTFOLIO} "
    "evaluation.baselines.evolution.generations=2 evaluation.baselines.evolution.episodes=4 "
    "evaluation.baselines.planner.futures=2 evaluation.baselines.planner.rounds=1 "
    f"{_small(SMALL_TREES, 'evaluation.baselines.distilled')} "
    + _small(SMALL_SEARCH, "evaluation.baselines.best_own"),
    "theory": "+experiment=theory tracking=files seed=0 evaluation.episodes=8",
    "search": "+experiment=search market=classic population=stage3 tracking=files "
    + _small(SMALL_SEARCH, "designer"),
    "sensitivity": "+experiment=sensitivity tracking=files evaluation.episodes=64 "
    + _small(SMALL_SEARCH, "designer"),
    "exploitability": "+experiment=exploitability tracking=files evaluation.episodes=8 "
    f"adversary.candidates=8 adversary.episodes=2 {SMALL_PORTFOLIO}",
    "behaviour": f"+experiment=behaviour tracking=files evaluation.episodes=16 {SMALL_PORTFOLIO}",
    "tour": "+experiment=tour tracking=files evaluation.episodes=16",
    "signal_to_noise": "+experiment=signal_to_noise population=stage0 tracking=files",
    "replicate_published": "+experiment=replicate_published tracking=files",
}
"""Command line of each run, for ``run.py``."""


def run_apart(folder: Path, *words: str) -> None:
    """Run the command line in another process, from a folder."""
    command = [sys.executable, str(ROOT / "run.py"), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr[-3000:]}")


def play(name: str, run: Callable[..., None] = run_apart) -> dict[str, Any]:
    """Play a run in a folder of its own, and return what its tables hold."""
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), *shlex.split(RUNS[name]))
        outputs = Path(folder, "outputs")
        paths = [path for path in sorted(outputs.rglob("*.csv")) if path.name != PHASES]
        tables = {_place(path): pd.read_csv(path) for path in paths}
        for path in sorted(outputs.rglob("metrics.jsonl")):
            records = [json.loads(line) for line in path.read_text().splitlines()]
            tables[_place(path)] = pd.DataFrame(records)
        return {place: _digest(table) for place, table in tables.items()}


def _place(path: Path) -> str:
    """Return the table's name, and the number of its job in a sweep."""
    job = path.parent.name
    return f"{job}/{path.name}" if job.isdigit() else path.name


def _digest(table: pd.DataFrame) -> dict[str, Any]:
    """Return shape, sum and hash of the numbers to twelve digits, whatever their columns' names."""
    numbers = table.drop(columns=[*(TIMES & set(table))]).select_dtypes(["number", "bool"])
    values = numbers.to_numpy(np.float64)
    text = " ".join(f"{value:.12g}" for value in values.flat)
    digest = hashlib.sha256(text.encode()).hexdigest()
    total = float(f"{np.nansum(values):.12g}")
    return {"shape": list(values.shape), "sum": total, "digest": digest}


def main() -> None:
    """Record or check the runs that are named, or all."""
    verb, *names = sys.argv[1:]
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    failed = False
    for name in names or RUNS:
        found = play(name)
        if verb == "record":
            known[name] = found
            RECORD.write_text(json.dumps(known, indent=1) + "\n")
        differing = [each for each in known[name] if known[name][each] != found.get(each)]
        print(f"{name}: {', '.join(differing) or 'same'}", flush=True)
        failed |= bool(differing)
    sys.exit(failed)


if __name__ == "__main__":
    main()
