"""Commands are timed as they are: their first line, and all processors that they use."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from daedalus.launch import command_cost
from daedalus.launch.command_cost import COMMANDS, Command, command_costs
from daedalus.launch.config.paths import ROOT

SLOW = """
import time
print("first", flush=True)
began = time.process_time()
while time.process_time() < began + 1.0:
    pass
time.sleep(1)
"""


@pytest.mark.slow
def test_the_first_line_comes_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        command_cost, "COMMANDS", {"slow": Command(SLOW), "fast": Command("print()")}
    )
    began = time.perf_counter()
    slow, fast = command_costs(1)
    took = time.perf_counter() - began
    assert (slow.command, fast.command) == ("slow", "fast")
    assert 0.5 < fast.processor + 0.5 < slow.processor
    assert 0.0 < fast.first_line <= fast.clock
    assert slow.first_line + 1.0 < slow.clock < took


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (Command("raise SystemExit(3)"), "exit status 3"),
        (Command("print()", status=1), "exit status 0"),
        (Command("print('the end')", until="beginning"), "exit status 0"),
    ],
)
def test_a_command_that_ends_otherwise_is_told(
    command: Command, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_cost, "COMMANDS", {"broken": command})
    with pytest.raises(subprocess.CalledProcessError, match=told):
        command_costs(1)


@pytest.mark.slow
def test_a_command_is_stopped_at_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """
import sys, time
print("first", flush=True)
time.sleep(2)
print("it is", sys.argv[1], flush=True)
time.sleep(60)
"""
    command = Command(program, ("{folder}",), until="it is /")
    monkeypatch.setattr(command_cost, "COMMANDS", {"stopped": command})
    (found,) = command_costs(1)
    assert found.first_line + 1.0 < found.clock < 60


LATER = "torch", "transformers", "pandas", "scipy", "matplotlib"
"""What only a run needs."""
IMPORTED = f"""
import sys
from daedalus.launch.start import cli
try:
    cli()
except SystemExit as end:
    print(end)
print([name for name in {LATER} if name in sys.modules])
"""


def test_the_help_waits_for_nothing() -> None:
    program = (
        "import sys; from daedalus.launch.start import cli; cli();"
        "print({'hydra', 'numpy', 'omegaconf'} & {*sys.modules})"
    )
    run = [sys.executable, "-c", program, "--help"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "+experiment=grpo_stage3" in done.stdout and done.stdout.endswith("set()\n")


@pytest.mark.slow
def test_a_refusal_waits_for_nothing_slow(tmp_path: Path) -> None:
    refused = [each for each in COMMANDS.values() if each.status]
    told = ("us: no setting", "polulation: no such setting. Did you mean population?")
    for command, sentence in zip(refused, told, strict=True):
        words = [word.format(folder=tmp_path) for word in command.words]
        run = [sys.executable, "-c", IMPORTED, *words]
        done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
        said, imported = done.stdout.splitlines()
        assert sentence in said and imported == "[]"


@pytest.mark.slow
def test_commands_that_are_stopped_say_their_line(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = {name: each for name, each in COMMANDS.items() if each.until}
    monkeypatch.setattr(command_cost, "COMMANDS", begun)
    found = command_costs(1)
    assert len(found) == 4 and all(0 < each.first_line <= each.clock for each in found)
