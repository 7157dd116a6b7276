"""Imports of libraries that take seconds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from daedalus.signals import holding_stops


@contextmanager
def slow_imports() -> Iterator[None]:
    """Import in the block without what makes it slower, or what breaks it.

    The collector would go through all that is imported again and again, and once more at the end of
    the process; none of it ever becomes garbage. A stop waits, since C code turns an exception in
    its imports into an ``ImportError``.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with holding_stops():
            yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
