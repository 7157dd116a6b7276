"""Designers under briefs of a file and of the benchmark, and the answer to a single brief."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from daedalus.checks import CannotRunError
from daedalus.design.briefs.clauses import Clause, understand
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.named import BESIDE
from daedalus.design.briefs.readers import Reader, read, sentences_of
from daedalus.design.briefs.wordings import DATA
from daedalus.design.designers.brief_search import LEAST_CONFIDENCE, make_reader
from daedalus.lab.studies import brief_reading as study
from daedalus.lab.studies.brief_reading import SELLERS, reading_curves, sellers_read
from daedalus.lab.studies.briefs import leads
from daedalus.launch import brief_answer
from daedalus.launch.brief_answer import reader_for_people
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.from_config import load_reader
from daedalus.market.mechanism import mechanism_from_mapping
from daedalus.training.judging_reader import JudgingReader
from daedalus.training.sentence_encoder import SentenceEncoder
from daedalus.training.splitting_reader import SplittingReader
from daedalus.training.surer_reader import SurerReader
from daedalus.training.tuned_reader import TunedReader
from tests.design.designers.chat_double import Reply, serving
from tests.launching import play
from tests.readme_claims import READ_DEMANDS

SMALL = ("candidates=8", "episodes=2", "sweeps=0")
FEW = [
    "+experiment=briefs",
    "~evaluation.baselines.tfidf",
    "~evaluation.baselines.minilm",
    "evaluation.baselines.rule_keeper.candidates=32",
    "evaluation.baselines.rule_keeper.briefs=20",
    *(f"evaluation.baselines.blind.{each}" for each in SMALL),
    *(f"evaluation.baselines.keywords.{each}" for each in SMALL),
    "designer=brief_search",
    "designer.name=tfidf",
    "designer.reader=tfidf",
    "designer.benchmark=true",
    *(f"designer.{each}" for each in SMALL),
]

BASELINES = ("blind", "rule_keeper", "keywords", "tfidf", "minilm")
BARE = ["+experiment=briefs", *(f"~evaluation.baselines.{name}" for name in BASELINES)]
ENDPOINT = [*BARE, "designer=endpoint", "designer.model=m", "designer.concurrency=1"]
"""A model on a server, beside baselines that need no search."""


def own_briefs(folder: Path, *populations: str, **others: object) -> str:
    """Write a brief for bidders of each population; return the override that chooses the file."""
    scale = {"floor": 0.0, "ceiling": 1.0, "mechanism": {}}
    rows = [
        {"id": str(number), "brief": f"Hello {number}.", "population": name, "scale": scale}
        for number, name in enumerate(populations)
    ]
    rows[-1] |= others
    (folder / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return f"briefs={folder / 'mine.jsonl'}"


@pytest.mark.slow
def test_designers_play_frozen_briefs(tmp_path: Path) -> None:
    play(tmp_path, *FEW, "splits=[wordings,pairs]", "evaluation.episodes=4")
    table = pd.read_csv(tmp_path / "briefs.csv")
    names = ["random", "informed_greedy", "blind", "rule_keeper", "keywords", "tfidf", "true_parts"]
    assert list(dict.fromkeys(table["designer"])) == names
    assert set(table.groupby(["designer", "split"]).size()) == {4}
    truth = table[table["designer"] == "true_parts"]
    assert truth["rules_kept"].all() and truth["score"].round(4).eq(1).all()
    broken = table[~table["rules_kept"]]
    assert len(broken) and broken["score"].eq(0).all() and broken["broken"].str.len().gt(0).all()
    read = table[table["designer"] == "tfidf"]
    assert read["understood"].map(json.loads).map(lambda each: "reward" in each).all()
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert len(summary) == 2 * len(names) and summary["score_low"].notna().any()
    assert summary["rules_kept_low"].ge(0).all() and summary["rules_kept_high"].le(1).all()
    pairs = pd.read_csv(tmp_path / "pairs.csv")
    assert set(pairs["designer"]) == set(names) and set(pairs["pair"]) == {
        "pairs-0000",
        "pairs-0001",
    }
    assert pairs.loc[pairs["designer"] == "true_parts", ["both_kept", "differs"]].all(axis=None)
    assert pairs[["a", "b"]].notna().all(axis=None) and not pairs["a"].eq(pairs["b"]).any()
    shown = pairs[pairs["designer"] == "tfidf"].iloc[0]
    for letter in "ab":
        row = read.set_index("id").loc[f"{shown['pair']}{letter}"]
        assert shown[f"{letter}_understood"] == row["understood"]
        assert shown[f"{letter}_kept"] == row["rules_kept"]
    texts = [each.text for each in frozen_briefs("pairs")[:2]]
    assert shown[["a_text", "b_text"]].to_list() == texts
    leads = pd.read_csv(tmp_path / "leads.csv")
    rivals = len(names) - 1
    assert len(leads) == 2 * rivals * (rivals - 1) // 2 and leads["lead"].ge(0).all()
    assert set(leads["lead_interval"]) == {"4 briefs, few", "2 pairs, few"}
    first = leads[leads["split"] == "wordings"].iloc[0]
    score = table[table["split"] == "wordings"].pivot(
        index="id", columns="designer", values="score"
    )
    assert first["lead"] == pytest.approx((score[first["designer"]] - score[first["other"]]).mean())
    clauses = pd.read_csv(tmp_path / "clauses.csv")
    assert set(clauses["split"]) == {"wordings", "pairs"}
    assert (tmp_path / "figures/scores.png").stat().st_size


@pytest.mark.slow
def test_designers_play_the_briefs_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": "one", "brief": "Above all we need money.", "population": "stage1"}
        | {"reward": {"revenue": 1}, "allowed": {"reserve_price": {"min": 0.2, "max": 0.9}}},
        {"id": "two", "brief": "Everybody must take part.", "population": "stage1"}
        | {"floors": {"participation": 1.0}},
        {"id": "three", "brief": "Money hardly matters.", "population": "stage1"}
        | {"reward": {"revenue": 0.001}},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    play(tmp_path / "out", *FEW, f"briefs={path}")
    table = pd.read_csv(tmp_path / "out/briefs.csv")
    assert set(table["split"]) == {"mine"} and set(table["id"]) == {"one", "two", "three"}
    assert table.loc[table["id"] == "one", "score"].notna().all()
    unreachable = table[(table["id"] == "two") & table["rules_kept"]]
    assert unreachable["score"].isna().all()  # no mechanism reaches that floor, so nothing is 1
    assert table.loc[table["id"] == "three", "score"].isna().all()  # all mechanisms are alike
    said, found = capsys.readouterr().out, "the best mechanism that a search found"
    floor = r"breaks a floor \(participation: 0\.\d+ under 1\); rules are checked"
    assert re.search(rf"mine\.jsonl, line 2: no score for two: {found} {floor}", said)
    assert f"mine.jsonl, line 3: no score for three: {found} is hardly better than chance" in said
    truth = table[(table["designer"] == "true_parts")]
    assert list(truth["id"]) == ["one"]
    best = mechanism_from_mapping(json.loads(truth["mechanism"].iloc[0]))
    assert best.reserve_price >= 0.2


@pytest.mark.parametrize("name", ["population", "told_population"])
def test_unknown_bidders_are_refused_with_the_line(tmp_path: Path, name: str) -> None:
    briefs = own_briefs(tmp_path, "stage1", "stage1", **{name: "nowhere"})
    with pytest.raises(SystemExit, match=r"mine\.jsonl, line 2: population: no option nowhere"):
        play(tmp_path / "out", *FEW, briefs)


@pytest.mark.parametrize(
    ("experiment", "words", "message"),
    [
        ("briefs", ["splits=[hidden]"], r"splits: 'hidden'; choose from same, wordings"),
        ("briefs", ["market.episode_length=5"], "measured in market=fresh"),
        ("briefs", ["splits=[same]", "briefs=mine.jsonl"], "splits: they are of the frozen briefs"),
        ("briefs", ["reward=revenue"], "reward: each brief .* leave it out"),
        ("briefs", ["population=stage3"], "population: each brief .* leave it out"),
        ("ask", ["brief=' '"], "brief: it is empty"),
        ("ask", ["brief=none.txt"], r"brief: no file none\.txt"),
        ("ask", ["brief=Hello.", "reward=revenue"], "it says reward and allowed itself"),
        ("ask", ["brief=Hello.", "+allowed.auction_type=[vcg]"], "it says reward and allowed it"),
        ("brief_reading", ["readers=[mind]"], "choose from keywords, tfidf"),
        ("brief_reading", ["wordings=[0]"], "give numbers from 1 to 12"),
        ("brief_reading", ["+models.13=RUN/model"], "give numbers from 1 to 12"),
        ("brief_reading", ["wordings=[]"], "give at least one of each"),
        ("boxplot", ["designer=brief_search"], "brief_search reads briefs, and compare has none"),
        (
            "leaderboard",
            [
                "+designer@evaluation.baselines.model=brief_model",
                "evaluation.baselines.model.checkpoint=RUN/model",
            ],
            r"evaluation\.baselines\.model: brief_model reads briefs, and leaderboard has none",
        ),
        ("grpo_briefs", ["population=stage3"], "each brief tells of its bidders"),
        ("grpo_briefs", ["market=strategic"], "measured in market=fresh"),
        ("grpo_briefs", ["reward=revenue"], "each brief says what it rewards"),
        ("grpo_briefs", ["training.prompt.rounds=3"], "a brief is the whole prompt"),
        (
            "grpo_briefs",
            ["training.grpo.constrained=false", "training.grpo.neighbours=0"],
            "answers to briefs are",
        ),
        ("grpo_briefs", ["training.grpo.states=6000"], "there are 5000 training briefs"),
        ("grpo_briefs", ["splits=[other]"], "choose from same, wordings"),
    ],
)
def test_what_does_not_go_with_briefs_is_refused(
    experiment: str, words: list[str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        compose_config(f"+experiment={experiment}", *words)


def test_briefs_of_a_file_may_be_played_in_another_market() -> None:
    compose_config("+experiment=briefs", "market.episode_length=5", "briefs=mine.jsonl")


@cache
def reader_of_words() -> Reader:
    return make_reader("tfidf", False, "", None)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a quick reader of words, which needs no encoder, take the place of that for people."""
    monkeypatch.setattr(brief_answer, "reader_for_people", lambda _: reader_of_words())
    monkeypatch.setattr(brief_answer, "LEAST_CONFIDENCE", 0.25)


