"""Print the rewards of an episode, in a process without a service and without a network.

It reads ``{"population": …, "seed": …, "actions": […]}`` and prints a list. Any use of a socket
by this process ends it with an error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import daedalus


def main() -> None:
    """Play an episode."""
    sys.addaudithook(refuse)
    asked = json.load(sys.stdin)
    market = daedalus.make(asked["population"])
    market.reset(asked["seed"])
    print(json.dumps([market.step(daedalus.Mechanism(**each)).reward for each in asked["actions"]]))


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse whatever reaches for a network."""
    if event.startswith("socket."):
        raise PermissionError(f"{event}: rewards need no network")


if __name__ == "__main__":
    main()
