"""The watching routes: every round of the last step, and the types of the bidders."""

from __future__ import annotations

import pytest

EPISODE = {"session_id": "watched", "seed": 5, "population": "stage4"}
SHILLS = {"auction_type": "vcg", "reserve_price": 0.2, "reveal_competing_bids": True}


@pytest.mark.parametrize("market", ["strategic", "classic"])
def test_the_arena_shows_the_rounds_that_were_scored(reach, market: str) -> None:
    client = reach()
    client.post("/reset", json=EPISODE | {"market": market})
    body = {"session_id": "watched"}
    assert client.get("/api/arena", params=body).json() == {"step": 0, "rounds": []}
    for step in (1, 2):
        told = client.post("/step", json=body | {"action": SHILLS}).json()
        arena = client.get("/api/arena", params=body).json()
        rounds = arena["rounds"]
        assert arena["step"] == step
        assert [each["number"] for each in rounds] == [
            3 + 5 * step - back for back in range(4, -1, -1)
        ]
        mean = sum(each["scores"]["composite"] for each in rounds[-3:]) / 3
        assert mean == pytest.approx(told["reward"])
        seen = told["observation"]["market_outcomes"][-5:]
        assert [each["price"] for each in rounds] == [each["clearing_price"] for each in seen]
    assert all(len(each["bids"]) == 8 and each["reserve"] == 0.2 for each in rounds)
    assert 0 < sum(sum(each["delivered"]) for each in rounds) <= 15


def test_the_reveal_names_types_and_the_owners_of_false_names(reach) -> None:
    client = reach()
    client.post("/reset", json=EPISODE)
    body = {"session_id": "watched"}
    client.post("/step", json=body | {"action": SHILLS})
    told = client.get("/api/reveal", params=body).json()
    rounds = client.get("/api/arena", params=body).json()["rounds"]
    assert len(told["bidders"]) == 8 and {each["type"] for each in told["bidders"]}
    assert [len(each) for each in told["false_names"]] == [
        len(each["false_bids"]) for each in rounds
    ]
    owners = {seat for each in told["false_names"] for seat in each}
    assert all("shill" in told["bidders"][seat]["menu"] for seat in owners)
    assert client.get("/api/arena", params={"session_id": "nobody"}).status_code == 404