def test_without_its_encoder_no_brief_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: object) -> object:
        raise CannotRunError("it cannot be had")

    monkeypatch.setattr(brief_answer, "make_reader", cannot)
    with pytest.raises(SystemExit, match=r"84 MB reads briefs, .* leave the brief out"):
        play(tmp_path, "+experiment=ask", "population=stage1", "brief='Money.'")


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_ask_answers_a_brief(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    brief = frozen_briefs("same")[2].text  # a single rule: a reserve of 0.3 or more
    play(tmp_path, "+experiment=ask", "population=stage1", f"brief='{brief} Thank you.'")
    shown = " ".join(capsys.readouterr().out.split())
    assert "what was understood" in shown
    rules = pd.read_csv(tmp_path / "rules.csv")
    assert list(rules["rule"]) == ["reserve_price: 0.3 to 0.9"] and list(rules["kept"]) == ["yes"]
    (answer,) = (json.loads(line) for line in (tmp_path / "brief_answer.jsonl").open())
    assert answer["mechanism"]["reserve_price"] >= 0.3
    assert list(pd.read_csv(tmp_path / "brief.csv")["sentence"]) == [brief, "Thank you."]


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("brief", ["What would you recommend?", "Wir brauchen vor allem Geld."])
def test_ask_says_that_it_found_nothing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], brief: str
) -> None:
    play(tmp_path, "+experiment=ask", "population=stage1", f"brief='{brief}'")
    shown = " ".join(capsys.readouterr().out.split())
    assert "No rule, aim or fact was found: only R counts, and all may be set." in shown
    (row,) = pd.read_csv(tmp_path / "brief.csv").to_dict("records")
    assert row["sentence"] == brief and row["understood"].startswith("not used: ")
    (answer,) = (json.loads(line) for line in (tmp_path / "brief_answer.jsonl").open())
    assert answer["rules"] == [] and not (tmp_path / "rules.csv").exists()
    assert "composite: " in shown  # R is what the search maximised


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_ask_names_demands_that_exclude_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = "Nobody may learn who won.", "Everybody must learn who won."
    play(tmp_path, "+experiment=ask", "population=stage1", f"brief='{first} {second}'")
    shown = " ".join(capsys.readouterr().out.split())
    assert "Two sentences exclude each other, so the second is not kept." in shown
    assert f"“{first}” excludes “{second}”" in shown
    understood = pd.read_csv(tmp_path / "brief.csv")["understood"]
    assert understood[1].startswith("NOT KEPT: it contradicts")
    rules = pd.read_csv(tmp_path / "rules.csv")
    assert list(rules["rule"]) == ["reveal_winner_identity: false"]
    (answer,) = (json.loads(line) for line in (tmp_path / "brief_answer.jsonl").open())
    assert answer["mechanism"]["reveal_winner_identity"] is False


