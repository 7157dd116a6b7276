"""Files that are written completely or not at all, and by one process at a time; and tables."""

from __future__ import annotations

import errno
import fcntl
import functools
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from daedalus.checks import CannotRunError

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("job", "designer", "population", "reference", "error")
"""Columns of tables that hold names and texts, which may look like numbers or missing values."""

logger = logging.getLogger(__name__)

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a path beside ``path`` to write to; rename it to ``path`` if the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    with written_whole(path) as aside:
        aside.write_text(text)


@contextmanager
def written_whole_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``path``; let it replace ``path`` if the block succeeds."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        yield aside
        if path.exists():
            shutil.rmtree(path)
        aside.rename(path)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """Keep other processes out of the same block for a folder, where its file system has locks.

    Args:
        folder: An existing folder; it gets a file named ``.lock``.
        wait: Wait until another process leaves the block. Without waiting, ``folder`` has to be
            that of a run, because the error says so.

    Raises:
        CannotRunError: Another process is in the block, and ``wait`` is false.
    """
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))  # until it is closed
        except BlockingIOError as error:
            raise CannotRunError(
                f"{folder}: another process is at work on this run. Wait until it ends, or stop it"
            ) from error
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            _warn_of_no_locks(folder)
        yield


def cut_torn_line(path: Path) -> None:
    """Cut off the last line of a file if its end is missing, because its writer was killed.

    The file need not exist. No other process may write to it meanwhile.
    """
    if not path.exists():
        return
    with path.open("rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def whole_lines(path: Path) -> list[str]:
    """Return the lines of a file, without one at its end that is torn."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, completely or not at all; ``read_table`` reads it.

    A text that a spreadsheet would take for a formula begins with an apostrophe there.
    """
    texts = frame.select_dtypes(["object", "str"]).columns
    harmless = frame.assign(**{name: frame[name].map(_harmless) for name in texts})
    with written_whole(path) as aside:
        harmless.rename(columns=_harmless).to_csv(aside, index=False)


def _harmless(value: object) -> object:
    """Return a cell of a table so that no spreadsheet runs it."""
    return f"'{value}" if isinstance(value, str) and _is_formula(value) else value


def _as_it_was(value: object) -> object:
    """Return a cell as it was before ``_harmless``."""
    marked = isinstance(value, str) and value.startswith("'") and _is_formula(value[1:])
    return value[1:] if marked and isinstance(value, str) else value


def _is_formula(text: str) -> bool:
    """Return whether a spreadsheet takes a text for a formula, without apostrophes before it."""
    text = text.lstrip("'")
    try:
        float(text)
    except ValueError:
        return text.startswith(("=", "+", "-", "@", "\t", "\r"))
    return False


def read_table(path: Path, *texts: str) -> pd.DataFrame:
    """Read a table of a run, in which names stay as they are.

    Args:
        path: The file, CSV.
        texts: Columns of texts beside ``NAMES``. In all others an empty cell is a missing number.
    """
    import pandas as pd  # slow to import

    names = {*NAMES, *texts}
    columns = [str(column) for column in pd.read_csv(path, nrows=0)]
    numbers = {column: [""] for column in columns if column not in names}
    table = pd.read_csv(
        path,
        dtype=dict.fromkeys(names, "str"),
        na_values=numbers,
        keep_default_na=False,
        float_precision="round_trip",
    )
    there = [name for name in columns if name in names]
    return table.assign(**{name: table[name].map(_as_it_was) for name in there})


@functools.cache
def _warn_of_no_locks(folder: Path) -> None:
    logger.warning("%s: its file system has no locks; let one process at a time use it", folder)
