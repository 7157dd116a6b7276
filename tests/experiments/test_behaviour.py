"""The experiment on behaviour plays a designer beside the best fixed mechanism."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.launch.config import compose_config
from experiments import behaviour
from tests.launching import write_portfolio


def test_a_designer_with_the_name_of_the_best_fixed_mechanism_is_refused(tmp_path: Path) -> None:
    small = ("tracking=files", "evaluation.episodes=2", "designer=random")
    config = compose_config("+experiment=behaviour", *small, "designer.name=best_fixed")
    write_portfolio(tmp_path)
    with pytest.raises(CannotRunError, match=r"best_fixed is .*baseline of that name"):
        behaviour.main(config, tmp_path)
    assert not (tmp_path / "decisions.csv").exists()
