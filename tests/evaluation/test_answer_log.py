"""What language models wrote: which answers are kept, and what is counted and told."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.evaluation import answer_log
from daedalus.evaluation.answer_log import ACCEPTED, AnswerLog, refusals
from daedalus.evaluation.episodes import compare
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from tests.populations import population

GOOD = format_mechanism(Mechanism())
DEAR = GOOD.replace("0.1", "1.4")
BAD = ["No [b]auction[/b] \ud800 today.", DEAR, GOOD[:50]]
EPISODES, STEPS = 40, 4


def writer(texts: list[str]) -> LanguageModelDesigner:
    """Return a designer that writes the texts in turn, from the first market on."""
    return LanguageModelDesigner(
        lambda chats, *_: [texts[row % len(texts)] for row in range(len(chats))], PromptSettings()
    )


@pytest.fixture(scope="module")
def played() -> tuple[AnswerLog, pd.DataFrame]:
    log = AnswerLog("stage4")
    env = DesignEnv.of(MarketSettings(episode_length=STEPS), population(4))
    fenced = f"Here you are:\n```json\n{GOOD}\n```"
    designers = {
        "fixed": FixedDesigner(Mechanism()),
        "careful": writer([GOOD]),
        "careless": writer([fenced, *BAD, DEAR]),
    }
    return log, compare(env, designers, EPISODES, 0, answers=log)


def test_all_answers_are_counted_by_kind(played) -> None:
    log, steps = played
    counts = log.counts()
    assert counts["designer"].tolist() == ["careful", *["careless"] * 4]
    kinds = [ACCEPTED, "reserve_price", ACCEPTED, "no object", "cut off"]
    assert counts["kind"].tolist() == kinds
    assert counts["answers"].tolist() == [160, 64, 32, 32, 32]
    assert counts["share"].tolist() == pytest.approx([1.0, 0.4, 0.2, 0.2, 0.2])
    assert (counts["population"] == "stage4").all()
    valid = steps.groupby("designer")["valid"].mean()
    assert (valid[["fixed", "careful", "careless"]] == [1.0, 1.0, 0.2]).all()


def test_the_sample_holds_whole_episodes_and_every_kind(played) -> None:
    log, steps = played
    kept = pd.DataFrame(json.loads(json.dumps(row)) for row in log.sample)
    careful = kept[kept["designer"] == "careful"]
    assert set(zip(careful["episode"], careful["step"], strict=True)) == {
        (episode, step) for episode in range(3) for step in range(1, STEPS + 1)
    }
    careless = kept[kept["designer"] == "careless"]
    assert set(careless["text"]) >= {text.replace("\ud800", "\\ud800") for text in BAD}
    assert careless["reason"].notna().equals(~careless["accepted"])
    assert "1.4 is not allowed; give a number from 0.0 to 0.9" in " ".join(
        careless["reason"].dropna()
    )
    assert len(careless) <= 3 * STEPS + 3 * answer_log.EACH_KIND
    rows = steps.set_index(["designer", "episode", "step"])["valid"]
    for row in log.sample:
        assert rows[row["designer"], row["episode"], row["step"]] == row["accepted"]
        assert f"round_number: {row['step'] - 1} / {STEPS}" in row["prompt"]


def test_the_main_reason_is_told(played) -> None:
    log, _ = played
    (told,) = refusals(log.counts())
    assert told.startswith("careless: 128 of 160 answers were refused, 64 of them such as this: ")
    assert "reserve_price: 1.4 is not allowed" in told


def test_designers_without_answers_leave_nothing() -> None:
    log = AnswerLog("stage4")
    log.add("fixed", FixedDesigner(Mechanism()), 1, np.arange(3))
    assert log.counts().empty and not log.sample and not refusals(log.counts())


def test_the_sample_is_bounded() -> None:
    log, designer = AnswerLog("stage4"), writer(["x" * 100_000])
    env = DesignEnv.of(MarketSettings(), population(4))
    designer.propose(env.reset(np.arange(4, dtype=np.uint64)).observe(), np.random.default_rng(0))
    for step in range(1, 200):
        log.add("long", designer, step, np.array([0, 1, -1, 3]))
    assert log.counts()["answers"].tolist() == [3 * 199]
    assert len(log.sample) <= answer_log.MOST_WHOLE + answer_log.EACH_KIND
    assert all(len(row["text"]) < answer_log.LONGEST_TEXT + 50 for row in log.sample)
    assert log.sample[0]["characters"] == 100_000 and {row["episode"] for row in log.sample} == {
        0,
        1,
        3,
    }
