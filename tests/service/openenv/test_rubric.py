"""The rubrics: each term of a step has its score."""

from __future__ import annotations

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction


def test_rubrics_score_every_term(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3)
    observation = environment.step(DaedalusAction())
    names = {name: each.last_score for name, each in environment.rubric.named_rubrics()}
    assert set(names) == {"welfare", "fairness", "participation", "stability"}
    assert names | {"composite": observation.reward} == observation.metadata["scores"]
    environment.reset(3)
    assert environment.rubric.last_score is None and environment.state.scores == {}
