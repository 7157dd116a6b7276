"""The descriptions of the published data: they fit the files, and mlcroissant reads both."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
FILES = [ROOT / folder / "croissant.json" for folder in (
    "docs/data", "daedalus/design/briefs/data", "daedalus/design/briefs/data/sellers", "tests/data"
)]  # fmt: skip
SCORES = ("benchmark", "benchmark_2", "best_fixed_wide")
BRIEFS = [each.stem for each in sorted(FILES[1].parent.glob("*.jsonl"))]
_ROWS = {"benchmark": 980, "benchmark_2": 980, "best_fixed_wide": 196, "classic_parity": 90}
_ROWS |= {"near_dev": 150, "near_test": 159, "near_test_2": 158}
_ROWS |= {"plain_dev": 172, "plain_test": 172, "plain_test_2": 172}
_ROWS |= {"orders_dev": 180, "orders_test": 180, "orders_test_2": 180}
_ROWS |= {"typed_dev": 220, "typed_test": 220, "messages_test": 160, "messages_test_2": 40}
reads_croissant = pytest.mark.skipif(
    find_spec("mlcroissant") is None, reason="mlcroissant is not installed; make setup installs it"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_files_are_those_that_were_described(path: Path) -> None:
    described = json.loads(path.read_text())["distribution"]
    for each in described:
        raw = (path.parent / each["contentUrl"]).read_bytes()
        assert hashlib.sha256(raw).hexdigest() == each["sha256"], "python -m deploy.croissant"
    assert described


def test_the_briefs_that_are_described_are_all_that_test() -> None:
    folder = FILES[1].parent
    told = {each["name"] for each in json.loads(FILES[1].read_text())["distribution"]}
    frozen = {*json.loads((folder / "sha256.json").read_text())}
    assert told == frozen - {"training.jsonl.gz"}


def test_the_card_names_the_frozen_briefs_and_their_hashes() -> None:
    frozen = json.loads((FILES[1].parent / "sha256.json").read_text())
    del frozen["training.jsonl.gz"]
    for each in FILES[2].parent.glob("*test*.jsonl"):
        frozen[f"sellers/{each.name}"] = hashlib.sha256(each.read_bytes()).hexdigest()
    shown = re.findall(
        r"^\| `(\S+\.jsonl)` \| `(\w+)` \|$", (ROOT / "docs/card.md").read_text(), re.M
    )
    assert dict(shown) == {name: digest[:16] for name, digest in frozen.items()}


def test_the_card_tells_how_far_the_stored_scores_go() -> None:
    files = [FILES[0].parent / f"{name}.csv" for name in SCORES]
    scores = pd.concat(pd.read_csv(each) for each in files)["normalised"]
    told = f"go from {scores.min():.2f} to {scores.max():.2f}".replace("-", "\N{MINUS SIGN}")
    assert told in (ROOT / "docs" / "card.md").read_text()


def test_the_card_s_rows_of_the_demo_are_readme_s() -> None:
    readme, card = ((ROOT / name).read_text() for name in ("README.md", "docs/card.md"))
    table = readme.partition("| designer | mean R |")[2].partition("\n\n")[0]
    shown = re.findall(r"^\| (?:`stage3`, mean R|the same, SmolLM2).*$", card, re.M)
    mean = re.compile(r"0\.\d{3} \[.*?\]")
    assert sorted(mean.findall(table)) == sorted(mean.findall("".join(shown)))
    assert len(shown) == 2


@pytest.mark.slow
@reads_croissant
def test_the_command_writes_the_descriptions_that_are_here() -> None:
    from deploy.croissant import PUBLISHED

    assert [each.path for each in PUBLISHED] == FILES
    for each in PUBLISHED:
        assert each.describe() == json.loads(each.path.read_text())


@pytest.mark.slow
@reads_croissant
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_mlcroissant_finds_no_error_and_reads_every_row(path: Path) -> None:
    import mlcroissant

    found = mlcroissant.Dataset(jsonld=str(path))
    issues = found.metadata.ctx.issues
    assert not issues.errors
    assert all("datePublished" in each for each in issues.warnings)  # not before a release
    for each in found.metadata.record_sets:
        rows = pd.DataFrame(found.records(each.id))
        sellers = 60 if "bounds" in each.id else 80 if each.id.startswith("short") else 70
        usual = sellers if path.parent.name == "sellers" else 300
        assert len(rows) == _ROWS.get(each.id, usual)
        parts = [name for name in rows if "." in name]  # of briefs: null where one says nothing
        assert rows.drop(columns=parts).notna().all(axis=None)


@reads_croissant
@pytest.mark.parametrize("name", SCORES)
def test_mlcroissant_reads_the_scores_as_they_are(name: str) -> None:
    import mlcroissant

    rows: Any = mlcroissant.Dataset(jsonld=str(FILES[0])).records(name)
    read = pd.DataFrame(rows).rename(columns=lambda name: name.partition("/")[2])
    read[["designer", "population"]] = read[["designer", "population"]].map(bytes.decode)
    pd.testing.assert_frame_equal(read, pd.read_csv(ROOT / "docs" / "data" / f"{name}.csv"))


@pytest.mark.slow
@reads_croissant
@pytest.mark.parametrize("name", BRIEFS)
def test_mlcroissant_reads_what_each_brief_means(name: str) -> None:
    import mlcroissant

    rows: Any = mlcroissant.Dataset(jsonld=str(FILES[1])).records(name)
    lines = (FILES[1].parent / f"{name}.jsonl").read_text().splitlines()
    for row, line in zip(rows, lines, strict=True):
        told = json.loads(line)
        for field, each in told.get("allowed", {}).items():
            if isinstance(each, list) and isinstance(each[0], float):  # one amount is a range, too
                told["allowed"][field] = dict.fromkeys(("min", "max"), *each)
        assert flat(told) == {
            key.partition("/")[2]: pytest.approx(worded(each))
            for key, each in row.items()
            if each is not None
        }


def flat(told: dict[str, Any], start: str = "") -> dict[str, Any]:
    """Return what a line of JSON has, by the path to it."""
    found = {}
    for key, each in told.items():
        parts = flat(each, f"{start}{key}.") if isinstance(each, dict) else {f"{start}{key}": each}
        found |= parts
    return found


def worded(read: Any) -> Any:
    """Return what mlcroissant read, with words for bytes."""
    if isinstance(read, list):
        return [worded(each) for each in read]
    return read.decode() if isinstance(read, bytes) else read
