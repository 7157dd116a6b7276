"""Libraries that others import, that no test needs, and that take a process seconds."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from unittest.mock import MagicMock


def leave_out() -> None:
    """Let imports of them do nothing in this process.

    Without ``rfc3987_syntax``, jsonschema leaves out a check of addresses, which it would make from
    38 grammars: 3.8 s of the import of OpenEnv. Of ``gradio``, OpenEnv makes a page that this
    project does not show: 1.7 s. ``tests/test_package.py`` imports OpenEnv with both.
    """
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    sys.modules["gradio"] = _Gradio("gradio")


class _Gradio(ModuleType):
    __spec__ = ModuleSpec("gradio", None)

    def __getattr__(self, name: str) -> MagicMock:
        return MagicMock()
