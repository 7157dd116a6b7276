"""The functions that files in conf/ call: the folder of a run, and the run of a seed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.launch.config.compose import register
from daedalus.launch.config.jobs import Launch
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.resolvers import run_directory
from tests.launch.config.composing import composed, leave_run


def test_resume_finds_a_sweep_by_its_table_of_jobs(tmp_path: Path) -> None:
    for name, file in {"1": "jobs.csv", "2": "multirun.yaml"}.items():  # 2 began no job
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    assert run_directory(str(tmp_path / "3"), resume=True) == str(tmp_path / "1")


def test_resume_finds_the_newest_run_that_was_started_and_not_finished(tmp_path: Path) -> None:
    for name, files in {
        "2026-01-01": ["config.yaml", "finished"],
        "2026-01-02": ["config.yaml"],
        "2026-01-03": ["config.yaml", "finished"],
        "2026-01-04": [],  # refused before it began
    }.items():
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).touch()
    fresh = str(tmp_path / "2026-01-05")
    assert run_directory(fresh, resume=True) == str(tmp_path / "2026-01-02")
    assert run_directory(fresh, resume=False) == fresh
    (tmp_path / "2026-01-02" / "finished").touch()
    assert run_directory(fresh, resume=True) == str(tmp_path / "2026-01-03")


def test_resume_goes_on_in_the_sweep_of_the_same_words(tmp_path: Path) -> None:
    for name, words in {
        "1": ["seed=0,1", "workers=2"],
        "2": ["seed=0,1", "market=classic"],
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "jobs.csv").touch()
        OmegaConf.save({"hydra": {"overrides": {"task": words}}}, tmp_path / name / "multirun.yaml")
    fresh = str(tmp_path / "3")
    assert run_directory(fresh, True, ["resume=true", "seed=0,1"]) == str(tmp_path / "1")
    assert run_directory(fresh, True, ["seed=0,1,2", "resume=true"]) == str(tmp_path / "2")


def test_nothing_to_resume_is_refused(tmp_path: Path) -> None:
    fresh = str(tmp_path / "smoke" / "2026-01-05")
    with pytest.raises(ConfigError, match="smoke has no run to resume; leave it out"):
        run_directory(fresh, resume=True)
    assert not (tmp_path / "smoke").exists()


def run_of_seed(folder: Path, seed: int) -> Path:
    register()
    return Path(OmegaConf.create({"seed": seed, "run": f"${{run_of_seed:{folder}}}"}).run)


@pytest.mark.slow
def test_each_seed_takes_the_model_trained_on_it(tmp_path: Path) -> None:
    models = {seed: leave_run(tmp_path / str(job), seed) for job, seed in enumerate((7, 3))}
    assert all(run_of_seed(tmp_path, seed) / "model" == models[seed] for seed in models)
    follows = f"designer.checkpoint=${{run_of_seed:{tmp_path}}}/model"
    config = composed("+experiment=leaderboard", "designer=language_model", follows, "seed=3")
    assert config.designer.checkpoint == str(models[3])


def test_a_seed_is_found_in_any_folder_of_a_sweep(tmp_path: Path) -> None:
    for number, seed in enumerate((7, 3)):
        place = f"lr=[{number}]/job"
        leave_run(tmp_path / place, seed)
        Launch([f"seed={seed}"], number=number, place=place).write(tmp_path / place)
    assert run_of_seed(tmp_path, 3) == tmp_path / "lr=[1]" / "job"


def test_a_run_that_is_named_itself_is_no_other_seed_of_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_run(tmp_path, 7)
    monkeypatch.setattr(HydraConfig.instance(), "cfg", None)  # a test before may have left a sweep
    assert run_of_seed(tmp_path, 3) == tmp_path
    sweep = OmegaConf.create({"hydra": {"mode": RunMode.MULTIRUN}})
    monkeypatch.setattr(HydraConfig.instance(), "cfg", sweep)
    assert run_of_seed(tmp_path, 7) == tmp_path
    with pytest.raises(OmegaConfBaseException, match="one run, of seed 7"):
        run_of_seed(tmp_path, 3)


def test_a_seed_without_a_run_of_its_own_is_refused(tmp_path: Path) -> None:
    for job, seed in enumerate((0, 1, 1)):
        leave_run(tmp_path / str(job), seed)
    for seed in (1, 2):
        refusal = f"runs with seed {seed}; its runs have seeds"
        with pytest.raises(OmegaConfBaseException, match=refusal):
            run_of_seed(tmp_path, seed)