@pytest.mark.slow
@pytest.mark.usefixtures("stand_in")
def test_a_brief_may_stand_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "brief.txt"
    path.write_text("The council's harbour isn't old.\nWe sell 3 boats, a year: that's all.\n")
    play(tmp_path / "out", "+experiment=ask", "population=stage1", f"brief={path}")
    assert len(pd.read_csv(tmp_path / "out/brief.csv")) == 2


@pytest.mark.slow
def test_reading_grows_with_the_wordings_that_a_reader_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "SELLERS", ("test",))
    play(tmp_path, "+experiment=brief_reading", "readers=[keywords,tfidf]", "wordings=[1,12]")
    shares = pd.read_csv(tmp_path / "reading_shares.csv").set_index(["reader", "wordings"])
    assert list(shares.index) == [(a, b) for a in ("keywords", "tfidf") for b in (1, 12)]
    assert shares.loc[("tfidf", 12), "right"] > shares.loc[("tfidf", 1), "right"] + 0.2
    assert len(pd.read_csv(tmp_path / "reading.csv")) == 4 * 230
    assert (tmp_path / "figures/reading.png").stat().st_size
    if (tmp_path / "sellers.csv").exists():  # the encoder is here
        sellers = pd.read_csv(tmp_path / "sellers.csv").set_index("reader")
        assert sellers["demands"].eq(174).all()
        right = sellers["right"] / sellers["demands"]
        assert right["sentence by sentence"] < 0.2 < 0.76 < right["shipped"]
        assert (
            sellers.loc["shipped", "lost"] <= 3 < 40 < sellers.loc["sentence by sentence", "lost"]
        )
        assert_read("test", sellers.loc["shipped"])
        sureness = pd.read_csv(tmp_path / "sureness.csv")
        assert sureness["to"].tolist() == [0.25, 0.5, 0.72, 0.85, 0.95, 1.0]
        assert sureness["number"].sum() > 160 and sureness["right"].iloc[-1] > 0.9


