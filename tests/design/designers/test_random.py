"""The random designer covers the space that its settings name."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.random import RandomSettings
from daedalus.market.mechanism import CHOICES, FLAGS, RANGES
from tests.design.designers.observations import observe, rng
from tests.design.search.markets import env_of


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


def test_an_unknown_sampling_is_refused():
    with pytest.raises(ValueError, match="'normal'; choose uniform or published"):
        RandomSettings(sampling="normal")
