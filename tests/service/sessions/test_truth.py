"""What truth loses: as the certificates say, and nothing where there is no certificate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from daedalus.lab.theory.certificates import draw_values, groups_of, truthful_regret
from daedalus.lab.theory.formats import FORMATS_WITH_THEORY
from daedalus.market.mechanism import Mechanism
from daedalus.market.seeds import generator
from daedalus.service.openenv.catalogue import Catalogue
from tests.populations import in_both_markets


def test_the_losses_are_those_of_the_certificates(reach) -> None:
    client = reach()
    client.post("/reset", json={"session_id": "a", "population": "stage3", "n_agents": 9})
    truth = client.get("/api/truth", params={"session_id": "a"}).json()
    assert set(truth["regrets"]) == set(FORMATS_WITH_THEORY)
    population = in_both_markets(3).in_market("strategic").of_size(9)
    groups = groups_of(population)
    bids = draw_values(groups, 20_000, generator(1, "test"))
    for kind, losses in truth["regrets"].items():
        for reserve, loss in zip(truth["reserves"], losses, strict=True):
            mechanism = Mechanism(auction_type=kind, reserve_price=reserve)
            expected = truthful_regret(mechanism, groups, population.units, bids)
            assert loss == pytest.approx(expected, abs=0.001)
    assert max(truth["regrets"]["vcg"]) == 0.0 < min(truth["regrets"]["second_price"][:5])
    assert np.all(np.diff(truth["reserves"]) > 0)


def test_there_is_no_loss_without_a_certificate(reach, catalogue: Catalogue) -> None:
    drawn = in_both_markets(4)
    assert drawn.strategic is not None
    drawn = replace(drawn, strategic=replace(drawn.strategic, concentration=10.0))
    offered = replace(catalogue, populations=catalogue.populations | {"drawn": drawn})
    client = reach(offered=offered)
    for begin in ({"market": "classic"}, {"population": "drawn"}):
        client.post("/reset", json={"session_id": "a"} | begin)
        truth = client.get("/api/truth", params={"session_id": "a"}).json()
        assert truth == {"reserves": [], "regrets": {}}
    assert client.get("/api/truth", params={"session_id": "other"}).status_code == 404
