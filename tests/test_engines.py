"""Engines of others: verifiers plays the service, and other processes load the reward."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import verifiers
from verifiers.types import ClientConfig

from daedalus.env import DesignEnv
from daedalus.language.prompt import observation_texts
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import market_seeds
from daedalus.search.states import RandomWalkDesigner
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.tool_market import ENDED
from daedalus.training.sources.states import state_source
from deploy.verifiers_market import PROMPT
from experiments.build import make_env
from tests.designers import chat_double
from tests.designers.chat_double import Reply
from tests.populations import population
from tests.service.conftest import catalogue, serving  # noqa: F401  # catalogue is a fixture
from tests.training.conftest import make_run

ROOT = Path(__file__).parents[1]
STEPS, SEEDS = 3, (5, 6)
RULES = [
    Mechanism(auction_type="first_price", reserve_price=0.2),
    Mechanism(auction_type="vcg", coalition_policy="restrict"),
    Mechanism(collusion_penalty=3.0, coalition_policy="penalize_suspected"),
]


VERL = """
score = compute_score("market", answer, "3")
assert "torch" not in sys.modules
print(score)
"""


def answer(_: int, body: dict[str, Any]) -> Reply:
    """Answer each turn with a mechanism of its own."""
    turn = sum(each["role"] == "assistant" for each in body["messages"])
    return Reply(format_mechanism(RULES[turn]))


def played(seed: int, steps: int) -> tuple[list[str], float]:
    """Return what the model is told in the first steps of an episode, and their reward."""
    env = DesignEnv.of(MarketSettings(episode_length=STEPS), population(4))
    episode = env.reset(market_seeds(seed, "service", 1))
    seen = [episode.observe()]
    rewards = []
    for mechanism in RULES[:steps]:
        rewards.append(float(episode.step(Mechanisms.stack([mechanism])).reward[0]))
        seen.append(episode.observe())
    return [observation_texts(each, PROMPT)[0] for each in seen], sum(rewards) / STEPS


@pytest.fixture
def service(catalogue: Catalogue) -> Iterator[str]:  # noqa: F811
    with serving(catalogue, websocket_sessions=len(SEEDS)) as address:
        yield address


def rollouts(service: str, respond: chat_double.Respond) -> list[dict[str, Any]]:
    """Let a model play an episode of each seed, and return its rollouts in order."""
    environment = verifiers.load_environment(
        "deploy.verifiers_market",
        server=service,
        episodes=len(SEEDS),
        first_seed=SEEDS[0],
        population="stage4",
        episode_length=STEPS,
    )
    with chat_double.serving(respond) as model:
        client = ClientConfig(api_base_url=model.url)
        found = environment.evaluate_sync(client, "m", num_examples=len(SEEDS))
    return sorted(found["outputs"], key=lambda each: int(each["example_id"]))


def test_verifiers_plays_episodes_of_the_service(service: str) -> None:
    for _ in range(2):  # the second time, the service has its sessions back
        for seed, rollout in zip(SEEDS, rollouts(service, answer), strict=True):
            told, reward = played(seed, STEPS)
            assert rollout["reward"] == pytest.approx(reward, abs=1e-12)
            chat = [*rollout["prompt"], *rollout["completion"]]
            heard = [each["content"] for each in chat if each["role"] == "user"]
            assert heard == [*told[:STEPS], ENDED]
            assert "Answer with one JSON object" in chat[0]["content"]


def test_an_answer_that_is_no_mechanism_ends_the_episode(service: str) -> None:
    def falter(number: int, body: dict[str, Any]) -> Reply:
        told = answer(number, body)
        return told if len(body["messages"]) == 2 else Reply("a fine market")

    for seed, rollout in zip(SEEDS, rollouts(service, falter), strict=True):
        assert rollout["reward"] == pytest.approx(played(seed, 1)[1], abs=1e-12)
        assert rollout["completion"][-1]["content"] == ENDED


@pytest.mark.slow
def test_the_command_of_verifiers_takes_the_environment(service: str, tmp_path: Path) -> None:
    options = {"server": service, "population": "stage4", "episode_length": STEPS}
    command = Path(sys.executable).with_name("vf-eval")
    with chat_double.serving(answer) as model:
        done = subprocess.run(
            [command, "deploy.verifiers_market", "-m", "m", "-b", model.url, "-n", "1", "-r", "1",
             "-a", json.dumps(options | {"first_seed": SEEDS[0]}), "-k", "KEY", "-s"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT), "KEY": "none"},
            capture_output=True,
            text=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (results,) = tmp_path.rglob("results.jsonl")
    (rollout,) = [json.loads(line) for line in results.read_text().splitlines()]
    assert rollout["reward"] == pytest.approx(played(SEEDS[0], STEPS)[1], abs=1e-12)


@pytest.mark.slow
def test_the_page_s_scripts_hand_the_reward_to_verl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "scale.md").read_text()
    ours, theirs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(ours, names)
    rows = [json.loads(line) for line in Path("prompts.jsonl").read_text().splitlines()]
    assert [row["state"] for row in rows] == list(range(names["settings"].states))
    config = names["config"]
    run = make_run(make_env(config), tmp_path, config.training)
    source = state_source(run, config.training.grpo, RandomWalkDesigner())
    assert rows[3]["prompt"] == source.prompts[3]["prompt"]
    text = format_mechanism(RULES[2])
    script = f"import sys\nanswer = {text!r}\n{theirs}{VERL}"
    path = {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=os.environ | path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    step = SimpleNamespace(global_step=0)
    size = config.training.grpo.group_size
    chats = [[{"role": "assistant", "content": text}]] * size
    logged: dict[str, float] = {}
    trained = source.reward(chats, [3] * size, step, logged.__setitem__)
    assert [float(done.stdout)] * size == trained and logged["validity"] == 1.0
