"""Briefs as a task of Inspect, for any of its models: ``inspect eval daedalus/briefs``."""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.doors.briefs import benchmark
from daedalus.doors.plugs.brief_chat import judged, opening
from daedalus.doors.plugs.inspect_market import chat


@task
def briefs(briefs: str = "wordings", first_seed: int = 0) -> Task:
    """Let a model answer briefs, each by one mechanism for a whole episode.

    Args:
        briefs: A frozen split, such as ``wordings``, or a JSON-lines file.
        first_seed: Seed of the first brief's records; each next one has the next integer.

    Raises:
        BriefError: There is no such split or file, or a line of the file is no brief.
    """
    asked = benchmark(briefs)
    dataset = [
        Sample(
            id=brief.id,
            input=chat(opening(asked, brief, first_seed + place)),
            metadata={"place": place},
        )
        for place, brief in enumerate(asked.briefs)
    ]
    return Task(dataset, solver=generate(), scorer=scores(asked), metadata={"briefs": briefs})


@scorer(metrics={"*": [mean(), stderr()]})
def scores(asked: Benchmark) -> Scorer:
    """Return a scorer of briefs.

    ``score`` is the brief's: 0 if a rule is broken, else 0 for random allowed mechanisms and 1 for
    a search that knows the true parts. ``rules_kept`` and ``valid`` are 1 if the answer keeps all
    rules, and if it holds a mechanism. The explanation names what is broken.
    """

    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion
        answer = judged(asked, asked.briefs[state.metadata["place"]], said)
        return Score(
            value=answer.values, answer=said, explanation=answer.broken or "keeps all rules"
        )

    return score
