"""How a run was launched, as it records it, and the jobs of a sweep."""

from __future__ import annotations

from pathlib import Path

from daedalus.launch.config.jobs import Launch, folder_of_job, jobs_of_sweep, read_launch


def record(sweep: Path, place: str, *overrides: str, number: int = 0) -> None:
    (sweep / place).mkdir(parents=True)
    Launch(list(overrides), number=number, place=place).write(sweep / place)


def test_settings_are_plain_and_leave_out_how_a_run_was_launched() -> None:
    overrides = ["+experiment=search", "designer.name='a, \\'b\\''", "x=[1,2]", "~a.b", "y=null"]
    settings = Launch([*overrides, "resume=true", "workers=2"]).settings()
    assert settings == {
        "experiment": "search", "designer.name": "a, 'b'", "x": "[1,2]", "a.b": "", "y": "null",
    }  # fmt: skip


def test_jobs_come_in_the_order_in_which_they_were_launched(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        record(tmp_path, f"job_{number}/[x]", f"seed={number}", number=number)
    assert [each.overrides for each in jobs_of_sweep(tmp_path).values()] == [
        ["seed=1"], ["seed=9"], ["seed=10"],
    ]  # fmt: skip
    (run, job), *_ = jobs_of_sweep(tmp_path).items()
    assert job.sweep(run.path) == tmp_path and read_launch(run.path) == job


def test_a_job_goes_on_where_one_with_its_settings_was(tmp_path: Path) -> None:
    for number, seed in enumerate((4, 0, 0)):
        record(tmp_path, str(number), f"seed={seed}", "a=1", number=number)

    def place(number: int, *overrides: str) -> str:
        return folder_of_job(tmp_path, Launch(list(overrides), number=number))

    assert place(3, "a=1", "seed=4", "resume=true") == "0"
    assert [place(1, "seed=0", "a=1"), place(2, "seed=0", "a=1")] == ["1", "2"]
    assert place(0, "seed=0", "a=1") == "1"
    assert place(5, "seed=7", "a=1") == "5"
    assert place(0, "seed=7", "a=1") == "0_2"  # 0 is another's
