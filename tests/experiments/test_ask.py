"""Asking the designer of the package: a prompt, a mechanism, and what it earns beside others."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.evaluation.scale import scale_of
from daedalus.launch.from_config import make_env, search_command
from daedalus.market.mechanism import FIELDS
from daedalus.runs.folder import RunFolder
from daedalus.runs.pretrained import read_pretrained
from experiments import ask
from tests.launch.config.composing import composed

SHORT = ["evaluation.episodes=3", "evaluation.resamples=100"]


@pytest.mark.slow
def test_it_shows_what_the_designer_sets_and_earns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = composed("+experiment=ask", "population=stage4", "seed=5", *SHORT)
    ask.main(config, tmp_path)
    told = capsys.readouterr().out
    assert told.startswith(f"designer: {read_pretrained()}\n\nstage4, seed 5. It reads:\nround_")
    assert all(f" {name} " in told for name in FIELDS)
    assert "averages: {welfare:" in told and "mean R over 3 episodes" in told
    summary = pd.read_csv(tmp_path / "summary.csv", index_col="designer")
    assert list(summary.index) == ["random", "informed_greedy", "best_own", "trained"]
    assert summary.valid["trained"] == 1 and f" {summary['mean']['trained']:.3f} [" in told
    first = pd.read_csv(tmp_path / "steps.csv").query("designer == 'trained'").iloc[0]
    scale = scale_of(make_env(config))
    assert first.auction_type in told and scale is not None


@pytest.mark.slow
def test_asked_for_another_reward_it_says_so_and_a_search_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["population=optimum_uniform_3", "reward=revenue"]
    ask.main(composed("+experiment=ask", *asked, *SHORT), tmp_path)
    told = capsys.readouterr().out
    assert "it was trained for R with the bidders of world, " in told
    assert "and not for revenue with those of optimum_uniform_3\n" in told
    command = "run.py +experiment=search population=optimum_uniform_3"
    assert command in told and "best own" in told
    means = pd.read_csv(tmp_path / "summary.csv", index_col="designer")["mean"]
    assert list(means.index) == ["random", "informed_greedy", "best_own", "trained"]
    assert means["best_own"] > means["informed_greedy"] > means["trained"]


def test_the_command_of_the_search_repeats_what_was_asked(tmp_path: Path) -> None:
    config = composed("+experiment=ask", "reward=revenue")
    overrides = ["+experiment=ask", "reward=revenue", "market.episode_length=4", "tracking=files"]
    RunFolder(tmp_path).launch.write_text(json.dumps({"overrides": overrides}))
    wanted = "+experiment=search population=world reward=revenue market.episode_length=4"
    command = search_command(ask.asked_changes(config, tmp_path))
    assert command.endswith(f" {wanted}")
    searched = composed(*wanted.split())
    assert searched.reward == config.reward and searched.population == config.population


@pytest.mark.parametrize("change", ["designer.checkpoint=RUN", "evaluation.episodes=500"])
def test_beside_a_brief_what_nobody_reads_is_refused(change: str, tmp_path: Path) -> None:
    config = composed("+experiment=ask", "brief='We need money.'")
    overrides = ["+experiment=ask", "brief='We need money.'", change]
    RunFolder(tmp_path).launch.write_text(json.dumps({"overrides": overrides}))
    with pytest.raises(CannotRunError, match=f"{change}: with a brief a search sets"):
        ask.main(config, tmp_path)
