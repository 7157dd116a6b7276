"""Tool-calling GRPO: the model plays whole episodes of a server by calling a function."""

from __future__ import annotations

import functools
import inspect
import json
import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import AddedToken
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer
from transformers.utils import get_json_schema
from trl.chat_template_utils import qwen2_5_chat_template

from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings, observation_texts
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import AUCTION_TYPES, EFFECTS, FIELDS, Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from daedalus.service.openenv import tool_market
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.tool_market import ENDED, ToolMarket, tool_prompts
from daedalus.training.tokenizer import build_tokenizer
from tests.populations import population
from tests.service.conftest import documented, serving
from tests.service.generated import FOUR

PROMPT = PromptSettings()


def test_the_tool_is_the_mechanism() -> None:
    tool = get_json_schema(ToolMarket(None, PROMPT).set_rules)["function"]  # type: ignore[arg-type]
    arguments = tool["parameters"]["properties"]
    assert (tool["name"], list(arguments)) == ("set_rules", list(FIELDS))
    assert arguments["auction_type"]["enum"] == list(AUCTION_TYPES)
    assert "number from 0.0 to 0.9" in arguments["reserve_price"]["description"]
    assert arguments["reveal_reserve"] == {
        "type": "boolean",
        "description": EFFECTS["reveal_reserve"],
    }
    assert "required" not in tool["parameters"]


def test_the_tool_offers_and_takes_what_is_allowed(address: str) -> None:
    written = {"auction_type": ["vcg"], "reserve_price": {"min": 0.2, "max": 0.4}}
    written |= {"reveal_reserve": [False]}
    with DaedalusClient(base_url=address).sync() as session:
        market = ToolMarket(session, PROMPT, allowed=written)
        tool = get_json_schema(market.set_rules)["function"]
        arguments = tool["parameters"]["properties"]
        assert (tool["name"], list(arguments)) == ("set_rules", list(FIELDS))
        assert arguments["auction_type"]["enum"] == ["vcg"]
        assert "number from 0.2 to 0.4" in arguments["reserve_price"]["description"]
        assert arguments["reveal_reserve"]["description"].endswith("; false")
        tools = dict(inspect.getmembers(market, predicate=inspect.ismethod))
        assert tools["set_rules"] == market.set_rules  # as TRL looks for tools
        market.reset(seed=3)
        assert session.state().allowed == written
        for rules, said in (
            ({"auction_type": "first_price"}, "auction_type: 'first_price' is not allowed; write"),
            ({"reserve_price": 0.5}, "reserve_price: 0.5 is not allowed; give a number from 0.2"),
        ):
            with pytest.raises(ValueError, match=re.escape(said)):
                market.set_rules(**rules)
        market.set_rules(reserve_price=0.3)
        played = session.state().mechanism.to_mechanism()
        assert played == Mechanism("vcg", 0.3, reveal_reserve=False)


def test_an_episode_is_that_of_the_market(address: str) -> None:
    env = DesignEnv.of(MarketSettings(), population(4))
    (row,) = tool_prompts([3], PROMPT)
    assert "set_rules" in row["prompt"][0]["content"] and "JSON" not in row["prompt"][0]["content"]
    with DaedalusClient(base_url=address).sync() as session:
        market = ToolMarket(session, PROMPT, population="stage4", episode_length=3)
        for played in (3, 1):  # an episode cut short earns nothing for the rest
            episodes = env.reset(market_seeds(3, "service", 1))
            rewards = []
            told = market.reset(**row)
            for mechanism in FOUR[:played]:
                expected = observation_texts(episodes.observe(), PROMPT)[0].replace(" / 10", " / 3")
                assert told == expected
                told = market.set_rules(**mechanism.to_dict())
                rewards.append(float(episodes.step(Mechanisms.stack([mechanism])).reward[0]))
            assert market.get_reward() == pytest.approx(sum(rewards) / 3)
            assert (told == ENDED) == (played == 3)
        with pytest.raises(ValueError, match="reserve_price"):
            market.set_rules(reserve_price=2.0)
        market.reset(**row)
        assert [market.set_rules() for _ in range(5)][2:] == [ENDED] * 3


def test_what_the_server_refuses_is_told_and_costs_no_episode(catalogue: Catalogue) -> None:
    strict = replace(catalogue, allowed={"auction_type": ("vcg",)})
    with serving(strict) as address, DaedalusClient(base_url=address).sync() as session:
        market = ToolMarket(session, PROMPT, population="stage4", episode_length=3)
        market.reset(seed=3)
        with pytest.raises(ValueError, match="auction_type: 'first_price' is not allowed; write"):
            market.set_rules(auction_type="first_price")
        market.set_rules(auction_type="vcg")
        assert market.get_reward() > 0


