"""The address of the service. Nothing here is slow to import, so it is checked before all else."""

from __future__ import annotations

import socket

from daedalus.checks import CannotRunError
from daedalus.service.settings import ServiceSettings


def bound_socket(settings: ServiceSettings) -> socket.socket:
    """Return a socket that listens at the service's address.

    Raises:
        CannotRunError: The address is taken, or belongs to another machine.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise CannotRunError(
            f"service.host {settings.host}, service.port {settings.port}: {error.strerror}; "
            "give another port, or 0 for any free one"
        ) from error


def web_address(host: str, port: int) -> str:
    """Return the address for a browser; one of IPv6 stands in brackets."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