READ = {
    "test": (158, 2, 1), "test_2": (133, 6, 6), "test_3": (134, 5, 8), "bounds_test": (81, 5, 6),
    "short_test": (127, 2, 5), "short_test_2": (128, 5, 3), "short_test_3": (141, 2, 2),
    "short_bounds_test": (95, 4, 4), "near_test": (32, 9, 0), "near_test_2": (36, 13, 1),
    "plain_test": (170, 0, 0), "plain_test_2": (171, 0, 0), "orders_test": (86, 4, 0),
    "orders_test_2": (96, 10, 0), "typed_test": (151, 10, 7), "messages_test": (364, 13, 2),
    "messages_test_2": (91, 6, 1),
}  # fmt: skip
"""Demands read right, wrong rules, and briefs that lose a demand, of each file that tests."""


class Remembering(SentenceEncoder):
    """An encoder that keeps what it made of texts, so that it may meet many of them at once.

    A pass over one short sentence takes as long as one over several.
    """

    def __init__(self, encoder: SentenceEncoder) -> None:
        super().__init__(encoder.tokenizer, encoder.model)
        self._kept: dict[str, Tensor] = {}

    def _hidden(self, sentences: Sequence[str]) -> tuple[Tensor, Tensor, list[Any]]:
        new = [each for each in dict.fromkeys(sentences) if each not in self._kept]
        if new:
            hidden, mask, _ = super()._hidden(new)
            lengths = mask.sum(dim=1)
            self._kept |= {each: hidden[row, : lengths[row]] for row, each in enumerate(new)}
        tokens = self.tokenizer.encode_batch(list(sentences))
        mask = torch.tensor([each.attention_mask for each in tokens])
        kept = [self._kept[each] for each in sentences]
        return nn.utils.rnn.pad_sequence(kept, batch_first=True), mask, tokens


