"""A library that another imports, that no test needs, and that takes a process seconds."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from unittest.mock import MagicMock


def leave_out() -> None:
    """Let an import of it do nothing in this process.

    Of ``gradio``, OpenEnv makes a page that this project does not show: 1.7 s.
    ``tests/test_package.py`` imports OpenEnv with it.
    """
    sys.modules["gradio"] = _Gradio("gradio")


class _Gradio(ModuleType):
    __spec__ = ModuleSpec("gradio", None)

    def __getattr__(self, name: str) -> MagicMock:
        return MagicMock()
