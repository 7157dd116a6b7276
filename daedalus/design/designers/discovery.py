"""Finding the settings of all designers: one subclass of ``DesignerSettings`` in each module."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from types import ModuleType

import daedalus.design.designers
from daedalus.design.designers.base import DesignerSettings


def designer_settings() -> dict[str, type[DesignerSettings]]:
    """Return the settings class of each kind of designer by the name of its module.

    Raises:
        ValueError: A module defines several settings classes.
    """
    found: dict[str, type[DesignerSettings]] = {}
    for module in pkgutil.iter_modules(daedalus.design.designers.__path__):
        classes = _settings_in(import_module(f"daedalus.design.designers.{module.name}"))
        if len(classes) > 1:
            names = ", ".join(each.__name__ for each in classes)
            raise ValueError(f"designers/{module.name}.py: {names}; define one settings class")
        if classes:
            found[module.name] = classes[0]
    return found


def _settings_in(module: ModuleType) -> list[type[DesignerSettings]]:
    """Return the subclasses of ``DesignerSettings`` that a module defines itself."""
    return [
        each
        for _, each in inspect.getmembers(module, inspect.isclass)
        if issubclass(each, DesignerSettings)
        and each is not DesignerSettings
        and each.__module__ == module.__name__
    ]
