"""Whether a model of the hub can be had. Nothing here is slow to import.

The hub's client asks an unreachable server again and again, for a minute, before it fails.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit
from urllib.request import getproxies

from daedalus.checks import HUB_NAME, CannotRunError

PATIENCE = 4.0
"""Seconds in which the hub has to take a connection."""


def is_hub_name(source: str) -> bool:
    """Return whether a source of a model is a name on the hub: no folder, and no file."""
    return bool(HUB_NAME.fullmatch(source)) and not Path(source).exists()


def require_hub(name: str) -> None:
    """Refuse a model that is neither in the cache nor to be had from the hub.

    A model in the cache is taken from there without a question to a hub that cannot be reached.

    Raises:
        CannotRunError: The hub cannot be reached, and the cache has no such model.
    """
    from huggingface_hub import constants  # read the environment once, when they are imported

    host = urlsplit(constants.ENDPOINT)
    offline = constants.HF_HUB_OFFLINE
    if offline or getproxies() or _answers(host.hostname or "", host.port or 443):
        return
    cache = Path(constants.HF_HUB_CACHE)
    if any(cache.glob(f"models--{name.replace('/', '--')}/snapshots/*")):
        constants.HF_HUB_OFFLINE = True
        os.environ["HF_HUB_OFFLINE"] = "1"  # for processes that this one starts
        return
    raise CannotRunError(
        f"{name} is not in {cache}, and {host.hostname} cannot be reached; connect to a "
        "network, or give the folder of a model"
    )


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
