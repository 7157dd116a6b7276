"""What designers are built from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.search.space import random_mechanisms
from daedalus.market.seeds import generator
from tests.design.search.markets import HIGH_AND_LOW, env_of


def test_candidates_are_the_portfolio_or_random_mechanisms():
    context = DesignerContext(env_of(), 3)
    drawn, expected = context.candidates(5), random_mechanisms(5, generator(3, "candidates"))
    assert [drawn[row] for row in range(len(drawn))] == [expected[row] for row in range(5)]
    assert replace(context, portfolio=HIGH_AND_LOW).candidates(5) is HIGH_AND_LOW


def test_settings_without_build_say_so():
    class Forgetful(DesignerSettings):
        pass

    with pytest.raises(NotImplementedError, match=r"Forgetful defines no build\(context\)"):
        Forgetful().build(DesignerContext(env_of(), 0))
