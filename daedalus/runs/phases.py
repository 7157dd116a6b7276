"""The time of a run by phase: search, lessons, SFT, GRPO, evaluation, and the rest."""

from __future__ import annotations

import csv
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple, TypeVar

from daedalus.runs.files import written_whole

Item = TypeVar("Item")
Result = TypeVar("Result")

SEARCH, LESSONS, SFT, GRPO, EVALUATION = "search", "lessons", "SFT", "GRPO", "evaluation"
PPO, OTHER = "PPO", "other"
PHASES = (SEARCH, LESSONS, SFT, GRPO, PPO, EVALUATION, OTHER)
"""Search for mechanisms, making of training examples, training, evaluation, and all else."""


class Spent(NamedTuple):
    """The time of a phase.

    Attributes:
        phase: Its name.
        wall_seconds: Seconds on the clock.
        cpu_seconds: Seconds of all threads of this process, and of those that it shares work with.
    """

    phase: str
    wall_seconds: float
    cpu_seconds: float


class PhaseClock:
    """Adds up the seconds of each phase, over all launches of a run.

    It writes them after each phase. So of a run that was killed only the unfinished phase is lost.

    Args:
        path: The table, CSV, with the columns of ``Spent``; None writes none.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._spent: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        if path is not None and path.exists():
            with path.open(newline="") as file:
                for name, wall, cpu in list(csv.reader(file))[1:]:
                    self._spent[name] = float(wall), float(cpu)
        self._entered = [OTHER]
        self._last = _now()

    def enter(self, name: str) -> None:
        """Begin a phase; the time of a phase inside another is not the outer one's."""
        self._charge()
        self._entered.append(name)

    def leave(self) -> None:
        """End the phase that began last."""
        self._charge()
        self._entered.pop()
        if self._path is None:
            return
        with written_whole(self._path) as aside, aside.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([Spent._fields, *self.spent()])

    def spent(self) -> list[Spent]:
        """Return the seconds so far of each phase that the run has had."""
        self._charge()
        known = [(name, *self._spent[name]) for name in PHASES if name in self._spent]
        return [Spent(name, round(wall, 2), round(cpu, 2)) for name, wall, cpu in known]

    def add(self, spent: Iterable[Spent]) -> None:
        """Add processor time of another process; what is in no phase there is in this one's."""
        for each in spent:
            name = self._entered[-1] if each.phase == OTHER else each.phase
            wall, cpu = self._spent[name]
            self._spent[name] = wall, cpu + each.cpu_seconds

    def _charge(self) -> None:
        name, now = self._entered[-1], _now()
        wall, cpu = self._spent[name]
        self._spent[name] = wall + now[0] - self._last[0], cpu + now[1] - self._last[1]
        self._last = now


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


_clock: ContextVar[PhaseClock | None] = ContextVar("clock", default=None)


@contextmanager
def clock_run(path: Path) -> Iterator[None]:
    """Let ``phase`` count the time of the block, and keep the table at ``path``."""
    token = _clock.set(PhaseClock(path))
    try:
        yield
    finally:
        _clock.reset(token)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Count the time of the block, or of the decorated function, as one of ``PHASES``."""
    clock = _clock.get()
    if clock is None:
        yield
        return
    clock.enter(name)
    try:
        yield
    finally:
        clock.leave()


def measured(function: Callable[[Item], Result], item: Item) -> tuple[Result, list[Spent]]:
    """Return a function's result for an item, and the time that it took in this process."""
    clock = PhaseClock(None)
    token = _clock.set(clock)
    try:
        return function(item), clock.spent()
    finally:
        _clock.reset(token)


def add_processor_time(spent: Iterable[Spent]) -> None:
    """Add what another process ``measured`` to the run's phases, if the run has a clock."""
    clock = _clock.get()
    if clock is not None:
        clock.add(spent)


def spent() -> list[Spent]:
    """Return the seconds so far of the run's phases; none if the run has no clock."""
    clock = _clock.get()
    return clock.spent() if clock else []