@pytest.fixture(scope="module")
def shipped() -> JudgingReader:
    """Return what reads briefs for people, loaded once for the files of all writers."""
    try:
        reader = reader_for_people(load_reader)
    except CannotRunError as error:
        pytest.skip(str(error))
    assert isinstance(reader, JudgingReader) and isinstance(reader.reader, SplittingReader)
    whole = reader.reader.whole
    assert isinstance(whole, SurerReader) and whole.second is reader.witnesses[0]
    for each in (whole.first, whole.second, reader.reader.words):
        assert isinstance(each, TunedReader)
        each.encoder = Remembering(each.encoder)
    return reader


@pytest.mark.slow
@pytest.mark.parametrize("briefs", sorted(READ.keys() - {"test"}))
def test_the_shipped_reader_reads_what_sellers_write(briefs: str, shipped: JudgingReader) -> None:
    """The experiment above reads the file ``test``, one brief after the other."""
    meet_at_once(shipped, briefs)
    understanding = partial(read, shipped, least_confidence=LEAST_CONFIDENCE)
    counts = sellers_read(understanding, briefs)[["demands", "right", "wrong", "lost"]].sum()
    assert_read(briefs, counts)


def assert_read(briefs: str, counts: pd.Series[Any]) -> None:
    right, wrong, lost = READ[briefs]
    assert counts["right"] >= right - READ_DEMANDS
    assert counts["wrong"] <= wrong + READ_DEMANDS and counts["lost"] <= lost + READ_DEMANDS


def meet_at_once(reader: JudgingReader, briefs: str) -> None:
    """Let the encoders of a reader meet the sentences of a file, those of one length together."""
    lines = (DATA / "sellers" / f"{briefs}.jsonl").read_text(encoding="utf-8").splitlines()
    found = (each for line in lines for each in sentences_of(json.loads(line)["brief"]))
    sentences = sorted(found, key=len)
    assert isinstance(reader.reader, SplittingReader)
    reader.reader.words.clauses(sentences)  # the splitting reader asks for one after the other
    reader.clauses(sentences)


def test_every_file_that_tests_is_read() -> None:
    assert READ.keys() == {each for each in SELLERS if "test" in each}


def test_curves_go_from_few_sentences_to_many() -> None:
    found = pd.DataFrame({"reader": "tuned", "wordings": [12, 2, 8], "right": [0.9, 0.4, 0.8]})
    figure = reading_curves(found.assign(right_low=0.1, right_high=0.95), 0.95)
    (line,) = figure.axes[0].lines
    assert line.get_xydata().tolist() == [[2, 0.4], [8, 0.8], [12, 0.9]]


def test_sureness_is_counted_by_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "SELLERS", ("plain_test", "near_dev"))
    ((text, (asked,)), *_) = study.seller_briefs("plain_test")
    right, wrong = Clause(*asked, text, 0.9), Clause("aim/welfare", None, text, 0.8)
    other = Clause(*asked, text, 0.96, "in doubt")
    assert asked[0] != "aim/welfare"
    found = {text: understand([right, wrong, other])}
    table = study.sureness(lambda brief: found.get(brief, understand([])))
    assert table.to_dict("list") == {
        "from": [0.72, 0.85], "to": [0.85, 0.95], "number": [1, 1], "sure": [0.8, 0.9],
        "right": [0.0, 1.0],
    }  # fmt: skip