@pytest.mark.parametrize("lost", ["session", "server"])
def test_an_episode_in_which_the_server_fails_has_no_reward(
    lost: str, catalogue: Catalogue
) -> None:
    with ExitStack() as servers:
        address = servers.enter_context(serving(catalogue))
        with DaedalusClient(base_url=address).sync() as session:
            market = ToolMarket(session, PROMPT, population="stage4", episode_length=3)
            market.reset(seed=3)
            market.set_rules()
            session.disconnect() if lost == "session" else servers.close()
            for _ in range(2):
                with pytest.raises((RuntimeError, OSError), match=r"no episode|connect|close"):
                    market.set_rules()  # which TRL tells the model
            with pytest.raises(RuntimeError, match="the server failed in an episode"):
                market.get_reward()
            if lost == "session":
                market.reset(seed=3)
                market.set_rules()
                assert market.get_reward() > 0


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Leave a small model with Qwen's chat template that calls the function whatever it reads."""
    torch.manual_seed(0)
    tool = get_json_schema(ToolMarket(None, PROMPT).set_rules)  # type: ignore[arg-type]
    (row,) = tool_prompts([0], PROMPT)
    render = functools.partial(
        Qwen2Tokenizer.apply_chat_template, chat_template=qwen2_5_chat_template, tools=[tool]
    )
    question = render(Qwen2Tokenizer(), row["prompt"], tokenize=False, add_generation_prompt=True)
    pieces = [call_of(each) for each in FOUR]
    tokenizer = build_tokenizer([question], 1200)
    new = {each for call in pieces for each in call}
    tokenizer.add_tokens([AddedToken(each, normalized=False) for each in new])
    tokenizer.chat_template = qwen2_5_chat_template
    model = small_model(tokenizer)
    texts = [question + "".join(each) + tokenizer.eos_token for each in pieces]
    tokens = tokenizer(texts, return_tensors="pt").input_ids
    labels = tokens.clone()
    labels[:, : -len(pieces[0]) - 1] = -100
    opening = tokenizer("<|im_start|>assistant\n", return_tensors="pt").input_ids.shape[1]
    told = tokens[:, : -len(pieces[0]) - 1 - opening]  # a view: what stands before the answer
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(100):
        optimizer.zero_grad()
        cut = int(torch.randint(told.shape[1], ()))
        model(tokens[:, cut:], labels=labels[:, cut:]).loss.backward()
        optimizer.step()
        told[:] = torch.randint(len(tokenizer), told.shape)
    folder = tmp_path_factory.mktemp("caller")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def call_of(mechanism: Mechanism) -> list[str]:
    """Return the text of a call in pieces, one for each field: each becomes a token."""
    fields = [f'"{name}": {json.dumps(value)}' for name, value in mechanism.to_dict().items()]
    opening = '<tool_call>\n{"name": "set_rules", "arguments": {'
    return [opening, *(f"{each}, " for each in fields[:-1]), fields[-1] + "}}\n</tool_call>"]


def small_model(tokenizer: Qwen2Tokenizer) -> Qwen2ForCausalLM:
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen2ForCausalLM(config)


@pytest.mark.slow
def test_grpo_trains_a_model_that_calls_the_tool(
    catalogue: Catalogue, caller: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes: list[tuple[int, list[dict[str, Any]], float]] = []
    played: dict[ToolMarket, tuple[int, list[dict[str, Any]]]] = {}

    class Recorded(ToolMarket):
        def reset(self, seed: int, **columns: Any) -> str:
            played[self] = (seed, [])
            return super().reset(seed, **columns)

        @functools.wraps(ToolMarket.set_rules)
        def set_rules(self, **rules: Any) -> str:
            told = ToolMarket.set_rules(self, **rules)
            played[self][1].append(rules)
            return told

        def get_reward(self) -> float:
            episodes.append((*played[self], super().get_reward()))
            return episodes[-1][-1]

    monkeypatch.setattr(tool_market, "ToolMarket", Recorded)
    with serving(catalogue, websocket_sessions=16) as address:
        changes = {
            "http://127.0.0.1:8000": address,
            "Qwen/Qwen2.5-1.5B-Instruct": str(caller),
            "outputs/tools": str(tmp_path),
            "max_steps=100": "max_steps=2, use_cpu=True, bf16=False, learning_rate=1e-3",
        }
        names: dict[str, Any] = {}
        exec(documented("environment_factory", changes), names)
        with DaedalusClient(base_url=address).sync() as session:
            market = ToolMarket(session, PROMPT, population="stage4", episode_length=4)
            for seed, rules, reward in episodes:
                market.reset(seed)
                for each in rules:
                    market.set_rules(**each)
                assert market.get_reward() == reward
    logged = [each for each in names["trainer"].state.log_history if "reward" in each]
    assert [each["reward"] for each in logged] == pytest.approx(
        [np.mean([reward for *_, reward in episodes[start : start + 16]]) for start in (0, 16)]
    )
    assert len(episodes) == 32 and max(len(rules) for _, rules, _ in episodes) > 1
    assert all(each["reward_std"] > 0.0 for each in logged)
    before, after = (AutoModelForCausalLM.from_pretrained(each) for each in (caller, tmp_path))
    assert not torch.equal(before.lm_head.weight, after.lm_head.weight)
