"""Settings of a chat model on an OpenAI-compatible server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from daedalus.checks import Checked, at_least, one_of

RESPONSE_FORMATS = ("text", "json_object", "json_schema")


@dataclass
class ChatServer(Checked):
    """A chat model on an OpenAI-compatible server, and how requests to it look.

    Attributes:
        base_url: Address of the interface, including its version, such as ``.../v1``.
        model: The name under which the server offers the model.
        api_key_variable: Name of the environment variable that holds the key; empty for servers
            without keys. It is never the key itself, because runs write their settings to files.
        temperature: Sampling temperature; None leaves it to the server, as some models demand.
        max_tokens: Longest answer in tokens; None leaves it to the server.
        timeout: Longest time of one attempt, in seconds.
        retries: Further attempts after a lost connection, a timeout, a failure of the server, or
            status 429 (then at the time that ``Retry-After`` names; if that is more than two
            minutes away, the run ends).
        concurrency: Most chats at once.
        response_format: ``text``; ``json_object`` for any JSON object; ``json_schema`` for decoding
            by the schema of what is asked for, where the server can do that.
        send_seed: Whether each chat carries a seed, for servers that use it.
        extra: Further fields of the request's body, under the server's names.

    Raises:
        ValueError: A setting is missing or out of range, or an address holds a password.
    """

    base_url: str = "http://localhost:8001/v1"
    model: str = ""
    api_key_variable: str = ""
    temperature: float | None = at_least(0, 0.0)
    max_tokens: int | None = at_least(1, 512)
    timeout: float = at_least(0.1, 120.0)
    retries: int = at_least(0, 4)
    concurrency: int = at_least(1, 16)
    response_format: str = one_of(RESPONSE_FORMATS, "text")
    send_seed: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_address(self.base_url)
        if not self.model:
            raise ValueError("model: not set; give the name under which the server offers it")
        if not re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)?", self.api_key_variable):
            raise ValueError(  # without the value, which may be a key
                "api_key_variable: not the name of an environment variable; put the key into one, "
                "and its name, such as OPENAI_API_KEY, here"
            )


def _check_address(address: str) -> None:
    if _names_server(address):
        return
    if "@" in address:
        raise ValueError("base_url: holds a password; name a variable in api_key_variable instead")
    raise ValueError(f"base_url: {address!r}; give an address such as http://localhost:8001/v1")


def _names_server(address: str) -> bool:
    """Return whether an address names a server, and nobody who may use it."""
    try:
        parts = urlsplit(address)
        server = bool(parts.hostname) and parts.port != 0
        if (parts.hostname or "").rpartition(".")[2].isdigit():
            ip_address(str(parts.hostname))
    except ValueError:  # the port or the host is no such number, or a bracket is missing
        return False
    secret = parts.username or parts.password
    return parts.scheme in ("http", "https") and server and not secret and address.isprintable()
