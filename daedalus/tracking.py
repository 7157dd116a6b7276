"""Logs of a run: metrics.jsonl always, Weights & Biases (W&B) as the settings say."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from daedalus.files import written_whole
from daedalus.processes import is_main
from daedalus.run_folder import RunFolder

if TYPE_CHECKING:
    import pandas as pd

_PROJECT = re.compile(r"[^/\\#?%:]{1,128}")
WANDB_MODES = ("auto", "online", "offline", "disabled")


@dataclass
class TrackingSettings:
    """Settings of W&B. Files are always written.

    Attributes:
        wandb: One of ``WANDB_MODES``. ``auto`` is online if WANDB_API_KEY is set, else offline.
        project: Name of the project at W&B, of at most 128 characters.
    """

    wandb: str = "auto"
    project: str = "daedalus"

    def __post_init__(self) -> None:
        if self.wandb not in WANDB_MODES:
            raise ValueError(f"wandb: {self.wandb!r}; choose one of {', '.join(WANDB_MODES)}")
        if not _PROJECT.fullmatch(self.project):
            raise ValueError(
                f"project: {self.project!r}; give 1 to 128 characters, none of them / \\ # ? % or :"
            )

    @property
    def mode(self) -> str:
        """Return the mode in which W&B starts."""
        if self.wandb == "auto":
            return "online" if os.environ.get("WANDB_API_KEY") else "offline"
        return self.wandb


class Tracker:
    """Logs one run. As a context manager, it finishes the W&B run at its end.

    Of several processes only the main one logs.

    Args:
        settings: Settings of W&B.
        out: Run folder, for metrics.jsonl and W&B's files.
        name: Name of the run.
        config: The resolved configuration, for W&B.
    """

    def __init__(
        self, settings: TrackingSettings, out: Path, name: str, config: dict[str, Any]
    ) -> None:
        self._path = RunFolder(out).metrics
        self._wandb = None
        if settings.mode != "disabled" and is_main():
            import wandb  # slow to import

            self._wandb = wandb.init(
                id=_run_id(out),
                resume="allow",
                project=settings.project,
                name=name,
                config=config,
                dir=out,
                mode=settings.mode,  # type: ignore[arg-type]  # one of WANDB_MODES, as checked
                reinit="finish_previous",
                settings=wandb.Settings(silent=True, console="off"),
            )

    def log(self, phase: str, step: int, metrics: Mapping[str, float]) -> None:
        """Append one record of ``phase`` (``sft``, ``grpo``, ...) at ``step``."""
        if not is_main():
            return
        record = {"phase": phase, "step": step, **metrics}
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        if self._wandb is not None:
            prefixed = {f"{phase}/{name}": value for name, value in metrics.items()}
            self._wandb.define_metric(f"{phase}/*", step_metric=f"{phase}/step")
            self._wandb.log({**prefixed, f"{phase}/step": step})
        watcher = _watcher.get()
        if watcher is not None:
            watcher(self, phase, step)

    def history(self, phase: str) -> list[dict[str, float]]:
        """Return the records of a phase, in order, without the key ``phase``."""
        if not self._path.exists():
            return []
        records = [json.loads(line) for line in self._path.read_text().splitlines()]
        return [
            {key: value for key, value in record.items() if key != "phase"}
            for record in records
            if record["phase"] == phase
        ]

    def rewind(self, phase: str, step: int) -> None:
        """Remove the records of ``phase`` after ``step``; a resumed run writes them again."""
        if not (is_main() and self._path.exists()):
            return
        remaining = []
        for line in self._path.read_text().splitlines(keepends=True):
            if not line.endswith("\n"):  # incomplete because of an interruption
                continue
            record = json.loads(line)
            if record["phase"] != phase or record["step"] <= step:
                remaining.append(line)
        with written_whole(self._path) as aside:
            aside.write_text("".join(remaining))

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Send a table to W&B. A column may hold numbers, texts and None."""
        if self._wandb is not None:
            import wandb

            self._wandb.log({name: wandb.Table(dataframe=frame, allow_mixed_types=True)})

    def image(self, name: str, path: Path) -> None:
        """Send an image to W&B."""
        if self._wandb is not None:
            import wandb

            self._wandb.log({name: wandb.Image(str(path))})

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the W&B run, as failed if there was an error."""
        if self._wandb is not None:
            self._wandb.finish(exit_code=0 if kind is None else 1)


Watcher = Callable[[Tracker, str, int], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call a function with the tracker, the phase and the step of each record of the block."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def _run_id(out: Path) -> str:
    """Return the run's identifier at W&B, which a resumed run uses again."""
    path = out / "wandb_id"
    if not path.exists():
        with written_whole(path) as aside:
            aside.write_text(secrets.token_hex(8))
    return path.read_text()
