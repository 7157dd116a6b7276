"""Whether a model of the hub can be had. Nothing here is slow to import.

The hub's client asks an unreachable server again and again, for a minute, before it fails.
"""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from daedalus.checks import HUB_NAME, CannotRunError

PATIENCE = 4.0
"""Seconds in which the hub has to take a connection."""

_OFFLINE = "HF_HUB_OFFLINE"


def is_hub_name(source: str) -> bool:
    """Return whether a source of a model is a name on the hub: no folder, and no file."""
    return bool(HUB_NAME.fullmatch(source)) and not Path(source).exists()


def require_hub(name: str) -> None:
    """Refuse a model that is neither in the cache nor to be had from the hub.

    A model in the cache is taken from there without a question to a hub that cannot be reached.

    Args:
        name: Its name on the hub.

    Raises:
        CannotRunError: The hub cannot be reached, and the cache has no such model.
    """
    host = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    if _is_offline() or getproxies() or _answers(host.hostname or "", host.port or 443):
        return
    if any(_cache().glob(f"models--{name.replace('/', '--')}/snapshots/*")):
        _go_offline()
        return
    raise CannotRunError(
        f"{name} is not in {_cache()}, and {host.hostname} cannot be reached; connect to a "
        "network, or give the folder of a model"
    )


def _client() -> Any:
    """Return the constants of the hub's client, which reads its environment once; None before."""
    return sys.modules.get("huggingface_hub.constants")


def _is_offline() -> bool:
    if _client() is not None:
        return bool(_client().HF_HUB_OFFLINE)
    return os.environ.get(_OFFLINE, "0").upper() in ("1", "TRUE", "YES", "ON")


def _go_offline() -> None:
    if _client() is not None:
        _client().HF_HUB_OFFLINE = True
    os.environ[_OFFLINE] = "1"


def _cache() -> Path:
    if _client() is not None:
        return Path(_client().HF_HUB_CACHE)
    home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    return Path(os.environ.get("HF_HUB_CACHE", home / "hub"))


def _answers(host: str, port: int) -> bool:
    """Return whether a server takes a connection in time; a search for its address may hang."""
    found: list[bool] = []

    def connect() -> None:
        try:
            socket.create_connection((host, port), PATIENCE).close()
        except OSError:
            return
        found.append(True)

    asking = Thread(target=connect, daemon=True)
    asking.start()
    asking.join(PATIENCE)
    return bool(found)
