"""The fixed designer proposes its mechanism at every step."""

from __future__ import annotations

import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.fixed import FixedDesigner, FixedSettings
from daedalus.market.mechanism import Mechanism
from tests.design.designers.observations import observe, rng
from tests.design.search.markets import env_of
from tests.populations import draw_mechanism


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
