"""From sentences to a mechanism: readers learn, nothing is silently dropped, rules have prices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from daedalus.checks import CannotRunError
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.linear_reader import LinearReader
from daedalus.design.briefs.meanings import NOTHING
from daedalus.design.briefs.readers import KeywordReader, clause, read, sentences_of
from daedalus.design.briefs.solver import BriefSolver
from daedalus.design.briefs.wordings import examples, wordings
from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.brief_search import (
    LEAST_CONFIDENCE,
    BriefSearchSettings,
    make_reader,
)
from daedalus.design.env import DesignEnv
from daedalus.market.allowed import Between
from daedalus.market.seeds import market_seeds
from tests.design.briefs.conftest import SMALL
from tests.design.designers.observations import rng


class Lookup:
    """Knows the meaning of each sentence that it was told."""

    def __init__(self, **meanings: str) -> None:
        self.meanings = {name.replace("_", " ") + ".": each for name, each in meanings.items()}

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        return [clause(self.meanings.get(each, NOTHING), each, 0.9) for each in sentences]


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("Who pays?", "a question"),
        ("“Sell?”", "a question"),
        ("(Is 0.3 too high?)", "a question"),
        ("Sell, sell? ", "a question"),
        ("No?!", "a question"),
        ("You may or may not tell them.", "both ways open"),
        ("It MIGHT or not.", "both ways open"),
        ("We should or should not.", "both ways open"),
        ("we like boats, " * 50 + "and nobody may learn who won.", "too long"),
    ],
)
def test_what_no_reader_takes_is_no_rule_and_is_named(sentence: str, why: str) -> None:
    everything = Lookup(Sell="aim/revenue")
    everything.meanings[sentence.strip()] = "payment/vcg"
    understood = read(everything, f"Sell. {sentence} Sell.")
    assert [each.use for each in understood.readings] == ["used", "unused", "used"]
    assert why in understood.readings[1].says and not understood.allowed


def test_a_designer_uses_only_what_its_reader_is_sure_of(env: DesignEnv) -> None:
    context, rules = DesignerContext(env, 0, load_reader=lambda *_: Lookup(Own="payment/vcg")), []
    for least in (0.8, 1.0):
        settings = BriefSearchSettings(reader="minilm", least_confidence=least)
        rules.append(settings.build(context).understand("Own.").allowed)
    assert rules == [{"auction_type": ("vcg",)}, {}]


def test_a_reader_without_a_brief_is_refused(env: DesignEnv) -> None:
    designer = BriefSearchSettings(reader="keywords").build(DesignerContext(env, 0))
    with pytest.raises(CannotRunError, match="reads briefs, and here is none"):
        designer.propose(env.reset(market_seeds(0, "asked", 2)).observe(), rng())


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({"reader": "tuned"}, LEAST_CONFIDENCE),
        ({"reader": "tuned", "least_confidence": 0.3}, 0.3),
        ({"reader": "tuned", "benchmark": True}, 0.0),
        ({"reader": "tuned", "checkpoint": str(Path(__file__).parent)}, 0.0),
        ({"reader": "tfidf"}, 0.0),
    ],
)
def test_the_reader_for_people_keeps_its_limit(changes: dict[str, Any], limit: float) -> None:
    assert BriefSearchSettings(**changes).limit == limit


@pytest.mark.parametrize(
    ("reader", "hint"), [("minilm", "is of reader=tuned, not minilm"), ("tuned", "no folder gone")]
)
def test_a_checkpoint_that_nobody_reads_is_refused(reader: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        BriefSearchSettings(reader=reader, checkpoint="gone")


@pytest.mark.slow
def test_a_reader_of_words_knows_what_it_learnt() -> None:
    reader = make_reader("tfidf", False, "", None)
    text = wordings()["reserve_least/x"][0].replace("{x}", "a fifth")
    understood = read(reader, f"{text} {wordings()['payment/vcg'][3]}")
    assert understood.allowed == {"reserve_price": Between(0.2, 0.9), "auction_type": ("vcg",)}
    given = [(text, name) for name, texts in wordings("second").items() for text in texts]
    keywords, words = (
        np.mean([each.clauses([text])[0].meaning == name for text, name in given])
        for each in (KeywordReader(examples()), reader)
    )
    assert 0.2 < keywords < words < 1.0 and words > 0.5  # of a second writer's sentences


def test_an_embedding_takes_the_place_of_words() -> None:
    def length(sentences: Sequence[str]) -> NDArray[np.float64]:
        return np.array([[float(len(each) > 6)] for each in sentences])

    reader = LinearReader(length).fit([("short", "aim/revenue"), ("rather long", NOTHING)] * 5)
    assert reader.clauses(["tiny"])[0].meaning == "aim/revenue"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three? Four", 4),
        ("No less than 0.2 of it. Next.", 2),
        ("", 0),
        ("\n \n", 0),
        ("Nobody may\nlearn who won.", 1),
        ("Mr. Smith sells lot No. 3, e.g. oak. Nobody may know.", 2),
        ("Fine them on proof; else leave them alone.", 1),
        ("Tell who won.Winners pay their bid.", 2),
        ("They said 'all may pay.' 'Tell nobody.'", 2),
        ("Our rules:\n- Tell nobody.\n- Pay the bid.\n\n1. No fines\n2. No reserve", 5),
        ("...", 1),
        ("🐟 🐟", 1),
    ],
)
def test_sentences_end_where_people_end_them(text: str, count: int) -> None:
    assert len(sentences_of(text)) == count


def test_the_usable_amount_counts() -> None:
    assert clause("reserve_least/x", "In 3 years, at least 20 percent.", 1.0).amount == 0.2
    assert clause("reserve_least/x", "Not too low.", 1.0).fault == "it names no amount"
    several = clause("reserve_least/x", "Between 20 and 40 percent, or 0.3.", 1.0)
    assert several.fault == "it names several amounts: 0.2, 0.4, 0.3"


def test_an_unsure_sentence_is_not_used_but_named() -> None:
    understood = read(Lookup(Money="aim/revenue"), "Money.", least_confidence=0.95)
    ((_, reason),) = understood.unread
    assert understood.reward == {"composite": 1.0} and "not sure" in reason


def test_every_sentence_is_accounted_for(env: DesignEnv) -> None:
    reader = Lookup(
        Money="aim/revenue",
        Own="payment/first_price",
        Second="payment/second_price",
        Dear="reserve_least/x",
    )
    understood = read(reader, "Money. Own. Hello there. Second. Dear.")
    assert [(each.clause.sentence, each.use, each.says) for each in understood.readings] == [
        ("Money.", "used", "most of all: revenue"),
        ("Own.", "used", "auction_type: first_price"),
        ("Hello there.", "idle", "asks for nothing"),
        ("Second.", "excluded", "it contradicts “Own.” (auction_type)"),
        ("Dear.", "unused", "it names no amount"),
    ]
    assert understood.notes == [] and "only R counts" in read(reader, "Hello.").notes[0]
    answer = BriefSolver(reader, lambda _: env, budget=SMALL).answer(understood)
    assert answer.mechanism.auction_type == "first_price"


def test_rules_have_prices_and_the_same_brief_the_same_mechanism(env: DesignEnv) -> None:
    reader = Lookup(Money="aim/revenue", None_below_90_percent="reserve_least/x")
    solver = BriefSolver(reader, lambda _: env, budget=SMALL)
    understood = solver.understand("Money. None below 90 percent.")
    answer = solver.answer(understood, prices=True)
    (rule,) = answer.rules
    assert rule.kept and rule.price > 0.05  # a reserve of 0.9 sells next to nothing
    assert answer.objective == pytest.approx(answer.terms["revenue"])
    again = BriefSolver(reader, lambda _: env, budget=SMALL)
    assert again.answer(understood).mechanism == answer.mechanism


def test_facts_choose_the_market(env: DesignEnv) -> None:
    asked: list[str] = []

    def market(population: str) -> DesignEnv:
        asked.append(population)
        return env

    solver = BriefSolver(Lookup(Ring="fact/ring"), market, budget=SMALL)
    solver.answer(solver.understand("Ring."))
    assert set(asked) == {"briefs_ring"}


def test_without_an_encoder_the_reader_says_so() -> None:
    with pytest.raises(CannotRunError, match="take tfidf"):
        make_reader("minilm", False, "", None)
