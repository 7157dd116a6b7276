"""The market as an environment of verifiers, for prime-rl and other engines that use it.

In an environment with ``requirements-evaluators.txt``, from the root of the repository:
``PYTHONPATH=.:deploy vf-eval verifiers-market -m MODEL --client.base-url ADDRESS/v1``
"""

from __future__ import annotations

from collections.abc import Iterable

import verifiers.v1 as vf
from openai import AsyncOpenAI
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from daedalus.design.env import DesignEnv
from daedalus.doors import public
from daedalus.doors.plugs.chat import ChatEpisode

__all__ = ["Asking", "Markets", "MarketsEnv"]


class MarketData(vf.TaskData):
    """One row: the seed of an episode."""

    seed: int


class MarketState(vf.State):
    """What the episode of a rollout has earned so far."""

    reward: float = 0.0
    valid: float = 0.0


class MarketTask(vf.Task[MarketData, MarketState]):
    """An episode to play."""

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        """Return the mean reward of the episode's steps; a step not played earns 0."""
        return float(trace.state.reward)

    @vf.metric
    async def valid(self, trace: vf.Trace) -> float:
        """Return the share of answers that held a mechanism."""
        return float(trace.state.valid)


class MarketsConfig(vf.TasksetConfig):
    """The bidders, and the seeds of the episodes."""

    population: str = "stage3"
    """The bidders, as in ``population=NAME``."""
    overrides: list[str] = Field(default_factory=list)
    """Changes as on the command line, such as ``market.episode_length=20``."""
    episodes: int = 1000
    """Number of episodes."""
    first_seed: int = 0
    """Seed of the first episode; each next one has the next integer."""


class Markets(vf.Taskset[MarketTask, MarketsConfig]):
    """The episodes of a population, one task for each."""

    def market(self) -> DesignEnv:
        """Return the environment that all episodes share."""
        return public.make(self.config.population, *self.config.overrides).env

    def load(self) -> Iterable[MarketTask]:
        """Yield the task of each seed. The environment gives the model its first prompt."""
        first = self.config.first_seed
        for seed in range(first, first + self.config.episodes):
            yield MarketTask(MarketData(seed=seed), self.config.task)


class Asking(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one answer. Unlike the harnesses of verifiers it starts no program."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the conversation; verifiers notes the answer on its way back."""
        said = [vf.SystemMessage(content=data.system_prompt or ""), *(data.prompt or [])]
        chat = [message_to_wire(each) for each in said]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            await client.chat.completions.create(model=ctx.model, messages=chat)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class MarketsEnvConfig(vf.EnvConfig):
    """The model that plays. It gets no tools."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})


class MarketsEnv(vf.Env[MarketsEnvConfig]):
    """Lets a model play an episode in each rollout: each of its answers is a mechanism."""

    def __init__(self, config: MarketsEnvConfig) -> None:
        super().__init__(config)
        self._market = self.taskset.market()

    async def run(self, task: MarketTask, agents: vf.Agents) -> None:
        """Play the episode of the task's seed."""
        await play(ChatEpisode(self._market, task.data.seed), task, agents.agent)


async def play(episode: ChatEpisode, task: MarketTask, agent: vf.Agent) -> None:
    """Let an agent play an episode; its trace has what the task's reward counts."""
    system, user = (each["content"] for each in episode.opening())
    async with agent.interaction(task.with_system_prompt(system)) as model:
        answer = await model.turn(user)
        while not answer.terminated:
            told = episode.answer(answer.last_reply)
            model.trace.state.reward = episode.reward
            model.trace.state.valid = episode.valid
            if episode.done:
                break
            answer = await model.turn(told)
