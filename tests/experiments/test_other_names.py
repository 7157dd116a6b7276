"""An experiment that adds a designer refuses another one of its name, before it plays."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.launch.config.compose import compose_config


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "name"),
    [
        ("behaviour", "best_fixed"),
        ("exploitability", "best_fixed"),
        ("known_optimum", "oracle"),
        ("leaderboard", "best_fixed"),
    ],
)
def test_a_designer_with_the_name_of_one_that_is_added_is_refused(
    tmp_path: Path, experiment: str, name: str
) -> None:
    words = ["tracking=files", "designer=random", f"designer.name={name}"]
    config = compose_config(f"+experiment={experiment}", *words)
    with pytest.raises(CannotRunError, match=rf"{name} is .*baseline of that name"):
        import_module(f"experiments.{experiment}").main(config, tmp_path)
    assert not any(tmp_path.iterdir())
