"""Training over OpenEnv: prompts and rewards are the market's, and GRPO learns from them."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings, prompts
from daedalus.market.allowed import read_allowed
from daedalus.market.goal import Goal
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import PROXIES
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import market_seeds
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.remote import RemoteMarket
from daedalus.training.algorithms.sft.settings import SftSettings
from daedalus.training.algorithms.sft.trainer import train_sft
from daedalus.training.checkpoints import export
from daedalus.training.model import load_language_model, make_language_model
from daedalus.training.settings import ModelSettings
from tests.populations import population
from tests.service.conftest import documented, serving
from tests.service.generated import FOUR
from tests.training.conftest import make_run

FULL = PromptSettings(
    averages=["revenue_share", "fairness"], proxies=list(PROXIES), mechanism=True, compact=True
)


def here(stage: int) -> DesignEnv:
    return DesignEnv.of(MarketSettings(), population(stage))


def said(*texts: str) -> list[list[dict[str, str]]]:
    return [[{"role": "assistant", "content": text}] for text in texts]


def test_prompts_are_those_of_the_market(address: str) -> None:
    env = here(4)
    for prompt in (PromptSettings(), FULL):
        with DaedalusClient(base_url=address).sync() as session:
            rows = RemoteMarket(session, prompt, population="stage4").prompts([3, 8])
        for row, seed in zip(rows, (3, 8), strict=True):
            seen = env.reset(market_seeds(seed, "service", 1)).observe()
            chat = prompts(seen, prompt)[0]
            assert row == {"prompt": chat, "seed": seed}


WRITTEN = {"auction_type": ["vcg"]}
ALLOWED = read_allowed(WRITTEN)


@pytest.mark.parametrize(
    ("server", "goal", "options"),
    [({}, Goal(allowed=ALLOWED), {}), ({}, None, {"allowed": WRITTEN}), (ALLOWED, None, {})],
    ids=["goal", "options", "server"],
)
def test_prompts_and_rewards_follow_what_is_allowed(
    catalogue: Catalogue, server: dict, goal: Goal | None, options: dict[str, Any]
) -> None:
    explained = replace(FULL, explained=True)
    texts = [format_mechanism(Mechanism(each)) for each in ("vcg", "first_price")]
    with (
        serving(replace(catalogue, allowed=server)) as address,
        DaedalusClient(base_url=address).sync() as session,
    ):
        market = RemoteMarket(session, explained, goal, population="stage4", **options)
        (row,) = market.prompts([3])
        assert session.state().allowed == WRITTEN
        seen = replace(here(4), allowed=ALLOWED).reset(market_seeds(3, "service", 1))
        assert row["prompt"] == prompts(seen.observe(), explained)[0]
        paid = market.reward(said(*texts), [3, 3])
        assert paid[0] > 0 and paid[1] == 0


def test_rewards_are_those_of_the_market(address: str) -> None:
    env = here(0)
    texts = [format_mechanism(each) for each in FOUR]
    for seed in (3, 8):
        episode = env.reset(market_seeds(seed, "service", 1))
        starts = episode.fork(np.zeros(len(FOUR), np.int64))
        expected = starts.step(Mechanisms.stack(FOUR)).reward
        with DaedalusClient(base_url=address).sync() as session:
            market = RemoteMarket(session, PromptSettings(), population="stage0")
            rewards = market.reward(said(*texts, "{}", "no"), [seed] * 6, prompts=None)
        assert rewards == pytest.approx([*expected, 0.0, 0.0])
        assert len(set(rewards)) > 3


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Leave a small model that has learnt to write a few mechanisms."""
    env, prompt, folder = here(4), PromptSettings(), tmp_path_factory.mktemp("writer")
    settings = ModelSettings(hidden_size=64, layers=2, heads=2, intermediate_size=128)
    seen = env.reset(market_seeds(0, "x", 64)).observe()
    answers = said(*(format_mechanism(FOUR[row % len(FOUR)]) for row in range(64)))
    pairs = Dataset.from_dict({"prompt": prompts(seen, prompt), "completion": answers})
    sft = SftSettings(steps=60, batch_size=16, learning_rate=1e-2, warmup_steps=5)
    model = make_language_model(settings, prompt, env, seed=0)
    model = train_sft(model, pairs, sft, make_run(env, folder, sft, settings))
    export(model, prompt, "", folder / "model")
    return folder / "model"


@pytest.mark.slow
def test_grpo_learns_from_the_server(
    address: str, writer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[list, list[int], list[float]]] = []
    ask = RemoteMarket.reward

    @functools.wraps(ask)
    def recorded(market: RemoteMarket, completions: list, seed: list[int], **columns: Any) -> list:
        given.append((completions, seed, ask(market, completions, seed, **columns)))
        return given[-1][-1]

    monkeypatch.setattr(RemoteMarket, "reward", recorded)
    changes = {
        "http://127.0.0.1:8000": address,
        "RUN/model": str(writer),
        "outputs/remote": str(tmp_path),
        "max_steps=100": "max_steps=3",
        "train_batch_size=32": "train_batch_size=16",
        "range(1000)": "range(8)",
    }
    names: dict[str, Any] = {}
    exec(documented("RemoteMarket(session", changes), names)
    logged = [each["reward"] for each in names["trainer"].state.log_history if "reward" in each]
    assert len(given) == len(logged) == 3
    with DaedalusClient(base_url=address).sync() as session:
        market = RemoteMarket(session, PromptSettings(), population="stage4")
        for (completions, seeds, rewards), mean in zip(given, logged, strict=True):
            assert ask(market, completions, seeds) == rewards
            assert np.mean(rewards) == pytest.approx(mean, abs=1e-6)
            groups = np.reshape(rewards, (-1, 8))
            assert len(np.unique(np.reshape(seeds, (-1, 8)), axis=1)[0]) == 1
            assert groups.std(axis=1).max() > 0.0 and len(set(groups.mean(axis=1))) == len(groups)
    before, after = (load_language_model(each).model for each in (writer, tmp_path / "model"))
    assert not torch.equal(before.lm_head.weight, after.lm_head.weight)
    assert (tmp_path / "model" / "prompt.json").exists()
