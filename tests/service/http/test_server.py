"""The server: it says what to do about a port that is taken."""

from __future__ import annotations

import pytest

from daedalus.service.http.server import listen
from daedalus.service.settings import ServiceSettings


def test_a_taken_port_says_what_to_do() -> None:
    with listen(ServiceSettings(port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ValueError, match=f"service.port {port}.*another port"):
            listen(ServiceSettings(port=port))
