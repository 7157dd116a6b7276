"""The experiment understanding writes its tables and figures, even for a model that errs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.training.checkpoints import export
from daedalus.training.model import LanguageModel
from tests.launching import play
from tests.training.conftest import PROMPT, env, small

__all__ = ["env", "small"]


@pytest.mark.slow
def test_every_population_is_played_and_drawn(small: LanguageModel, tmp_path: Path) -> None:
    for name in ("model", "sft_model"):
        export(small, PROMPT, "", tmp_path / name)
    (tmp_path / "config.yaml").write_text("seed: 0\n")
    out = tmp_path / "understanding"
    own = "evaluation.baselines.best_own"
    small_run = ["+experiment=understanding", f"trained={tmp_path}"]
    small_run += ["populations=stages", "evaluation.episodes=2", "market.episode_length=5"]
    small_run += ["~evaluation.baselines.distilled", f"{own}.candidates=8", f"{own}.sweeps=0"]
    small_run += ["designer.max_new_tokens=4", "evaluation.baselines.sft.max_new_tokens=4"]
    play(out, *small_run, "tracking=files")
    lost = pd.read_csv(out / "losses.csv").set_index("population")
    assert len(lost) == 5 and (lost["before"] + lost["after"] > 0).all()
    changed = pd.read_csv(out / "changes.csv")
    assert not changed["any"].any()  # both models answer nothing valid
    assert set(changed["designer"]) == {"trained"}
    figures = {path.stem for path in (out / "figures").iterdir()}
    assert {"choices", "understanding", "changes"} <= figures
