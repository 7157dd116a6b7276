"""The environment by itself: episodes end, and sessions close."""

from __future__ import annotations

import pytest

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import EpisodeError, FieldError
from daedalus.service.openenv.messages import DaedalusAction, ForkQuestion, WireMechanism
from daedalus.service.sessions.watching import arena


def test_an_ended_episode_stays_as_it_is(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3, episode_length=1)
    last = environment.step(DaedalusAction())
    after = environment.step(DaedalusAction(reserve_price=0.5))
    assert last.done and after.done and after.reward == 0.0
    assert after.market_outcomes == last.market_outcomes
    assert environment.state.rewards == [last.reward]


def test_closing_twice_is_closing_once(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3)
    environment.close()
    environment.close()
    for call in (environment.reset, lambda: environment.step(DaedalusAction())):
        with pytest.raises(EpisodeError, match="connect again"):
            call()


def test_an_objective_is_rewarded_and_r_stays_among_the_scores(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3)
    r = environment.step(DaedalusAction())
    told = environment.reset(3, objective="revenue")
    assert told.metadata["objective"] == environment.state.objective == "revenue"
    revenue = environment.step(DaedalusAction())
    assert environment.state.rewards == [revenue.reward] and revenue.reward != r.reward
    assert revenue.metadata["scores"] == r.metadata["scores"] | {"objective": revenue.reward}
    assert environment.state.scores["composite"] == r.reward
    (last, *_) = arena(environment).rounds
    assert 0 < last.scores["objective"] != last.scores["composite"]


def test_what_a_reset_does_not_allow_is_refused(catalogue) -> None:
    allowed = {"reserve_price": {"min": 0.1, "max": 0.3}}
    environment = DaedalusEnvironment(catalogue, max_fork_steps=8)
    assert "allowed" not in environment.reset(3).metadata and environment.state.allowed == {}
    told = environment.reset(3, allowed=allowed)
    assert told.metadata["allowed"] == environment.state.allowed == allowed
    with pytest.raises(FieldError, match=r"reserve_price: 0\.5 is not allowed; give a number from"):
        environment.step(DaedalusAction(reserve_price=0.5))
    with pytest.raises(FieldError, match=r"reserve_price: 0\.5 is not allowed; give a number from"):
        environment.fork(ForkQuestion(mechanisms=[WireMechanism(reserve_price=0.5)]))
    assert not environment.state.rewards
    assert environment.step(DaedalusAction(reserve_price=0.2)).metadata["normalised"] is None


def test_rubrics_score_every_term(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(3)
    observation = environment.step(DaedalusAction())
    names = {name: each.last_score for name, each in environment.rubric.named_rubrics()}
    assert set(names) == {"welfare", "fairness", "participation", "stability"}
    assert names | {"composite": observation.reward} == observation.metadata["scores"]
    environment.reset(3)
    assert environment.rubric.last_score is None and environment.state.scores == {}
