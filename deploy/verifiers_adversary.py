"""Designer against adversary as an environment of verifiers: two agents with opposite rewards.

In an environment with ``requirements-evaluators.txt``, from the root of the repository:
``PYTHONPATH=.:deploy vf-eval verifiers-adversary -m MODEL --client.base-url ADDRESS/v1``
"""

from __future__ import annotations

import verifiers.v1 as vf
from verifiers_market import Asking, Markets, MarketTask, play

from daedalus.design.env import DesignEnv
from daedalus.doors.adversary import Moves
from daedalus.doors.plugs.adversary_chat import answered, opening
from daedalus.doors.plugs.chat import ChatEpisode
from daedalus.market.interface import types_of_bidders

__all__ = ["AdversaryEnv", "Asking", "Markets"]


class AdversaryEnvConfig(vf.EnvConfig):
    """The two models; ``--env.adversary.model NAME`` gives one of them its own. No tools."""

    designer: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})
    adversary: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})


class AdversaryEnv(vf.Env[AdversaryEnvConfig]):
    """One model chooses who comes to an episode, and then another one sets the mechanisms.

    The designer's trace has the reward of ``MarketsEnv``, and the adversary's its opposite. If the
    adversary's answer is refused, the bidders of the population come; its ``valid`` is 0.
    """

    def __init__(self, config: AdversaryEnvConfig) -> None:
        super().__init__(config)
        self._market = self.taskset.market()
        self._moves = Moves(types_of_bidders(self._market.market))

    async def run(self, task: MarketTask, agents: vf.Agents) -> None:
        """Ask the adversary, and let the designer play the episode of the task's seed."""
        system, user = (each["content"] for each in opening(self._moves))
        prompt = [vf.UserMessage(content=user)]
        asked = vf.TaskData(idx=task.data.idx, system_prompt=system, prompt=prompt)
        chosen = await agents.adversary.run(vf.Task(asked))
        if chosen.ok:
            market, valid = self._composed(chosen.last_reply)
            chosen.record_metric("valid", valid)
            await play(ChatEpisode(market, task.data.seed), task, agents.designer)

    def _composed(self, answer: str) -> tuple[DesignEnv, float]:
        try:
            return self._market.with_population(answered(answer, self._moves)), 1.0
        except (ValueError, RecursionError):  # of JSON that is nested too deeply
            return self._market, 0.0

    async def finalize(self, task: MarketTask, episode: vf.Episode) -> None:
        """Give the adversary what the designer has lost, if it could play to the end."""
        traces = {each.agent.name: each for each in episode.traces}
        if "designer" in traces and traces["designer"].ok:
            traces["adversary"].record_reward("reward", -traces["designer"].reward)
