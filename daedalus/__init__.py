"""Daedalus: a laboratory where language models learn to design markets.

The public surface: ``market`` opens a market (``Market``), whose ``step`` takes a ``Mechanism``
and returns a ``Step``. Each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from inspect import Signature, signature
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from daedalus.doors.public import Market, Step, market
    from daedalus.market.mechanism import Mechanism

__all__ = ["Market", "Mechanism", "Step", "market"]

_PLACES = {
    "Market": "daedalus.doors.public",
    "Mechanism": "daedalus.market.mechanism",
    "Step": "daedalus.doors.public",
}


def __getattr__(name: str) -> Any:
    """Import a part of the public surface.

    Raises:
        AttributeError: It has no part of this name.
    """
    if name not in _PLACES:
        raise AttributeError(f"daedalus has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """Return the names of the public surface."""
    return sorted({*globals(), *__all__})


class _CallablePackage(ModuleType):
    """The package ``daedalus.market``, which opens a market when it is called.

    Python binds a package's name in its parent as soon as it is imported. So the function of this
    name has to be the package itself.
    """

    @property
    def __signature__(self) -> Signature:
        """Return how it is called, for ``inspect.signature`` and for shells that show it."""
        return signature(import_module("daedalus.doors.public").market)

    def __call__(self, *arguments: Any, **options: Any) -> Market:
        """Open a market to play; see ``daedalus.doors.public.market``."""
        return import_module("daedalus.doors.public").market(*arguments, **options)  # type: ignore[no-any-return]


import_module("daedalus.market").__class__ = _CallablePackage
