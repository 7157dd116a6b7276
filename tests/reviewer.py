"""README's main figures beside those that this machine finds: ``make reviewer``.

``python -m tests.reviewer`` plays all parts; with names of parts it plays only those. It writes
``reviewer.csv`` in a folder of ``outputs/reviewer``, and ends with 1 if a figure differs.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pandas as pd

from daedalus.evaluation.readable import as_table
from daedalus.runs.console import make_console
from tests import golden
from tests.readme_claims import CLAIMS, Claim
from tests.readme_longer import LONGER

README = golden.ROOT / "README.md"
SENTENCES = (
    "We need money, but nobody may learn who won. Sell nothing below 0.2; pay within 30 days."
)
PARTS = {
    "scores": "",
    "bidders": "+experiment=llm_bidders bidder=recorded",
    "brief": f"+experiment=ask \"brief='{SENTENCES}'\"",
    "reading": '+experiment=brief_reading "readers=[keywords]" "wordings=[1]"',
    "ask": "+experiment=ask",
    "signal": "+experiment=signal_to_noise market=classic",
    "theory": "+experiment=theory",
    "replay": "",
    "demo": "+experiment=grpo_stage3",
}
"""Commands for ``run.py``: short ones first. ``scores`` and ``replay`` have none."""
STORED = {"scores": "stored scores", "bidders": "a model's stored answers"}
"""Parts that play nothing, or not all, again: what their figures come from."""
FAILURES = (RuntimeError, LookupError, OSError, ValueError)
"""Of a run in another process, and of a table that is absent or other than expected."""
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
    numbers = [map(Decimal, _NUMBER.findall(each)) for each in (told, found)]
    most = Decimal(str(tolerance))  # floats would find 0.491 and 0.490 more than 0.001 apart
    near = same_words and all(abs(a - b) <= most for a, b in zip(*numbers, strict=True))
    return "within" if near else "differs"


def replay(run: Run) -> dict[str, str]:
    """Play small runs whose numbers have recorded digests, and return a row for them."""
    known = json.loads(golden.RECORD.read_text())
    other = [each for each in REPLAYS if golden.play(each, run) != known[each]]
    row = {"claim": f"numbers of {', '.join(REPLAYS)}", "expected": "equal to twelve digits"}
    _, row["where"] = expected("(equal to twelve digits)", README.read_text())
    found = f"other numbers in {', '.join(other)}" if other else row["expected"]
    return row | {"found": found, "tolerance": "0", "verdict": verdict(row["expected"], found, 0)}


def row_of(claim: Claim, part: str, folder: Path) -> dict[str, str]:
    """Return what README claims, and what a run found or why it found nothing."""
    told, where = expected(claim.pattern, README.read_text())
    row = {"claim": claim.name, "where": where, "expected": told}
    try:
        found, remark = claim.found(folder), claim.remark(folder)
    except FAILURES as error:
        return row | {"verdict": f"failed: {last_line(error)}"}
    remarks = [STORED.get(part, ""), remark]
    words = [verdict(told, found, claim.tolerance), *filter(None, remarks)]
    return row | {
        "found": found,
        "tolerance": f"{claim.tolerance:g}",
        "verdict": "; ".join(words),
    }


def last_line(error: Exception) -> str:
    """Return the last line of what an error says, or its name."""
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


def longer() -> Iterator[dict[str, str]]:
    """Yield rows of what takes longer."""
    for each in LONGER:
        told, where = expected(each.pattern, README.read_text())
        shown = f"not shown here: {each.time}: {each.command}"
        yield {"claim": each.name, "where": where, "expected": told, "verdict": shown}


def play(part: str, out: Path, run: Run, say: Callable[[str], object]) -> list[dict[str, str]]:
    """Play a part and return its rows; if its run fails, rows that say so."""
    claims = CLAIMS.get(part, [])
    begun = time.monotonic()
    try:
        if words := shlex.split(PARTS[part]):
            say(f"{part}: python run.py {PARTS[part]}")
            run(out, *words, "tracking=files", f"hydra.run.dir={out / part}")
        played = [row_of(each, part, out / part) for each in claims]
        rows = [replay(run)] if part == "replay" else played
    except FAILURES as error:
        failed = {"verdict": f"failed: {last_line(error)}"}
        rows = [{"claim": each.name} | failed for each in claims] or [{"claim": part} | failed]
    say(f"{part}: {time.monotonic() - begun:.0f} s")
    return rows


def processor() -> str:
    """Return the processor's name, as far as the system tells."""
    told = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)$", told.read_text() if told.exists() else "", re.M)
    return names[0] if names else platform.processor() or platform.machine()


def main(parts: Sequence[str], out: Path, run: Run = golden.run_apart) -> pd.DataFrame:
    """Play parts, or all of them; write a row for each figure after each part, and show all.

    Returns:
        ``claim``, ``where``, ``expected``, ``found``, ``tolerance``, ``verdict``.
    """
    if unknown := [each for each in parts if each not in PARTS]:
        sys.exit(f"no part {unknown[0]}; choose from {', '.join(PARTS)}")
    out.mkdir(parents=True)
    console = make_console()
    console.print(f"processor: {processor()}")
    columns = ["claim", "where", "expected", "found", "tolerance", "verdict"]
    rows: list[dict[str, str]] = []
    for part in parts or PARTS:
        rows += play(part, out, run, console.print)
        table = pd.DataFrame([*rows, *longer()], columns=columns).fillna("")
        table.to_csv(out / "reviewer.csv", index=False)
    console.print(as_table(table, "README's main figures, and those found here"))
    console.print(str(out / "reviewer.csv"), soft_wrap=True)
    return table


if __name__ == "__main__":
    folder = golden.ROOT / "outputs" / "reviewer" / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    verdicts = main(sys.argv[1:], folder)["verdict"]
    sys.exit(int(verdicts.str.startswith(("differs", "failed")).any()))
