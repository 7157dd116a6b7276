"""The trained designer in the background: it answers, or the heuristic one does and says why."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import requests

from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.design.designers.purpose import Purpose, read_purpose
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.launch.from_config import load_generate
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.runs.pretrained import FOLDER
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.messages import PartialObservation
from daedalus.service.openenv.observations import from_wire
from daedalus.service.sessions.background_designer import MAX_QUOTED, BackgroundDesigner
from daedalus.service.sessions.session_messages import DesignAnswer
from tests.launch.config.composing import composed
from tests.runs.trained_runs import leave_trained_run
from tests.service.conftest import documented, serving, settled
from tests.untrained import leave_untrained_model

ANSWER = format_mechanism(Mechanism(auction_type="vcg", reserve_price=0.33))


def told(seen: list, prompt: PromptSettings):
    """Return what loads a model that says ``ANSWER`` and leaves the chats in ``seen``."""

    def generate(chats, rng, goals):
        seen.extend(chats)
        return [ANSWER]

    return lambda: (generate, prompt)


def saying(text: str, prompt: PromptSettings | None = None):
    """Return what loads a model that always says the same."""
    return lambda: (lambda chats, *_: [text] * len(chats), prompt or PromptSettings())


def test_the_model_answers_with_its_own_words(reach) -> None:
    client = reach(saying(ANSWER))
    assert settled(client) == "ready"
    answer = DesignAnswer(**client.post("/api/design", json={}).json())
    assert (answer.source, answer.status, answer.error) == ("ai", "ready", None)
    assert answer.mechanism.to_mechanism() == Mechanism(auction_type="vcg", reserve_price=0.33)
    assert answer.text == ANSWER and answer.latency >= 0.0


def test_the_model_sees_what_the_request_tells(reach) -> None:
    seen: list = []
    client = reach(told(seen, PromptSettings(rounds=1, proxies=["bid_mean"])))
    settled(client)
    outcome = {"welfare": 0.5, "fairness": 0.25, "participation": 1.0}
    body = {"round_number": 3, "market_outcomes": [outcome]}
    answer = client.post("/api/design", json=body).json()
    assert answer["source"] == "fallback" and "bid_mean" in answer["error"]
    client.post("/api/design", json=body | {"population_proxies": {"bid_mean": 0.7}})
    client.post("/reset", json={"session_id": "a", "seed": 1})
    assert client.post("/api/design", json={"session_id": "a"}).json()["source"] == "ai"
    first, second = (chat[1]["content"] for chat in seen)
    assert "round_number: 3 / 10" in first and "fairness:0.25" in first and "0.70" in first
    assert "round_number: 0 / 10" in second


def test_a_model_that_reads_the_mechanism_in_force_must_get_it(reach) -> None:
    seen: list = []
    client = reach(told(seen, PromptSettings(mechanism=True)))
    settled(client)
    untold = client.post("/api/design", json={"round_number": 3}).json()
    assert untold["source"] == "fallback" and "mechanism" in untold["error"] and not seen
    known = client.post("/api/design", json={"mechanism": {"reserve_price": 0.35}}).json()
    assert known["source"] == "ai" and '"reserve_price":0.35' in seen[0][1]["content"]
    client.post("/reset", json={"session_id": "a", "seed": 1})
    assert client.post("/api/design", json={"session_id": "a"}).json()["source"] == "ai"


def broken(*_):
    raise OSError("/secret/path/model.bin")


@pytest.mark.parametrize(
    ("load", "status", "why"),
    [
        (None, "none", "no designer has been trained"),
        (broken, "failed", "log says why"),
        (lambda: (broken, PromptSettings()), "ready", "log says why"),
        (saying("I would rather not."), "ready", "no valid mechanism"),
        (saying('{"reserve_price": 2}'), "ready", "0.0 to 0.9"),
    ],
)
def test_otherwise_the_heuristic_answers_and_says_why(reach, load, status: str, why: str) -> None:
    client = reach(load)
    assert settled(client) == status
    answer = client.post("/api/design", json={}).json()
    assert answer["source"] == "fallback"
    assert why in answer["error"] and "secret" not in answer["error"]
    assert tuple(answer["mechanism"]) == FIELDS


def test_a_long_or_broken_text_is_quoted_in_part(reach) -> None:
    client = reach(saying("<script>\ud800" + "x" * 30_000))
    settled(client)
    answer = client.post("/api/design", json={}).json()
    assert answer["source"] == "fallback" and len(answer["text"]) < MAX_QUOTED + 100
    assert answer["text"].startswith("<script>?xx")
    assert answer["text"].endswith(f"and {30_009 - MAX_QUOTED} more characters")
    assert len(answer["error"]) < 300


@pytest.mark.anyio
async def test_the_heuristic_reads_the_request() -> None:
    designer = BackgroundDesigner(None, 1.0, 1)
    for signal, expected in ((0.9, "first_price"), (0.1, "second_price")):
        told = PartialObservation(market_outcomes=[{"collusion_signal": signal}] * 5)
        answer = await designer.design(from_wire(told))
        assert answer.mechanism.auction_type == expected


def test_a_slow_model_keeps_nobody_waiting(reach) -> None:
    release = threading.Event()

    def generate(chats, rng, goals):
        release.wait(10)
        return [ANSWER]

    client = reach(
        lambda: (generate, PromptSettings()),
        design_timeout=0.3,
        session_timeout=60,
        design_queue=1,
    )
    settled(client)
    answers: list[dict] = []
    asking = threading.Thread(
        target=lambda: answers.append(client.post("/api/design", json={}).json())
    )
    asking.start()
    while client.get("/api/designer/status").json()["waiting"] == 0:
        time.sleep(0.005)
    began = time.perf_counter()
    client.post("/reset", json={"session_id": "a"})
    assert client.post("/step", json={"session_id": "a", "action": {}}).status_code == 200
    busy = client.post("/api/design", json={"round_number": 1}).json()
    assert time.perf_counter() - began < 5.0  # who waited for the model would wait for its 10 s
    assert "waiting for the model" in busy["error"]
    asking.join()
    assert "longer than 0.3 seconds" in answers[0]["error"]
    release.set()
    while client.get("/api/designer/status").json()["waiting"]:
        time.sleep(0.005)
    assert client.post("/api/design", json={}).json()["source"] == "ai"


@pytest.fixture
def untrained(catalogue: Catalogue, tmp_path: Path) -> Iterator[str]:
    """Serve a small model that has learnt nothing and writes mechanisms alone."""
    leave_untrained_model(tmp_path / "model")
    designer = LanguageModelSettings(checkpoint=str(tmp_path / "model"), constrained=True)
    with serving(catalogue, partial(designer.load, load_generate)) as address:
        yield address


@pytest.fixture
def shipped(catalogue: Catalogue) -> Iterator[str]:
    """Serve the model of the package."""
    designer = LanguageModelSettings(checkpoint=str(FOLDER))
    with serving(catalogue, partial(designer.load, load_generate)) as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("model", ["untrained", "shipped"])
def test_a_model_answers_the_published_script(
    model: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    address = request.getfixturevalue(model)
    settled(requests, address)
    exec(documented("/api/design", {"http://127.0.0.1:8000": address}), {})
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert [rest for _, *rest in lines] == [["ai", "None"]] * 10
    assert len({reward for reward, *_ in lines}) > 1


REVENUE = RewardStack({"revenue": 1.0})
STAGE3 = DesignEnv.of(MarketSettings(), composed("task=compare").population.in_market("strategic"))


def trained_for(folder: Path, *overrides: str) -> Purpose:
    purpose = read_purpose(leave_trained_run(folder, *overrides))
    assert purpose is not None
    return purpose


async def asked(
    designer: BackgroundDesigner, reward: RewardStack, env: DesignEnv = STAGE3, name: str = "stage3"
) -> DesignAnswer:
    while designer.status == "loading":
        await asyncio.sleep(0.01)
    outcome = {"welfare": 0.5, "fairness": 0.5, "participation": 0.5}
    told = PartialObservation(market_outcomes=[outcome])
    return await designer.design(from_wire(told), None, replace(env, reward=reward), name)


@pytest.mark.anyio
async def test_a_model_of_another_objective_or_of_other_bidders_says_so(tmp_path: Path) -> None:
    purpose = trained_for(tmp_path, "+experiment=grpo_stage3", "market=fresh")
    env = replace(STAGE3, settings=purpose.market)
    designer = BackgroundDesigner(saying(ANSWER), 5.0, 1, purpose, "; ask search")
    other, own = await asked(designer, REVENUE, env), await asked(designer, RewardStack(), env)
    known = "it was trained for R with the bidders of stage3, and not"
    assert (other.source, other.note) == ("ai", f"{known} for revenue; ask search")
    assert own.note is None
    twelve = env.with_population(env.market.population.of_size(12))
    more = await asked(designer, RewardStack(), twelve)
    assert more.note == f"{known} with 12 of stage3; ask search"
    unknown = await asked(BackgroundDesigner(saying(ANSWER), 5.0, 1), REVENUE)
    assert unknown.source == "ai" and unknown.note is None


@pytest.mark.anyio
async def test_a_model_of_many_objectives_is_asked_for_that_of_the_episode(tmp_path: Path) -> None:
    seen: list = []
    prompt = PromptSettings(weights=["revenue", "welfare"])
    purpose = trained_for(tmp_path, "+experiment=grpo_objectives", "market=fresh")
    designer = BackgroundDesigner(told(seen, prompt), 5.0, 1, purpose)
    env = replace(STAGE3, settings=purpose.market)
    answer = await asked(designer, REVENUE, env)
    assert (answer.source, answer.note) == ("ai", None)
    assert "objective: {revenue:1.00,welfare:0.00}" in seen[0][1]["content"]
    refused = await asked(designer, RewardStack(), env)
    assert refused.source == "fallback" and refused.error is not None
    assert "trained for weights of revenue, welfare, and not for composite" in refused.error


@pytest.mark.anyio
async def test_a_model_and_its_fallback_follow_what_the_episode_allows() -> None:
    asked_for: list = []

    def generate(chats, rng, goals):
        asked_for.extend(goals)
        only = goals[0].values("auction_type")
        return [format_mechanism(Mechanism(only[0]))]

    designer = BackgroundDesigner(lambda: (generate, PromptSettings()), 5.0, 2)
    for only in ("vcg", "first_price"):  # the prompts are the same, and the answers are not
        env = replace(STAGE3, allowed={"auction_type": (only,)})
        answer = await asked(designer, RewardStack(), env)
        assert (answer.source, answer.mechanism.auction_type) == ("ai", only)
        fallback = await asked(BackgroundDesigner(None, 5.0, 2), RewardStack(), env)
        assert (fallback.source, fallback.mechanism.auction_type) == ("fallback", only)
    assert len(asked_for) == 2
    env = replace(STAGE3, allowed={"auction_type": ("vcg",)})
    designer = BackgroundDesigner(saying(format_mechanism(Mechanism())), 5.0, 1)
    refused = await asked(designer, RewardStack(), env)
    assert refused.source == "fallback" and "write vcg" in str(refused.error)
    assert refused.mechanism.auction_type == "vcg"
    designer.close()


@pytest.mark.anyio
async def test_a_model_that_reads_no_briefs_leaves_them_to_the_heuristic_one() -> None:
    env = replace(STAGE3, brief="We need money.")
    for prompt, source in ((PromptSettings(compact=True), "fallback"), (PromptSettings(), "ai")):
        answer = await asked(BackgroundDesigner(saying(ANSWER, prompt), 5.0, 2), RewardStack(), env)
        assert answer.source == source
        assert answer.error == {"ai": None}.get(
            source, "the model reads no briefs, and the episode has one"
        )
