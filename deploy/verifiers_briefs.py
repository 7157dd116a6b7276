"""Briefs as an environment of verifiers: each is answered once, by the mechanism of an episode.

In an environment with ``requirements-evaluators.txt``, from the root of the repository:
``PYTHONPATH=.:deploy vf-eval verifiers-briefs -m MODEL --client.base-url ADDRESS/v1``
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import verifiers.v1 as vf
from verifiers_market import Asking

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.doors.briefs import benchmark
from daedalus.doors.plugs.brief_chat import BriefAnswer, judged, opening

__all__ = ["Asking", "Briefs", "BriefsEnv"]


class BriefData(vf.TaskData):
    """One row: a brief. The model sees the prompts alone, which have its words."""

    briefs: str
    """Where the brief stands."""
    place: int
    """Its place there, from 0."""


class BriefTask(vf.Task[BriefData]):
    """A brief to answer."""

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        """Return the brief's score: 0 if a rule is broken, and 1 for a search with the truth."""
        return self._answer(trace).values["score"]

    @vf.metric
    async def rules(self, trace: vf.Trace) -> dict[str, float]:
        """Return whether the answer keeps all rules, and whether it holds a mechanism."""
        values = self._answer(trace).values
        return {name: values[name] for name in ("rules_kept", "valid")}

    def _answer(self, trace: vf.Trace) -> BriefAnswer:
        asked = _benchmark(self.data.briefs)
        return judged(asked, asked.briefs[self.data.place], trace.last_reply)


class BriefsConfig(vf.TasksetConfig):
    """The briefs."""

    briefs: str = "wordings"
    """A frozen split, such as ``wordings`` or ``training``, or a JSON-lines file."""
    first_seed: int = 0
    """Seed of the first brief's records; each next one has the next integer."""


class Briefs(vf.Taskset[BriefTask, BriefsConfig]):
    """Briefs, one task for each."""

    def load(self) -> Iterable[BriefTask]:
        """Yield the task of each brief."""
        asked = _benchmark(self.config.briefs)
        for place, brief in enumerate(asked.briefs):
            system, user = opening(asked, brief, self.config.first_seed + place)
            data = BriefData(
                id=brief.id,
                system_prompt=system["content"],
                prompt=[vf.UserMessage(content=user["content"])],
                briefs=self.config.briefs,
                place=place,
            )
            yield BriefTask(data, self.config.task)


class BriefsEnvConfig(vf.EnvConfig):
    """The model that answers. It gets no tools."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})


class BriefsEnv(vf.Env[BriefsEnvConfig]):
    """Asks a model for one answer in each rollout."""

    async def run(self, task: BriefTask, agents: vf.Agents) -> None:
        """Ask once."""
        await agents.agent.run(task)


@cache
def _benchmark(briefs: str) -> Benchmark:
    return benchmark(briefs)
