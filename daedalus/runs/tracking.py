"""Logs of a run: metrics.jsonl always, Weights & Biases (W&B) as the settings say."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from daedalus.checks import Checked, bounded, one_of
from daedalus.runs.files import cut_torn_line, whole_lines, write_text
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import is_main

if TYPE_CHECKING:
    import pandas as pd

    WandbMode = Literal["auto", "online", "offline", "disabled"]
else:  # OmegaConf knows no Literal
    WandbMode = str

_PROJECT = re.compile(r"[^/\\#?%:]{1,128}")
WANDB_MODES = ("auto", "online", "offline", "disabled")
_SHOWN = 300  # characters of what W&B says of a failure
_START, _END = 90.0, 300.0  # most seconds in which W&B must answer, and upload what is left

logger = logging.getLogger(__name__)


@dataclass
class TrackingSettings(Checked):
    """Settings of W&B. Files are always written.

    Attributes:
        wandb: One of ``WANDB_MODES``. ``auto`` does what WANDB_MODE or WANDB_DISABLED say. If
            neither is set, it is online for who has logged in at W&B or set WANDB_API_KEY, else
            offline. Any other choice wins over these variables.
        project: Name of the project at W&B, of at most 128 characters.
    """

    wandb: WandbMode = one_of(WANDB_MODES, "auto")
    project: str = bounded(
        "daedalus",
        _PROJECT.fullmatch,
        "give 1 to 128 characters, none of them / \\ # ? % or :",
    )

    @property
    def mode(self) -> str:
        """Return the mode in which W&B starts; says so if it is not what variables ask for."""
        asked = _mode_of_variables()
        if self.wandb == "auto":
            return asked or ("online" if _has_login() else "offline")
        if asked not in (None, self.wandb):
            logger.warning("tracking.wandb=%s wins over W&B's variables: %s", self.wandb, asked)
        return self.wandb


def _mode_of_variables() -> str | None:
    """Return the mode that W&B's environment variables ask for, or None."""
    if os.environ.get("WANDB_DISABLED", "").lower() in ("true", "1", "yes", "on"):
        return "disabled"
    return os.environ.get("WANDB_MODE", "").lower() or None


def _has_login() -> bool:
    """Return whether there is a key of W&B: in a variable, in .netrc or in its own settings."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    import wandb  # slow to import
    from wandb.sdk.lib import wbauth

    host = wandb.setup().settings.base_url
    found = wbauth.authenticate_session(
        host=host, source="daedalus", prompt=False, update_session=False
    )
    return found is not None


class Tracker(AbstractContextManager["Tracker"]):
    """Logs one run. As a context manager, it finishes the W&B run at its end.

    Of several processes only the main one logs. A failure of W&B never ends a run: after it, the
    run keeps its files only.

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
        if is_main():
            cut_torn_line(self._path)  # of a launch that was killed, before this one appends
        self._wandb: Any = None
        with self._unless_wandb_fails():
            mode = settings.mode if is_main() else "disabled"
            if mode != "disabled":
                self._wandb = _start_wandb(settings.project, mode, out, name, config)

    @contextmanager
    def _unless_wandb_fails(self) -> Iterator[None]:
        """Go on without W&B if it fails in the block."""
        try:
            yield
        except Exception as error:  # whatever W&B raises, its tracking is not worth the run
            self._wandb = None
            said = " ".join(str(error).split()) or type(error).__name__
            logger.warning("W&B failed, and the run keeps its files only: %s", said[:_SHOWN])

    def log(self, phase: str, step: int, metrics: Mapping[str, float]) -> None:
        """Append one record of ``phase`` (``sft``, ``grpo``, ...) at ``step``."""
        if not is_main():
            return
        record = {"phase": phase, "step": step, **metrics}
        with self._path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        if self._wandb is not None:
            prefixed = {f"{phase}/{name}": value for name, value in metrics.items()}
            with self._unless_wandb_fails():
                self._wandb.define_metric(f"{phase}/*", step_metric=f"{phase}/step")
                self._wandb.log({**prefixed, f"{phase}/step": step})
        watcher = _watcher.get()
        if watcher is not None:
            watcher(self, phase, step)

    def history(self, phase: str) -> list[dict[str, float]]:
        """Return the records of a phase, in order, without the key ``phase``."""
        if not self._path.exists():
            return []
        records = [json.loads(line) for line in whole_lines(self._path)]
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
        for line in whole_lines(self._path):
            record = json.loads(line)
            if record["phase"] != phase or record["step"] <= step:
                remaining.append(f"{line}\n")
        write_text(self._path, "".join(remaining))

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Send a table to W&B. A column may hold numbers, texts and None."""
        self._send(name, lambda wandb: wandb.Table(dataframe=frame, allow_mixed_types=True))

    def image(self, name: str, path: Path) -> None:
        """Send an image to W&B."""
        self._send(name, lambda wandb: wandb.Image(str(path)))

    def _send(self, name: str, make: Callable[[Any], Any]) -> None:
        """Send what a function makes of the library of W&B, under a name."""
        if self._wandb is not None:
            import wandb

            with self._unless_wandb_fails():
                self._wandb.log({name: make(wandb)})

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the W&B run, as failed if there was an error."""
        if self._wandb is not None:
            with self._unless_wandb_fails():
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


def _start_wandb(
    project: str, mode: str, out: Path, name: str, config: dict[str, Any]
) -> Any:  # W&B's run
    os.environ.setdefault("WANDB_DISABLE_WEAVE", "true")  # which advertises itself
    import wandb  # slow to import

    if (variable := os.environ.get("WANDB_PROJECT", project)) != project:
        logger.warning("tracking.project=%s wins over WANDB_PROJECT: %s", project, variable)
    return wandb.init(
        id=_run_id(out),
        resume="allow",
        project=project,
        name=name,
        config=config,
        dir=out,
        mode=mode,  # type: ignore[arg-type]  # W&B checks it
        reinit="finish_previous",
        settings=wandb.Settings(
            silent=True, console="off", init_timeout=_START, finish_timeout=_END
        ),
    )


def _run_id(out: Path) -> str:
    """Return the run's identifier at W&B, which a resumed run uses again."""
    path = out / "wandb_id"
    if not path.exists():
        write_text(path, secrets.token_hex(8))
    return path.read_text()
