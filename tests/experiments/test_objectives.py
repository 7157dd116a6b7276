"""The experiment objectives asks one model for every weighting, and refuses other models."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import PromptSettings
from daedalus.launch.config import compose_config
from daedalus.training.checkpoints import export
from daedalus.training.model import LanguageModel
from experiments import objectives
from tests.launching import play
from tests.training.conftest import PROMPT, env, small

__all__ = ["env", "small"]

SEARCH = "evaluation.baselines.search"
SMALL_RUN = ["+experiment=objectives", "evaluation.episodes=2", "market.episode_length=4"]
SMALL_RUN += [f"{SEARCH}.candidates=8", f"{SEARCH}.sweeps=0", "tracking=files"]


def leave_model(small: LanguageModel, folder: Path, prompt: PromptSettings) -> str:
    export(small, prompt, "", folder / "model", constrained=True)
    (folder / "config.yaml").write_text("seed: 0\n")
    return f"trained={folder}"


@pytest.mark.slow
def test_every_weighting_is_searched_and_asked_for(small: LanguageModel, tmp_path: Path) -> None:
    weights = ["revenue", "welfare", "fairness", "participation"]
    trained = leave_model(small, tmp_path, PromptSettings(weights=weights))
    play(tmp_path / "out", *SMALL_RUN, trained)
    points = pd.read_csv(tmp_path / "out" / "fronts.csv")
    assert points.groupby("designer").size().to_dict() == {"search": 15, "trained": 15}
    shares = pd.read_csv(tmp_path / "out" / "volumes.csv").set_index("designer")["share"]
    assert shares["search"] == 1.0 and 0 < shares["trained"] < 1
    assert (tmp_path / "out" / "figures" / "fronts.png").exists()


@pytest.mark.slow
def test_a_model_of_one_objective_is_refused(small: LanguageModel, tmp_path: Path) -> None:
    trained = leave_model(small, tmp_path, PROMPT)
    config = compose_config(*SMALL_RUN, trained)
    with pytest.raises(CannotRunError, match="not trained with weights of revenue, welfare, fair"):
        objectives.main(config, tmp_path)
