"""What people look at: rounds and masks, what is on offer, and the newest run."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numba
import pytest
from starlette.testclient import TestClient

from daedalus.designers.random import RandomDesigner
from daedalus.env import DesignEnv
from daedalus.market.interface import MARKET_RULES
from daedalus.service.http.app import create_app
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.openenv.warm_up import warm_up
from daedalus.service.page.messages import Offer
from daedalus.service.page.newest_run import NewestRun
from daedalus.service.sessions.watching import arena, reveal
from daedalus.service.settings import ServiceSettings
from tests.populations import population

EPISODE = {"session_id": "watched", "seed": 5, "population": "stage4"}
ROOT = Path(__file__).parents[3]
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


def test_watching_changes_nothing(catalogue) -> None:
    rewards = []
    for watching in (True, False):
        environment = DaedalusEnvironment(catalogue)
        environment.reset(seed=3, population="stage4")
        for _ in range(4):
            environment.step(DaedalusAction(**SHILLS))
            if watching:
                assert arena(environment) == arena(environment)
                reveal(environment)
        rewards.append(environment.state.rewards)
    assert rewards[0] == rewards[1]


def test_an_ended_episode_keeps_its_last_rounds(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(seed=3, episode_length=1)
    environment.step(DaedalusAction())
    last = arena(environment)
    environment.step(DaedalusAction(auction_type="first_price"))
    assert arena(environment) == last and len(last.rounds) == 5


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


def test_another_designer_can_be_asked(reach) -> None:
    client = reach(designers={"random": RandomDesigner()})
    client.post("/reset", json=EPISODE)
    ask = {"session_id": "watched", "designer": "random"}
    first, second = (client.post("/api/design", json=ask).json() for _ in range(2))
    assert first["source"] == "rule" and first["mechanism"] == second["mechanism"]
    client.post("/step", json={"session_id": "watched", "action": {}})
    assert client.post("/api/design", json=ask).json()["mechanism"] != first["mechanism"]
    wrong = client.post("/api/design", json={"designer": "oracle"})
    assert wrong.status_code == 422
    assert wrong.json()["detail"][0]["allowed"] == "choose one of trained, random"


def test_the_offer_is_what_the_api_takes(reach) -> None:
    client = reach(designers={"random": RandomDesigner()})
    offer = Offer(**client.get("/api/catalogue").json())
    assert [each.name for each in offer.designers] == ["trained", "random"]
    assert [each.name for each in offer.populations] == ["stage0", "stage3", "stage4"]
    action = {each.name: each.default for each in offer.fields}
    assert len(action) == 11 and all(each.meaning for each in offer.fields)
    client.post("/reset", json={"session_id": "a"} | offer.default.model_dump())
    assert client.post("/step", json={"session_id": "a", "action": action}).status_code == 200


def leave_run(outputs: Path, name: str, written: int) -> Path:
    run = outputs / name
    (run / "figures").mkdir(parents=True)
    history = run / "training_history.json"
    history.write_text(json.dumps([{"step": 1, "reward": 0.5, "entropy": math.nan}]))
    (run / "figures" / "curves.png").write_bytes(b"picture")
    (run / "config.yaml").write_text("secret: 1")
    os.utime(history, (written, written))
    return run


def test_the_newest_run_is_shown_and_nothing_else_of_it(reach, tmp_path: Path) -> None:
    leave_run(tmp_path, "grpo/old", 1_000)
    leave_run(tmp_path, "sweeps/grpo/new/0", 2_000)
    client = reach(outputs=str(tmp_path))
    assert client.get("/api/training").json() == {
        "run": "sweeps/grpo/new/0",
        "history": [{"step": 1.0, "reward": 0.5, "entropy": None}],
    }
    page = client.get("/plots/").text
    assert "curves.png" in page and "training_history.json" in page and "config" not in page
    assert client.get("/plots/curves.png").content == b"picture"
    for name in ("config.yaml", "..%2Fconfig.yaml", "%2Fetc%2Fpasswd", "figures"):
        assert client.get(f"/plots/{name}").status_code == 404


def test_a_server_without_runs_says_so(reach, tmp_path: Path) -> None:
    client = reach(outputs=str(tmp_path / "none"), write_up=str(tmp_path / "none.md"))
    assert client.get("/api/training").json() == {"run": None, "history": []}
    assert "No run" in client.get("/plots/").text
    assert client.get("/blog.md").status_code == 404


def test_the_article_shows_its_figures_and_nothing_else_of_the_folder(reach) -> None:
    client = reach(write_up=str(ROOT / "docs" / "blog.md"))
    article = client.get("/blog.md")
    named = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", article.text)
    assert named
    for link in named:
        answer = client.get(str(article.url.join(link)))
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
        assert answer.content == (ROOT / "docs" / link).read_bytes()
    others = {path.name for path in (ROOT / "docs" / "figures").iterdir()}
    others -= {Path(link).name for link in named}
    assert "page.png" in others
    away = ["..%2Fblog.md", "%2e%2e/blog.md", "..%2F..%2Frun.py", "%2Fetc%2Fpasswd", ""]
    for name in [*others, *away]:
        assert client.get(f"/figures/{name}").status_code == 404, name


def test_a_run_that_comes_later_is_found(tmp_path: Path) -> None:
    now = [0.0]
    newest = NewestRun(tmp_path, clock=lambda: now[0])
    assert newest.folder() is None
    run = leave_run(tmp_path, "grpo/1", 1_000)
    now[0] = 60.0
    assert newest.folder() == run and set(newest.files()) == {"curves.png", "training_history.json"}


def test_a_run_that_was_deleted_is_not_looked_for_again(reach, tmp_path: Path) -> None:
    run = leave_run(tmp_path, "grpo/1", 1_000)
    client = reach(outputs=str(tmp_path))
    assert client.get("/api/training").json()["run"] == "grpo/1"
    shutil.rmtree(run)
    told = client.get("/api/training")
    assert told.status_code == 200 and told.json() == {"run": None, "history": []}


def test_who_serves_plays_on_its_thread_alone(catalogue) -> None:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(warm_up, catalogue).result()
        assert thread.submit(numba.get_num_threads).result() == 1
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS  # others play as before


def test_every_market_is_compiled_before_anybody_is_served(catalogue, monkeypatch) -> None:
    played = []
    play = DesignEnv.advance
    monkeypatch.setattr(
        DesignEnv, "advance", lambda env, each: played.append(env.settings.rules) or play(env, each)
    )
    with ThreadPoolExecutor(1) as thread:
        thread.submit(warm_up, catalogue).result()
    assert set(played) == set(MARKET_RULES)


def test_the_page_and_its_parts_are_served(reach) -> None:
    client = reach()
    assert "<title>Daedalus" in client.get("/").text
    assert client.get("/page/index.html").status_code == 200
    for path in ("/page/..%2ftour.py", "/page/%2e%2e/tour.py", "/page/%2fetc/passwd"):
        assert client.get(path).status_code == 404


def test_the_tour_visits_what_is_on_offer_with_rules_that_the_api_takes(catalogue) -> None:
    offered = replace(catalogue, populations=catalogue.populations | {"stage1": population(1)})
    with TestClient(create_app(ServiceSettings(), offered, None)) as client:
        (stop,) = client.get("/api/tour").json()["stops"]
        assert stop["name"] == "bid_shading" and stop["changed"] == ["auction_type"]
        chosen = ("population", "market", "seed", "n_agents")
        begin = {"session_id": "a"} | {name: stop[name] for name in chosen}
        assert client.post("/reset", json=begin).status_code == 200
        for rules in ("hurt", "fixed"):
            body = {"session_id": "a", "action": stop[rules]}
            assert client.post("/step", json=body).status_code == 200