def test_what_nobody_names_is_lost() -> None:
    silent = sellers_read(lambda _: understand([]), "test")
    assert silent["lost"].all() and silent["demands"].sum() == 174 and not silent["right"].any()
    doubt = [Clause("aim/revenue", None, "x", 0.1, "it is not sure")] * 9
    told = sellers_read(lambda _: understand(doubt), "test")
    assert not told["lost"].any() and not told["wrong"].any()


def test_a_remark_excuses_only_the_demand_that_it_names() -> None:
    remarks = [Clause("aim/revenue", None, "revenue", 0.0, BESIDE)] * 9
    table = sellers_read(lambda _: understand(remarks), "short_dev")
    lines = (DATA / "sellers" / "short_dev.jsonl").read_text().splitlines()
    named = pd.Series(["aim/revenue" in each for each in lines])
    assert 0 < named.sum() < len(named) and table["lost"].eq(~named).all()


def test_briefs_without_a_score_have_a_table_of_no_leads() -> None:
    rows = [
        {"designer": name, "split": "mine", "id": "one", "score": float("nan")}
        for name in ("a", "b")
    ]
    none = leads(pd.DataFrame(rows), 0.95)
    assert none.empty and [*none] == [*leads(pd.DataFrame(rows).assign(score=0.5), 0.95)]


def test_a_designer_with_the_name_of_a_baseline_replaces_none_and_episodes_are_the_most_briefs(
    tmp_path: Path,
) -> None:
    briefs = own_briefs(tmp_path, "stage1", "stage1", "stage1")
    words = [*BARE, briefs, "designer=fixed", "evaluation.episodes=2"]
    play(tmp_path / "out", *words, "designer.name=random")
    table = pd.read_csv(tmp_path / "out/briefs.csv")
    assert {"random", "random_changed"} < set(table["designer"]) and set(table["id"]) == {0, 1}
    with pytest.raises(SystemExit, match="true_parts is the search that knows"):
        play(tmp_path / "two", *words, "designer.name=true_parts")


def test_a_shuffled_designer_needs_two_briefs_of_each_population(tmp_path: Path) -> None:
    briefs = own_briefs(tmp_path, "stage1", "stage3", "stage3")
    words = ["+experiment=briefs", briefs, "designer=brief_model"]
    words += ["designer.checkpoint=none", "designer.shuffled=true"]
    with pytest.raises(SystemExit, match=r"shuffled: .* one brief alone for stage1; give several"):
        play(tmp_path / "out", *words)


def test_the_reason_of_a_refused_answer_is_written_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}
    words = [*ENDPOINT, own_briefs(tmp_path, "stage1", "stage1")]
    with serving(lambda count, _: Reply() if count else Reply(body=ended)) as server:
        play(tmp_path / "out", *words, f"designer.base_url={server.url}")
    table = pd.read_csv(tmp_path / "out/briefs.csv").set_index(["designer", "id"])
    reason = "cut off: the answer ended before its first word; raise max_tokens"
    assert table.loc[("endpoint", 0), "broken"] == f"no valid mechanism: {reason}"
    assert pd.notna(table.loc[("endpoint", 1), "mechanism"])
    said = " ".join(capsys.readouterr().out.split())
    assert f"endpoint: 1 of 2 answers were refused, 1 of them such as this: {reason}" in said
    counts = pd.read_csv(tmp_path / "out/answers.csv")
    assert set(counts["kind"]) == {"accepted", "cut off"}


@pytest.mark.slow
def test_answers_that_are_paid_for_outlive_a_failing_server(tmp_path: Path) -> None:
    words = [*ENDPOINT, own_briefs(tmp_path, "stage1", "stage1")]
    kept = tmp_path / "out/replies.jsonl"
    with serving(lambda count, _: Reply(status=401, body={}) if count == 1 else Reply()) as server:
        words.append(f"designer.base_url={server.url}")
        with pytest.raises(SystemExit, match=r"The answers so far are in .*replies\.jsonl"):
            play(tmp_path / "out", *words)
        play(tmp_path / "again", *words, f"designer.cache={kept}")
    first, _, third = (request["body"]["messages"] for request in server.requests)
    assert first != third and len(kept.read_text().splitlines()) == 2
    table = pd.read_csv(tmp_path / "again/briefs.csv").set_index("designer")
    assert table.loc["endpoint", "mechanism"].notna().all()
