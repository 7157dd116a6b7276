"""README's figures are found again, and what differs is named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from daedalus.lab.studies import signal_to_noise
from tests import reviewer
from tests.launch.config.composing import EXPERIMENTS
from tests.launching import run_here
from tests.readme_claims import CLAIMS, Claim, whether_it_leads
from tests.readme_longer import LONGER

SPEED = "ask: an answer"
"""A figure of the clock, which a slow machine does not find again."""
NO_FIGURE = r"```[\s\S]+?```|Version [\d.]+|Apache\s+2\.0|Python [\d.]+ to [\d.]+|score 0\.12 of"


@pytest.mark.slow
@pytest.mark.parametrize("parts", [("scores", "bidders"), ("brief", "ask", "signal")])
def test_parts_find_the_figures_of_readme(
    parts: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = reviewer.main(parts, tmp_path / "out", run_here)
    shown = table[(table["found"] != "") & (table["claim"] != SPEED)]
    assert list(shown["claim"]) == [each.name for each in claims_of(parts) if each.name != SPEED]
    assert set(shown["verdict"].str.partition(";")[0]) <= {"equal", "within"}, shown
    assert (tmp_path / "out" / "reviewer.csv").is_file()
    if "ask" in parts:
        check_answer(plain(capsys.readouterr().out))


def check_answer(printed: list[str]) -> None:
    """Check what README shows of ask; lines end at an ellipsis where it leaves something out."""
    (shown,) = [each for each in reviewer.README.read_text().split("```\n") if "It reads:" in each]
    for line in filter(None, (line.partition("…")[0] for line in plain(shown))):
        assert any(each.startswith(line) for each in printed), line


def plain(text: str) -> list[str]:
    """Return lines without frames, and with one space between words."""
    return [" ".join(re.sub("[\u2500-\u257f]", " ", line).split()) for line in text.splitlines()]


def claims_of(parts: Iterable[str]) -> list[Claim]:
    return [each for part in parts for each in CLAIMS[part]]


def test_every_part_has_a_claim_that_readme_makes() -> None:
    text = reviewer.README.read_text()
    assert CLAIMS.keys() == {*reviewer.PARTS} - {"replay"}
    assert all(reviewer.expected(each.pattern, text) for each in [*claims_of(CLAIMS), *LONGER])


def test_every_decimal_of_readme_is_a_figure_that_is_found_or_named_as_longer() -> None:
    """Blocks of code, versions, what a picture shows, and others' work are none of ours."""
    text = reviewer.README.read_text().partition("## Related work")[0]
    known = [re.search(each.pattern, text, re.M) for each in [*claims_of(CLAIMS), *LONGER]]
    spans = [each.span(group) for each in known if each for group in range(1, each.re.groups + 1)]
    spans += [each.span() for each in re.finditer(NO_FIGURE, text)]
    decimals = [each.span() for each in re.finditer(r"\d+\.\d+", text)]
    told = [text[slice(*each)] for each in decimals if not any(within(each, of) for of in spans)]
    assert len(decimals) > 90 and told == []


def within(part: tuple[int, int], whole: tuple[int, int]) -> bool:
    return whole[0] <= part[0] and part[1] <= whole[1]


@pytest.mark.parametrize(
    ("found", "tolerance", "verdict"),
    [
        ("0.491 [0.468, 0.517]", 0.0, "equal"),
        ("0.490 [0.467, 0.516]", 0.001, "within"),
        ("0.489 [0.467, 0.516]", 0.001, "differs"),
        ("0.490 [0.467, 0.516]", 0.0, "differs"),
        ("0.491 [0.460, 0.517]", 0.005, "differs"),
        ("nothing", 0.005, "differs"),
    ],
)
def test_numbers_may_differ_by_the_tolerance(found: str, tolerance: float, verdict: str) -> None:
    assert reviewer.verdict("0.491 [0.468, 0.517]", found, tolerance) == verdict


@pytest.mark.slow
def test_a_part_that_fails_is_told_and_the_others_are_played(tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a traceback\nno such market")

    table = reviewer.main(("signal", "scores"), tmp_path / "out", fail)
    verdicts = table.set_index("claim")["verdict"]
    assert verdicts["signal to noise of forks"] == "failed: no such market"
    assert verdicts["stored scores: model"] == "equal; stored scores"


def test_a_figure_that_is_not_found_is_told_and_the_others_are_looked_for(tmp_path: Path) -> None:
    def write_half(_: Path, *words: str) -> None:
        folder = Path(words[-1].partition("=")[2])
        folder.mkdir()
        rows = f"reward,signal_to_noise\n{signal_to_noise.PUBLISHED},0.674\n"
        (folder / "summary.csv").write_text(rows)

    table = reviewer.main(("signal",), tmp_path / "out", write_half).set_index("claim")
    assert table.loc["signal to noise of new markets", "verdict"] == "equal"
    assert table.loc["signal to noise of forks", "verdict"].startswith("failed: ")


def test_a_lead_is_no_lead_if_its_interval_holds_0(tmp_path: Path) -> None:
    for low, found in ((0.0018, "leads"), (-0.0001, "does not lead")):
        row = f"designer,reference,difference_low\ntrained,search,{low}\n"
        (tmp_path / "differences.csv").write_text(row)
        assert whether_it_leads(tmp_path) == found


def test_longer_commands_name_experiments() -> None:
    named = [name for each in LONGER for name in re.findall(r"experiment=(\w+)", each.command)]
    assert named and {*named} <= {*EXPERIMENTS}
