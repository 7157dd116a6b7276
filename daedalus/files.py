"""Files and folders that are written completely or not at all, and by one process at a time."""

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
        wait: Wait until another process leaves the block.

    Raises:
        BlockingIOError: Another process is in the block, and ``wait`` is false.
    """
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))  # until it is closed
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            _warn_of_no_locks(folder)
        yield


@functools.cache
def _warn_of_no_locks(folder: Path) -> None:
    logger.warning("%s: its file system has no locks; let one process at a time use it", folder)
