"""The tracker and the report of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from daedalus.evaluation.run_report import Report
from daedalus.launch.config.task_parts import Task
from daedalus.runs.phases import spent
from daedalus.runs.tracking import Tracker


@contextmanager
def tracked(config: Task, out: Path, drawn: bool = True) -> Iterator[tuple[Tracker, Report]]:
    """Open the run's tracker, and a report that writes to the tracker and to ``out``.

    At the end, the report writes the time of the phases, and draws it if ``drawn``. Of several
    processes, only the main one may use the report.
    """
    name = f"{out.parent.name}/{out.name}"
    with Tracker(config.tracking, out, name, asdict(config)) as tracker:
        report = Report(out, tracker)
        yield tracker, report
        phases = pd.DataFrame(spent())
        if len(phases) > 1:
            report.table(phases, "phases")
        if len(phases) > 1 and drawn:
            from daedalus.evaluation.figures import phase_bars  # slow to import

            report.figure(phase_bars(phases), "phases")
