"""The jobs of a sweep are those that Hydra starts."""

from __future__ import annotations

from pathlib import Path

from omegaconf import OmegaConf

from daedalus.config.jobs import jobs_of_sweep


def test_each_combination_is_a_job_and_the_last_list_changes_fastest(tmp_path: Path) -> None:
    task = [
        "+experiment=search",
        "population=stage1,stage2",
        "seed=range(2)",
        "resume=true",
        "workers=2",
    ]
    OmegaConf.save({"hydra": {"overrides": {"task": task}}}, tmp_path / "multirun.yaml")
    assert jobs_of_sweep(tmp_path / "multirun.yaml") == [
        {"experiment": "search", "population": population, "seed": seed}
        for population in ("stage1", "stage2")
        for seed in ("0", "1")
    ]
