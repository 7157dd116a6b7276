"""What an unfinished run says that it has completed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from daedalus.design.language.answer_file import AnswerFile
from daedalus.design.language.reply import Reply
from daedalus.launch.progress import progress
from daedalus.runs.folder import RunFolder
from tests.launch.config.composing import composed


def leave_checkpoint(run: RunFolder, phase: str, step: int) -> None:
    folder = run.checkpoints(phase) / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "trainer_state.json").write_text(json.dumps({}))


@pytest.mark.slow
def test_a_run_tells_its_phases_as_it_completes_them(tmp_path: Path) -> None:
    config = composed("+experiment=smoke", "training.sft.steps=7", "training.grpo.steps=9")
    run = RunFolder(tmp_path)
    assert progress(config, tmp_path) == ""
    run.portfolio.touch()
    assert progress(config, tmp_path) == "portfolio searched"
    leave_checkpoint(run, "sft", 4)
    assert progress(config, tmp_path) == "portfolio searched, SFT 4 of 7 steps"
    run.sft_model.mkdir()
    leave_checkpoint(run, "grpo", 2)
    assert progress(config, tmp_path) == "portfolio searched, SFT finished, GRPO 2 of 9 steps"
    run.model.mkdir()
    assert progress(config, tmp_path) == "portfolio searched, SFT finished, GRPO finished"


@pytest.mark.slow
def test_the_model_of_sft_alone_is_its_result(tmp_path: Path) -> None:
    config, run = composed("+experiment=sft_stage3", "training=smoke"), RunFolder(tmp_path)
    leave_checkpoint(run, "sft", 1)
    run.sft_model.mkdir()
    run.model.mkdir()
    assert progress(config, tmp_path) == "SFT finished"


def test_a_study_tells_its_trials(tmp_path: Path) -> None:
    for number, finished in enumerate([True, True, False]):
        (tmp_path / "trials" / str(number)).mkdir(parents=True)
        if finished:
            (tmp_path / "trials" / str(number) / "finished").touch()
    config = composed("+experiment=tune", f"tuning.study={tmp_path}", "tuning.trials=30")
    assert progress(config, tmp_path) == "2 of 30 trials finished"


def test_answers_of_bidders_are_kept(tmp_path: Path) -> None:
    config = composed("+experiment=llm_bidders", "bidder=endpoint", "bidder.model=m")
    assert progress(config, tmp_path) == ""
    path = tmp_path / "answers.jsonl"
    for question in ("a", "b"):
        AnswerFile(path).add("m", {}, [{"role": "user", "content": question}], Reply("a"))
    path.write_text(path.read_text() + '{"key": "a"}\n{"ke')
    assert progress(config, tmp_path) == "2 answers of bidders kept"
