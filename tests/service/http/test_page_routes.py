"""The page's routes: the offer, the newest run, the article and the tour."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from daedalus.design.designers.random import RandomDesigner
from daedalus.service.page.page_messages import Offer
from tests.populations import in_both_markets
from tests.service.page.test_newest_run import leave_run

ROOT = Path(__file__).parents[3]


def test_the_offer_is_what_the_api_takes(reach) -> None:
    client = reach(designers={"random": RandomDesigner()})
    offer = Offer(**client.get("/api/catalogue").json())
    assert [each.name for each in offer.designers] == ["trained", "random"]
    assert [each.name for each in offer.populations] == ["stage0", "stage3", "stage4"]
    action = {each.name: each.default for each in offer.fields}
    assert len(action) == 11 and all(each.meaning for each in offer.fields)
    client.post("/reset", json={"session_id": "a"} | offer.default.model_dump())
    assert client.post("/step", json={"session_id": "a", "action": action}).status_code == 200


def test_the_newest_run_is_shown_and_nothing_else_of_it(reach, tmp_path: Path) -> None:
    leave_run(tmp_path, "grpo/old", 1_000)
    leave_run(tmp_path, "sweeps/grpo/new/0", 2_000)
    client = reach(outputs=str(tmp_path))
    assert client.get("/api/training").json() == {
        "run": "sweeps/grpo/new/0",
        "history": [{"step": 1.0, "reward": 0.5, "entropy": None}],
        "scores": [],
    }
    page = client.get("/plots/").text
    assert '<img src="curves.png"' in page and 'href="training_history.json"' in page
    assert "config" not in page
    assert client.get("/plots/curves.png").content == b"picture"
    for name in ("config.yaml", "..%2Fconfig.yaml", "%2Fetc%2Fpasswd", "figures"):
        assert client.get(f"/plots/{name}").status_code == 404


def test_a_server_without_runs_says_so(reach, tmp_path: Path) -> None:
    client = reach(outputs=str(tmp_path / "none"), write_up=str(tmp_path / "none.md"))
    assert client.get("/api/training").json() == {"run": None, "history": [], "scores": []}
    assert "No run" in client.get("/plots/").text
    answer = client.get("/read/blog.md")
    assert answer.status_code == 404 and "this server has no article" in answer.text


@pytest.mark.slow
def test_every_link_and_figure_of_the_documents_works(reach) -> None:
    client = reach(write_up=str(ROOT / "docs" / "blog.md"))
    waiting, read = ["/read/blog.md"], set()
    while waiting:
        path = waiting.pop()
        answer = client.get(path)
        assert answer.status_code == 200, path
        read.add(path)
        if path.endswith(".png"):
            assert answer.headers["Content-Type"] == "image/png"
            continue
        anchors = set(re.findall(r'id="([^"]+)"', answer.text))
        for link in re.findall(r'(?:href|src)="([^"]+)"', answer.text.split("<main>")[1]):
            target = answer.url.join(link)
            if target.host != answer.url.host:
                continue
            if target.path == path:
                assert not target.fragment or target.fragment in anchors, (path, link)
            elif target.path not in read:
                waiting.append(target.path)
    assert {"/read/results.md", "/read/figures/benchmark_scores.png"} <= read
    for name in ("..%2FREADME.md", "%2Fetc%2Fpasswd", "blog", "figures"):
        assert client.get(f"/read/{name}").status_code == 404, name
        assert client.get(f"/read/figures/{name}").status_code == 404, name


def test_the_documents_show_their_figures_and_nothing_else_of_the_folder(
    reach, tmp_path: Path
) -> None:
    (tmp_path / "figures").mkdir()
    for name in ("one", "two", "three"):
        (tmp_path / "figures" / f"{name}.png").write_bytes(name.encode())
    (tmp_path / "blog.md").write_text("![first](figures/one.png) [more](more.md)")
    (tmp_path / "more.md").write_text("![second](figures/two.png)")
    client = reach(write_up=str(tmp_path / "blog.md"))
    for document, name in (("blog", "one"), ("more", "two")):
        page = client.get(f"/read/{document}.md")
        (link,) = re.findall(r'src="([^"]+)"', page.text)
        answer = client.get(str(page.url.join(link)))
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
        assert answer.content == name.encode()
    away = ["..%2Fblog.md", "%2e%2e/blog.md", "..%2F..%2Frun.py", "%2Fetc%2Fpasswd", ""]
    for name in ["three.png", *away]:
        assert client.get(f"/read/figures/{name}").status_code == 404, name


def test_the_tour_visits_what_is_on_offer_with_mechanisms_that_the_api_takes(
    reach, catalogue
) -> None:
    populations = catalogue.populations | {"stage1": in_both_markets(1)}
    markets = catalogue.markets | {"fresh": catalogue.markets["strategic"]}
    offered = replace(catalogue, populations=populations, markets=markets)
    client = reach(offered=offered)
    (stop,) = client.get("/api/tour").json()["stops"]
    assert stop["name"] == "bid_shading" and stop["changed"] == ["auction_type"]
    chosen = ("population", "market", "seed", "n_agents")
    begin = {"session_id": "a"} | {name: stop[name] for name in chosen}
    assert client.post("/reset", json=begin).status_code == 200
    for name in ("hurt", "fixed"):
        body = {"session_id": "a", "action": stop[name]}
        assert client.post("/step", json=body).status_code == 200


def test_the_page_has_every_endpoint_with_what_it_takes(client) -> None:
    assert "<title>Daedalus" in client.get("/").text
    page, described = client.get("/docs").text, client.get("/openapi.json").json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert f"<code>{method.upper()} {path}</code>" in page
            assert operation["summary"] in page
    for name in ("session_id", "mechanism", "population_proxies", "csv"):
        assert f"<code>{name}</code>" in page
    assert "<script" not in page
