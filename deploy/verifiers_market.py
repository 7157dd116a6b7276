"""The market as an environment of verifiers, for prime-rl and other engines that use it.

With a service on port 8000, from the root of the repository:
``PYTHONPATH=. vf-eval deploy.verifiers_market -m MODEL -b ADDRESS/v1``
"""

from __future__ import annotations

import asyncio
from typing import Any

import verifiers as vf
from datasets import Dataset

from daedalus.language.prompt import PromptSettings, explained
from daedalus.market.parsing import parse_mechanism
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.tool_market import ENDED, ToolMarket

PROMPT = PromptSettings(proxies=["bid_mean", "bid_std", "dropout_rate"])


class MarketEnvironment(vf.MultiTurnEnv):
    """Lets a model play an episode in each rollout: it answers each observation with a mechanism.

    An answer that is no mechanism ends the episode. The reward is that of ``ToolMarket``: the mean
    over the episode's steps, 0 to 1, where a step that is not played earns 0.

    Args:
        server: Address of the service. Each rollout takes one of its ``websocket_sessions``.
        seeds: Seeds of the episodes, a row of the data set for each.
        **options: Options of every reset beside its seed, see ``DaedalusClient``.
    """

    def __init__(self, server: str, seeds: range, **options: Any) -> None:
        self._server = server
        self._options = options
        chat = [{"role": "system", "content": explained(PROMPT)}]
        rows = [{"prompt": chat, "info": {"seed": seed}} for seed in seeds]
        super().__init__(dataset=Dataset.from_list(rows), rubric=vf.Rubric([episode_reward]))

    async def setup_state(self, state: vf.State) -> vf.State:
        """Begin the episode of the row's seed, and show the model its market."""
        state["session"] = DaedalusClient(base_url=self._server).sync()
        await asyncio.to_thread(state["session"].connect)
        state["market"] = ToolMarket(state["session"], PROMPT, **self._options)
        told = await asyncio.to_thread(state["market"].reset, state["info"]["seed"])
        state["prompt"] = [*state["prompt"], {"role": "user", "content": told}]
        return state

    async def env_response(
        self, messages: vf.Messages, state: vf.State, **kwargs: Any
    ) -> vf.Messages:
        """Play a step under the model's mechanism, and return what happened."""
        mechanism = parse_mechanism(str(messages[-1]["content"])).mechanism
        told = ENDED
        if mechanism is not None:
            told = await asyncio.to_thread(state["market"].set_rules, **mechanism.to_dict())
        answer = [{"role": "user", "content": told}]
        if told == ENDED:
            state["final_env_response"] = answer
        return answer

    @vf.cleanup
    async def leave(self, state: vf.State) -> None:
        """Give the session back to the service."""
        await asyncio.to_thread(state["session"].close)


async def episode_reward(state: vf.State) -> float:
    """Return the reward of the episode that a rollout has played."""
    return float(state["market"].get_reward())


def load_environment(
    server: str = "http://127.0.0.1:8000", episodes: int = 1000, first_seed: int = 0, **options: Any
) -> MarketEnvironment:
    """Return the environment; verifiers and its engines call this with their arguments."""
    return MarketEnvironment(server, range(first_seed, first_seed + episodes), **options)
