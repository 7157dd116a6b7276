"""README's figures beside those that this machine finds: ``make reviewer``.

``python -m tests.reviewer`` plays all parts; with names of parts it plays only those. It writes
``reviewer.csv`` in a folder of ``outputs/reviewer``, and ends with 1 if a figure differs.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd

from daedalus.evaluation.readable import as_table
from daedalus.runs.console import make_console
from tests import golden
from tests.readme_claims import CLAIMS, LONGER, Claim

README = golden.ROOT / "README.md"
SENTENCES = "We need money. Nobody may learn who won. Sell nothing below 0.2. Pay within 30 days."
PARTS = {
    "scores": "",
    "bidders": "+experiment=llm_bidders bidder=recorded",
    "brief": f"+experiment=ask \"brief='{SENTENCES}'\"",
    "ask": "+experiment=ask",
    "signal": "+experiment=signal_to_noise market=classic",
    "theory": "+experiment=theory",
    "replay": "",
    "demo": "+experiment=grpo_stage3",
}
"""Commands for ``run.py``: short ones first. ``scores`` and ``replay`` have none."""
REPLAYS = ("baselines_strategic", "search", "leaderboard")
"""Small runs of market, search and evaluation, whose digests are recorded."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
Run = Callable[..., None]


def expected(pattern: str, text: str) -> tuple[str, str]:
    """Return the figure that a pattern finds in README, and where it stands."""
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise LookupError(f"README has no {pattern}")
    return ", ".join(match.groups()), f"README.md:{text.count(chr(10), 0, match.start(1)) + 1}"


def verdict(told: str, found: str, tolerance: float) -> str:
    """Return ``equal``, ``within`` (each number within the tolerance), or ``differs``."""
    if told == found:
        return "equal"
    same_words = _NUMBER.sub("", told) == _NUMBER.sub("", found)
    numbers = [map(float, _NUMBER.findall(each)) for each in (told, found)]
    near = same_words and all(abs(a - b) <= tolerance for a, b in zip(*numbers, strict=True))
    return "within" if near else "differs"


def replay(run: Run) -> dict[str, str]:
    """Play small runs whose digests are recorded, and return a row for them."""
    known = json.loads(golden.RECORD.read_text())
    other = [each for each in REPLAYS if golden.play(each, run) != known[each]]
    row = {"claim": f"replays: {', '.join(REPLAYS)}", "expected": "equal to the last bit"}
    _, row["where"] = expected("(equal to the last bit)", README.read_text())
    found = f"other numbers in {', '.join(other)}" if other else row["expected"]
    return row | {"found": found, "tolerance": "0", "verdict": verdict(row["expected"], found, 0)}


def row_of(claim: Claim, folder: Path) -> dict[str, str]:
    """Return what README claims, and what a run found."""
    told, where = expected(claim.pattern, README.read_text())
    found = claim.found(folder)
    row = {"claim": claim.name, "where": where, "expected": told, "found": found}
    return row | {
        "tolerance": f"{claim.tolerance:g}",
        "verdict": verdict(told, found, claim.tolerance),
    }


def longer() -> Iterator[dict[str, str]]:
    """Yield rows of what takes longer."""
    for each in LONGER:
        told, where = expected(each.pattern, README.read_text())
        shown = f"not shown here: {each.time}: {each.command}"
        yield {"claim": each.name, "where": where, "expected": told, "verdict": shown}


def play(part: str, out: Path, run: Run, say: Callable[[str], object]) -> list[dict[str, str]]:
    """Play a part and return its rows; if its run fails, rows that say so."""
    claims = [each for each in CLAIMS if each.part == part]
    begun = time.monotonic()
    try:
        if words := shlex.split(PARTS[part]):
            say(f"{part}: python run.py {PARTS[part]}")
            run(out, *words, "tracking=files", f"hydra.run.dir={out / part}")
        rows = [replay(run)] if part == "replay" else [row_of(each, out / part) for each in claims]
    except RuntimeError as error:  # of another process
        reason = str(error).strip().splitlines()[-1]
        rows = [{"claim": each.name, "verdict": f"failed: {reason}"} for each in claims]
        rows = rows or [{"claim": part, "verdict": f"failed: {reason}"}]
    say(f"{part}: {time.monotonic() - begun:.0f} s")
    return rows


def main(parts: Sequence[str], out: Path, run: Run = golden.run_apart) -> pd.DataFrame:
    """Play parts, or all of them; write and show a row for each figure.

    Returns:
        ``claim``, ``where``, ``expected``, ``found``, ``tolerance``, ``verdict``.
    """
    if unknown := [each for each in parts if each not in PARTS]:
        sys.exit(f"no part {unknown[0]}; choose from {', '.join(PARTS)}")
    out.mkdir(parents=True)
    console = make_console()
    rows = [row for part in parts or PARTS for row in play(part, out, run, console.print)]
    columns = ["claim", "where", "expected", "found", "tolerance", "verdict"]
    table = pd.DataFrame([*rows, *longer()], columns=columns).fillna("")
    table.to_csv(out / "reviewer.csv", index=False)
    console.print(as_table(table, "README's figures, and those found here"))
    console.print(str(out / "reviewer.csv"), soft_wrap=True)
    return table


if __name__ == "__main__":
    folder = golden.ROOT / "outputs" / "reviewer" / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    verdicts = main(sys.argv[1:], folder)["verdict"]
    sys.exit(int(verdicts.str.startswith(("differs", "failed")).any()))
