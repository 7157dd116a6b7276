"""The check of a GPU, in miniature on a CPU."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.launch.config.compose import compose_config
from daedalus.training.hardware import has_gpu
from experiments.gpu_check import main
from tests.launching import play

MINIATURE = """
+experiment=gpu_check model=tiny_qlora training=smoke training.sft.steps=3 training.sft.examples=64
evaluation.episodes=2 evaluation.resamples=100 model.hidden_size=32 model.layers=2 model.heads=2
model.intermediate_size=64 training.grpo.max_completion_tokens=32
""".split()


@pytest.mark.slow
def test_a_miniature_leaves_the_costs_of_every_part(tmp_path: Path) -> None:
    play(tmp_path, *MINIATURE)
    costs = pd.read_csv(tmp_path / "costs.csv").set_index("quantity")["value"]
    parts = costs[["generation_seconds", "reward_seconds", "training_seconds"]]
    assert (parts > 0).all() and parts.sum() == pytest.approx(costs["step_seconds"])
    assert costs["tokens_per_second"] > 0 and costs["grpo_peak_gib"] >= costs["sft_peak_gib"] > 0.1
    assert (tmp_path / "base" / "model" / "model.safetensors").exists()
    assert set(pd.read_csv(tmp_path / "summary.csv")["designer"]) >= {"trained", "informed_greedy"}


@pytest.mark.skipif(has_gpu(), reason="tested elsewhere: there is a GPU here")
def test_without_a_gpu_it_offers_the_miniature(tmp_path: Path) -> None:
    config = compose_config("+experiment=gpu_check", "model.tokenizer=any")
    with pytest.raises(CannotRunError, match=r"no GPU was found, .*model=tiny_qlora"):
        main(config, tmp_path)
    assert not list(tmp_path.iterdir())
