"""Briefs in Gymnasium: the words are seen, an action answers them, and the checkers pass."""

from __future__ import annotations

import json
import math
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import daedalus
from daedalus.design.briefs.brief import BriefError
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.splits import SPLITS
from daedalus.doors.gym import BRIEFS_ID, GRID, ID, BriefsEnv, decode, encode
from daedalus.market.mechanism import Mechanism, mechanism_from_mapping
from tests.service.briefs import KnownSentences

BRIEFS = {each.id: each for each in frozen_briefs("wordings")}


@pytest.fixture(scope="module")
def env() -> gymnasium.Env:
    return gymnasium.make(BRIEFS_ID)


@pytest.mark.filterwarnings("error", "ignore:.*Box observation space")
def test_gymnasium_s_checker_passes(env: gymnasium.Env) -> None:
    check_env(env.unwrapped, skip_render_check=True)
    assert env.spec.id == BRIEFS_ID and isinstance(env.unwrapped, BriefsEnv)


def test_the_truth_of_a_brief_scores_1_and_ends_the_episode(env: gymnasium.Env) -> None:
    seen, info = env.reset(seed=7)
    brief = BRIEFS[info["id"]]
    assert seen["brief"] == brief.text and info["seed"] == 7 and brief.scale is not None
    best = encode(mechanism_from_mapping(dict(brief.scale.mechanism)), GRID)
    after, reward, terminated, truncated, told = env.step(best)
    assert (terminated, truncated, told["broken"]) == (True, False, "")
    assert reward == told["score"] == pytest.approx(1.0, abs=0.1)
    assert after["brief"] == seen["brief"]
    with pytest.raises(RuntimeError, match="call reset"):
        env.unwrapped.step(best)


def test_a_broken_rule_earns_nothing_and_is_named(env: gymnasium.Env) -> None:
    brief = next(each for each in BRIEFS.values() if "reveal_winner_identity" in each.allowed)
    (told,) = brief.allowed["reveal_winner_identity"]
    env.reset(seed=1, options={"id": brief.id})
    _, reward, *_, info = env.step(encode(Mechanism(reveal_winner_identity=not told), GRID))
    assert reward == info["score"] == 0.0 and info["id"] == brief.id
    assert f"reveal_winner_identity: {not told}" in info["broken"]


def test_a_seed_decides_the_brief_and_what_is_seen(env: gymnasium.Env) -> None:
    first, again, other = (env.reset(seed=seed) for seed in (1, 1, 2))
    assert first[0]["brief"] == again[0]["brief"] and first[1] == again[1] != other[1]
    np.testing.assert_array_equal(first[0]["numbers"], again[0]["numbers"])
    assert len({env.reset()[1]["id"] for _ in range(20)}) > 10


def test_exact_rules_can_be_kept_and_all_splits_have_one_space() -> None:
    assert decode(encode(Mechanism(reserve_price=0.15), GRID), GRID).reserve_price == 0.15
    spaces = {str(gymnasium.make(BRIEFS_ID, briefs=each).observation_space) for each in SPLITS}
    assert len(spaces) == 1


def test_briefs_of_a_file_earn_their_objective(tmp_path: Path) -> None:
    row = {"id": "mine", "brief": "L\u00e0, le prix.", "population": "stage1"}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    env = gymnasium.make(BRIEFS_ID, briefs=str(tmp_path / "mine.jsonl"))
    seen, _ = env.reset(seed=0)
    assert env.observation_space.contains(seen)
    _, reward, *_, told = env.step(encode(Mechanism(), GRID))
    assert reward == told["objective"] > 0 and math.isnan(told["score"])
    with pytest.raises(ValueError, match="no brief 'other'; one of them is mine"):
        env.reset(options={"id": "other"})
    with pytest.raises(ValueError, match="no brief \\['mine'\\]"):
        env.reset(options={"id": ["mine"]})


def test_a_brief_whose_rule_no_action_keeps_is_refused(tmp_path: Path) -> None:
    row = {"id": "eighth", "brief": "An eighth.", "population": "stage1"}
    for reserve in ([0.125], {"min": 0.121, "max": 0.129}):
        row |= {"allowed": {"reserve_price": reserve}}
        (tmp_path / "mine.jsonl").write_text(json.dumps(row))
        with pytest.raises(BriefError, match="brief eighth: no action sets reserve_price as its"):
            gymnasium.make(BRIEFS_ID, briefs=str(tmp_path / "mine.jsonl"))
    (tmp_path / "mine.jsonl").write_text(
        json.dumps(row | {"allowed": {"reserve_price": {"min": 0.121, "max": 0.131}}})
    )
    gymnasium.make(BRIEFS_ID, briefs=str(tmp_path / "mine.jsonl"))


def test_ones_own_words_set_the_reward_and_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    patched = "daedalus.launch.brief_answer.reader_for_people"
    monkeypatch.setattr(patched, lambda _: KnownSentences())
    words = "We need money. Winners pay their own bid."
    single = gymnasium.make(ID, population="stage1", brief=words)
    both = gymnasium.make_vec(ID, num_envs=2, population="stage1", brief=words)
    market = daedalus.make("stage1", brief=words)
    market.reset(3)
    single.reset(seed=3)
    both.reset(seed=3)
    action = encode(Mechanism("vcg"))  # counts as the nearest that the brief allows
    reward = market.step(Mechanism("first_price")).reward
    assert single.step(action)[1] == both.step(np.stack([action, action]))[1][0] == reward
    assert single.unwrapped.understood == both.unwrapped.understood == market.understood
