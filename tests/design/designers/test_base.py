"""What designers are built from, and those that propose without looking: fixed and random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.fixed import FixedDesigner, FixedSettings
from daedalus.design.designers.random import RandomSettings
from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import CHOICES, FLAGS, RANGES, Mechanism
from daedalus.market.seeds import generator
from tests.design.designers.observations import observe, rng
from tests.design.search.markets import HIGH_AND_LOW, env_of
from tests.populations import draw_mechanism


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


def test_fixed_proposes_its_mechanism_whatever_happens():
    mechanism = draw_mechanism(rng(7))
    drawn = FixedDesigner(mechanism).propose(observe(4, collusion_signal=1.0), rng())
    assert [drawn[i] for i in range(4)] == [mechanism] * 4


@pytest.mark.parametrize(
    ("given", "mechanism"),
    [
        (None, Mechanism()),
        ({"reserve_price": 0.25, "auction_type": "vcg"}, Mechanism("vcg", 0.25)),
        (Mechanism(shill_penalty=2.0), Mechanism(shill_penalty=2.0)),
    ],
)
def test_settings_build_the_designer(given, mechanism):
    context = DesignerContext(env_of(), 0)
    assert FixedSettings(given).build(context).mechanism == mechanism


@pytest.mark.parametrize("given", [{"reserve_price": 1.5}, {"reserve": 0.1}])
def test_a_mapping_that_is_no_mechanism_is_refused(given):
    with pytest.raises(ValueError, match=r"^mechanism\.reserve"):
        FixedSettings(given)


@pytest.mark.parametrize(("sampling", "high"), [("uniform", 0.9), ("published", 0.5)])
def test_random_covers_the_space_evenly(sampling, high):
    count = 20_000
    designer = RandomSettings(sampling).build(DesignerContext(env_of(), 0))
    drawn = designer.propose(observe(count), rng())
    assert len(drawn) == count
    assert not drawn.malformed.any()
    for name, words in CHOICES.items():
        shares = np.bincount(getattr(drawn, name), minlength=len(words)) / count
        np.testing.assert_allclose(shares, 1 / len(words), atol=0.015)
    for name in FLAGS:
        assert getattr(drawn, name).mean() == pytest.approx(0.5, abs=0.015)
    for name, (low, end) in RANGES.items():
        top = high if name == "reserve_price" else end
        deciles = np.histogram(getattr(drawn, name), bins=10, range=(low, top))[0] / count
        assert getattr(drawn, name).max() <= top
        np.testing.assert_allclose(deciles, 0.1, atol=0.01, err_msg=name)
