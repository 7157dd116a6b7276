"""Commands are timed as they are: their first line, and all processors that they use."""

from __future__ import annotations

import subprocess
import time

import pytest

from daedalus.launch import command_cost
from daedalus.launch.command_cost import command_costs

SLOW = """
import time
print("first", flush=True)
began = time.process_time()
while time.process_time() < began + 0.3:
    pass
time.sleep(1)
"""


@pytest.mark.slow
def test_the_first_line_comes_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_cost, "COMMANDS", {"slow": (SLOW,), "fast": ("print()",)})
    began = time.perf_counter()
    slow, fast = command_costs(1)
    took = time.perf_counter() - began
    assert (slow.command, fast.command) == ("slow", "fast")
    assert 0.3 < fast.processor + 0.3 < slow.processor + 0.1
    assert fast.first_line > 0.0 and slow.first_line + 1.0 < took


def test_a_command_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_cost, "COMMANDS", {"broken": ("raise SystemExit(3)",)})
    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"):
        command_costs(1)
