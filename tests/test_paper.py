"""The paper keeps to its journal's form, to its sources and to its PDF."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "paper"
_, HEAD, BODY = (FOLDER / "paper.md").read_text().split("---\n", 2)
SECTIONS = [
    *("Summary", "Statement of need", "State of the field", "Software design"),
    *("Research impact statement", "AI usage disclosure", "Acknowledgements", "References"),
]
NUMBER = re.compile(r"\d+\.\d+")


def test_it_has_the_sections_and_the_length_that_the_journal_asks_for() -> None:
    assert re.findall(r"^# (.*)$", BODY, re.MULTILINE) == SECTIONS
    assert 750 <= len(BODY.split()) <= 1750


def test_authors_and_title_are_those_of_the_citation() -> None:
    head, cited = yaml.safe_load(HEAD), yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert head["title"] == cited["title"]
    assert [each["name"] for each in head["authors"]] == [each["name"] for each in cited["authors"]]


def test_what_is_cited_is_listed_with_an_address_and_the_reverse() -> None:
    entries = re.split(r"^@\w+\{", (FOLDER / "paper.bib").read_text(), flags=re.MULTILINE)[1:]
    cited = re.findall(r"(?<=[\[ ])@(\w+)", BODY)
    assert {*cited} == {each.partition(",")[0] for each in entries}
    assert all(re.search(r"^  (doi|url) = ", each, re.MULTILINE) for each in entries)


def test_findings_stand_in_the_sections_that_they_name() -> None:
    text = (ROOT / "docs" / "results.md").read_text()
    sections = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", text, re.MULTILINE))
    rows = re.findall(r"^\| .* \| (.*\d\.\d.*) \| (.*) \|$", BODY, re.MULTILINE)
    assert len(rows) == 11
    for figure, section in rows:
        assert figure in sections[section], (figure, section)


def test_every_other_number_stands_in_the_results() -> None:
    told = {*NUMBER.findall(BODY)}
    assert told and told <= {*NUMBER.findall((ROOT / "docs" / "results.md").read_text())}
    for words in ("86 of 86", "540 cells"):
        assert words in BODY and words in (ROOT / "docs" / "results.md").read_text()


def test_the_pdf_is_made_from_these_files() -> None:
    """``make paper`` writes the hash of its sources among the keywords."""
    names = ("paper.md", "paper.bib", "paper.css")
    sources = b"".join((FOLDER / each).read_bytes() for each in names)
    pdf = (FOLDER / "paper.pdf").read_bytes()
    assert hashlib.sha256(sources).hexdigest().encode() in pdf, "run `make paper`"
    assert len(pdf) < 420_000


def test_without_pandoc_it_says_what_to_install(tmp_path: Path) -> None:
    make = shutil.which("make")
    assert make
    done = subprocess.run(
        [make, "paper"], cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode and done.stderr.startswith("This needs pandoc and WeasyPrint")
