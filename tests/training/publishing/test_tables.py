"""The tables of a card say what the files of the run say."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

from daedalus.training.publishing import tables
from daedalus.training.publishing.evidence import Evidence
from tests.odd_names import ODD_NAMES
from tests.training.publishing.conftest import with_teacher

pytestmark = pytest.mark.slow  # the run behind the tables is trained


def test_a_number_without_an_interval_stands_alone() -> None:
    row = {"iqm": 0.4, "iqm_low": 0.3, "iqm_high": 0.5}
    assert tables.interval(row, "iqm") == "0.400 [0.300, 0.500]"
    assert tables.interval(row | {"iqm_low": np.nan, "iqm_high": np.nan}, "iqm") == "0.400"


def episodes(**welfare: list[float]) -> pd.DataFrame:
    """Return a table of episodes in which only welfare differs between designers."""
    rows = [
        {"designer": name, "episode": number, "welfare": value, "fairness": 0.5,
         "participation": 0.5, "stability": 0.5, "valid": 1.0}
        for name, values in welfare.items()
        for number, value in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_table_has_a_row_for_each_row() -> None:
    assert tables.table(["a", "b"], [(1, "x")]) == "| a | b |\n|---|---|\n| 1 | x |"
    assert tables.table(["a"], []) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.43731, "0.437"), (0.0, "0.000"), (2e-4, "0.0002"), (1234.5, "1.23e+03"), (300, "300"),
     ("cosine", "cosine"), (np.nan, "-"), (True, "True")],
)  # fmt: skip
def test_numbers_are_short(value: object, text: str) -> None:
    assert tables.number(value) == text


def test_scores_are_those_of_the_summary(evidence: Evidence) -> None:
    lines = tables.scores(evidence).splitlines()
    assert len(lines) == 2 + 3 and lines[-1].startswith("| **trained** |")
    row = evidence.summary.iloc[0]
    assert f"| {row['mean']:.3f} [{row['mean_low']:.3f}, {row['mean_high']:.3f}] few |" in lines[2]
    assert lines[2].endswith("| 100.0% |")


def test_leads_are_those_of_the_trained_model(evidence: Evidence) -> None:
    lines = tables.leads(evidence).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == ["| random", "| informed_greedy"]
    row = evidence.differences.set_index(["designer", "reference"]).loc["trained", "random"]
    assert f"{row['difference']:.3f} [" in lines[0]


def leading(evidence: Evidence, lead: float) -> Evidence:
    """Return the evidence of a run in which each baseline has this lead in R, give or take 0.1."""
    bounds = {"difference": -lead, "difference_low": -lead - 0.1, "difference_high": -lead + 0.1}
    return replace(evidence, differences=evidence.differences.assign(**bounds))


def test_a_baseline_with_a_higher_reward_is_named(evidence: Evidence) -> None:
    level = replace(leading(evidence, 0.3), episodes=episodes(random=[0.5] * 4, trained=[0.5] * 4))
    first, second = tables.losses(level).splitlines()[2:]
    assert first == "| R | random | 0.300 [0.200, 0.400] few | yes |"
    assert "informed_greedy" in second
    doubtful = tables.losses(replace(level, differences=leading(evidence, 0.05).differences))
    assert "| R | random | 0.050 [-0.050, 0.150] few | no |" in doubtful


def test_a_baseline_with_a_higher_factor_is_named(evidence: Evidence) -> None:
    better, worse = [0.5, 0.6, 0.7, 0.8], [0.4, 0.45, 0.6, 0.65]
    shown = episodes(strong=better, weak=[0.1] * 4, trained=worse)
    (line,) = tables.losses(replace(leading(evidence, -0.3), episodes=shown)).splitlines()[2:]
    assert line.startswith("| welfare | strong | 0.125 [") and line.endswith("| yes |")
    shown = episodes(strong=[0.9, 0.1, 0.8, 0.2], trained=[0.1, 0.8, 0.2, 0.8])
    (line,) = tables.losses(replace(leading(evidence, -0.3), episodes=shown)).splitlines()[2:]
    assert line.startswith("| welfare | strong | 0.025 [") and line.endswith("| no |")


def test_a_model_that_loses_nowhere_has_no_table(evidence: Evidence) -> None:
    shown = episodes(strong=[0.1] * 4, trained=[0.2] * 4)
    assert tables.losses(replace(leading(evidence, -0.3), episodes=shown)) == ""


def test_markets_that_were_never_played_are_left_out(evidence: Evidence) -> None:
    """The model of this run writes no mechanism, so its markets have no welfare."""
    assert evidence.episodes.set_index("designer")["welfare"]["trained"].isna().all()
    lines = tables.losses(evidence).splitlines()[2:]
    assert {line.split(" | ")[0] for line in lines} == {"| R", "| valid"}


def test_the_recipe_has_the_settings_of_both_phases(evidence: Evidence) -> None:
    recipe = tables.recipe(evidence)
    assert "| `sft.steps` | 3 |" in recipe and "| `grpo.futures` | 4 |" in recipe
    assert "| `reward.composite` | 1.000 |" in recipe
    assert "save_every" not in recipe and "None" not in recipe
    assert "sft.teacher" not in recipe and "sft.corrections" not in recipe


def test_the_recipe_has_the_teacher_and_its_corrections(evidence: Evidence) -> None:
    recipe = tables.recipe(with_teacher(evidence))
    assert "| `sft.teacher.refinements` | 7 |" in recipe
    assert "| `sft.corrections.rounds` | 2 |\n| `sft.corrections.examples` | 48000 |" in recipe
    other = tables.recipe(with_teacher(evidence, "/home/me/data.npz"))
    assert "/home/me" not in other and "sft.teacher" not in other  # nothing read its budget


def test_signals_are_means_of_tenths(evidence: Evidence) -> None:
    history = pd.DataFrame({"step": range(1, 21), "entropy": np.linspace(1.0, 0.05, 20)})
    shown = tables.signals(replace(evidence, history=history))
    assert shown.splitlines()[2:] == [
        "| policy entropy, nats per token or choice | 0.975 | 0.075 |"
    ]
    assert tables.signals(replace(evidence, history=pd.DataFrame())) == ""


def test_the_machine_is_that_of_the_last_launch(evidence: Evidence) -> None:
    (launch,) = evidence.launches
    shown = tables.machine(evidence)
    assert launch["python"] in shown and f"torch {launch['packages']['torch']}" in shown
    assert "| GPU | none |" in shown and "s for each step" in shown
    rented = launch | {"gpus": ["NVIDIA L4"], "seconds": 5400.0}
    rented |= {"commit": "abc", "uncommitted_changes": True}
    shown = tables.machine(replace(evidence, launches=[rented]))
    assert "| GPU | NVIDIA L4 |" in shown and "| 90 minutes |" in shown
    assert "abc with uncommitted changes" in shown
    unknown = {"abc": ", perhaps with uncommitted changes |", None: "| not recorded |"}
    for commit, expected in unknown.items():
        record = launch | {"commit": commit, "uncommitted_changes": None}
        assert expected in tables.machine(replace(evidence, launches=[record]))


def test_what_older_runs_did_not_record_is_said(evidence: Evidence) -> None:
    new = ("gpus", "cores", "seconds", "started")
    old = {key: value for key, value in evidence.launches[0].items() if key not in new}
    shown = tables.machine(replace(evidence, launches=[old], history=pd.DataFrame()))
    assert shown.count("not recorded") == 3 and "| no steps |" in shown
    shown = tables.machine(replace(evidence, launches=[old, old | {"seconds": 60.0}]))
    assert "more than 60 s: 1 launches were interrupted" in shown


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_are_read_in_a_card_as_they_are(name: str) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    page = parser.render(tables.table(["one", "two"], [(tables.plain(name), tables.code(name))]))
    plain, code = re.findall("<td>(.*)</td>", page)
    assert unescape(plain) == " ".join(name.split())
    assert unescape(code) == f"<code>{' '.join(name.split())}</code>"
