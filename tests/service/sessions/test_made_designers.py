"""Designers that are made for a visitor's market and objective."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from daedalus.design.designers.base import DesignerSettings
from daedalus.design.designers.planner import PlannerSettings
from daedalus.design.designers.search import SearchSettings
from daedalus.design.search.objective import EpisodeObjective
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.sessions.made_designers import Make, made_for
from experiments.serve import make_catalogue, make_designers, make_makers
from tests.launch.config.composing import composed
from tests.service.sessions.test_worker import endless, failing

PATIENCE = {"design_timeout": 120.0, "session_grace": 600.0, "job_timeout": 120.0}


def asked(client: TestClient, name: str, **begin: Any) -> dict[str, Any]:
    """Begin an episode and ask a designer."""
    client.post("/reset", json={"session_id": "a", "seed": 1} | begin)
    return client.post("/api/design", json={"session_id": "a", "designer": name}).json()


SEARCH = SearchSettings(candidates=32, episodes=2, sweeps=1, sweep_episodes=32)


@pytest.fixture(scope="module")
def known() -> Catalogue:
    """Offer sales to three bidders with even values, whose highest revenue theory tells."""
    return make_catalogue(
        composed("+experiment=serve", "population=optimum_uniform_3", "market=static")
    )


@pytest.mark.slow
def test_a_search_maximises_what_the_visitor_chose(reach, known: Catalogue) -> None:
    makers = {"search": partial(made_for, SEARCH, 0)}
    client = reach(offered=known, makers=makers, **PATIENCE)
    found = {
        objective: asked(client, "search", objective=objective)
        for objective in ("composite", "revenue")
    }
    assert [each["source"] for each in found.values()] == ["rule", "rule"]
    reserves = {name: each["mechanism"]["reserve_price"] for name, each in found.items()}
    assert abs(reserves["revenue"] - 0.5) < 0.1 < abs(reserves["composite"] - 0.5)
    env = known.build(known.options(objective="revenue"))
    mechanisms = [Mechanism(**each["mechanism"]) for each in found.values()]
    of_composite, of_revenue = EpisodeObjective([env], 7)(Mechanisms.stack(mechanisms), 200)
    assert of_revenue > 1.03 * of_composite
    assert of_revenue == pytest.approx(0.53125, rel=0.02)  # Myerson (1981)


@pytest.mark.parametrize(
    ("make", "seconds", "why"), [(endless, 0.2, "longer than 0.2 seconds"), (failing, 60.0, "log")]
)
def test_otherwise_the_heuristic_answers_and_says_why(
    reach, make: Make, seconds: float, why: str
) -> None:
    client = reach(makers={"search": make}, **PATIENCE | {"job_timeout": seconds})
    answer = asked(client, "search")
    assert answer["source"] == "fallback" and tuple(answer["mechanism"]) == FIELDS
    assert answer["error"].startswith("the designer search ") and why in answer["error"]
    assert "secret" not in answer["error"]


def test_who_asks_for_a_search_names_an_episode(reach) -> None:
    client = reach(makers={"search": endless})
    refused = client.post("/api/design", json={"designer": "search"})
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["allowed"] == "search needs an episode; name its session"
    unknown = client.post("/api/design", json={"designer": "oracle"}).json()["detail"][0]
    assert unknown["allowed"] == "choose one of trained, search"


def test_a_planner_looks_ahead_in_the_episode_that_is_asked_for(reach) -> None:
    settings: DesignerSettings = PlannerSettings(candidates=4, futures=1, horizon=1, rounds=0)
    client = reach(makers={"planner": partial(made_for, settings, 0)}, **PATIENCE)
    answer = asked(client, "planner", episode_length=1)
    assert answer["source"] == "rule" and tuple(answer["mechanism"]) == FIELDS
    assert client.get("/state", params={"session_id": "a"}).json()["step_count"] == 0
    client.post("/step", json={"session_id": "a", "action": answer["mechanism"]})
    ask = {"session_id": "a", "designer": "planner"}
    ended = client.post("/api/design", json=ask)
    assert (ended.status_code, ended.json()["error"]) == (409, "the episode has ended; reset first")


def test_what_is_shipped_offers_a_search() -> None:
    config = composed("+experiment=serve")
    assert list(make_makers(config)) == ["search"]
    assert list(make_designers(config)) == ["heuristic", "random", "informed_greedy"]
