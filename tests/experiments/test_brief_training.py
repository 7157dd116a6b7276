"""What trains on briefs, trains readers of them and freezes them, each in miniature."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.briefs.brief import read_briefs
from daedalus.design.briefs.frozen import HASHES, frozen_briefs
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.parts import sentences_in_parts
from daedalus.design.briefs.readers import KeywordReader
from daedalus.design.briefs.splits import SPLITS
from daedalus.design.briefs.wordings import examples, wordings
from daedalus.lab.studies import brief_reading as study
from daedalus.lab.studies.brief_reading import reading
from daedalus.launch.config.compose import quoted
from daedalus.launch.from_config import load_reader
from daedalus.market.mechanism import mechanism_from_mapping
from daedalus.runs.folder import RunFolder
from daedalus.training.brief_settings import BriefReaderSettings
from daedalus.training.sentence_encoder import load_encoder
from experiments import brief_reader, brief_reading, freeze_briefs
from tests.launching import play

pytestmark = pytest.mark.slow

TINY_MODEL = """
+experiment=grpo_briefs model=tiny model.hidden_size=32 model.layers=2 model.heads=2
model.intermediate_size=64 splits=[wordings,pairs] evaluation.episodes=2 workers=1
training.sft.steps=2 training.sft.batch_size=2 training.sft.examples=4 training.sft.warmup_steps=0
lessons.taught=1 training.grpo.steps=1 training.grpo.prompts_per_step=2 training.grpo.group_size=2
training.grpo.micro_batch=4 training.grpo.states=4 training.grpo.futures=2
training.grpo.warmup_steps=0
""".split()
LEARNT = sum(each.trained for each in MEANINGS.values())
TINY_READER = ["+experiment=brief_reader", "reader.epochs=1", "reader.wordings=1"]


def _without_encoder() -> None:
    raise CannotRunError("there is no encoder")


@pytest.fixture
def few_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one sentence of each meaning be read, for a model takes long over each."""
    few = {name: texts[:1] for name, texts in wordings("second").items()}
    monkeypatch.setattr(study, "wordings", {"second": few}.__getitem__)


@pytest.mark.usefixtures("few_read")
def test_a_model_is_taught_trained_and_scored_under_briefs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(tmp_path, *TINY_MODEL)
    run = RunFolder(tmp_path)
    steps = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    (trained,) = [each for each in steps if each["phase"] == "grpo"]
    assert "reward" in trained and 0 <= trained["rules_kept"] <= 1
    assert run.finished.exists() and (run.sft_model / "prompt.json").exists()
    assert json.loads((run.model / "prompt.json").read_text())["constrained"]
    table = pd.read_csv(tmp_path / "briefs.csv").set_index("designer")
    assert set(table.index) == {"random", "informed_greedy", "sft", "sft_grpo", "true_parts"}
    assert set(table["split"]) == {"wordings", "pairs"}
    for text in table.loc[["sft", "sft_grpo"], "mechanism"]:
        mechanism_from_mapping(json.loads(text))  # constrained answers are mechanisms
    assert all("reward" in json.loads(each) for each in table.loc["sft_grpo", "understood"])
    assert set(pd.read_csv(tmp_path / "pairs.csv")["pair"]) == {"pairs-0000"}

    monkeypatch.setattr(brief_reading, "_of_sellers", _without_encoder)
    alone = ["readers=[]", f"+models.4={quoted(str(run.model))}"]
    play(tmp_path / "reading", "+experiment=brief_reading", *alone)
    read = pd.read_csv(tmp_path / "reading/reading.csv")
    assert len(read) == LEARNT and set(read["wordings"]) == {4}
    assert set(read["reader"]) == {"language_model"}
    assert read["read"].isin([*MEANINGS]).all() and read["sure"].isna().all()
    assert not (tmp_path / "reading/sellers.csv").exists()


@pytest.fixture
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sentences that ask for several things be few, for each takes long."""
    few = [each for each in sentences_in_parts() if len(each) > 1][:8]
    monkeypatch.setattr(brief_reader, "sentences_in_parts", lambda: few)


@pytest.mark.usefixtures("few_parts", "few_read")
@pytest.mark.parametrize(
    ("change", "count"), [("reader.benchmark=true", LEARNT), ("reader.parts=true", len(MEANINGS))]
)
def test_a_reader_is_trained_and_counted(tmp_path: Path, change: str, count: int) -> None:
    try:
        load_encoder()
    except CannotRunError as error:
        pytest.skip(str(error))
    play(tmp_path, *TINY_READER, change)
    assert list(pd.read_csv(tmp_path / "losses.csv")["epoch"]) == [1]
    table = pd.read_csv(tmp_path / "reading.csv")
    assert len(table) == count and table["sure"].between(0, 1).all()
    again = load_reader("tuned", False, str(tmp_path / "reader"))
    rows = table.head(3).to_dict("records")
    for row in rows:
        found = again.clauses([row["sentence"]])
        assert row["read"] in ", ".join(each.meaning for each in found)


@pytest.mark.parametrize(("benchmark", "count"), [(True, 230), (False, 314)])
def test_every_sentence_of_the_second_writer_is_read(benchmark: bool, count: int) -> None:
    table = reading(KeywordReader(examples(benchmark, 1)), benchmark)
    assert len(table) == count and set(table["right"]) == {True, False}
    assert table["sentence"].is_unique


@pytest.mark.parametrize(
    ("settings", "count", "most_parts"),
    [
        ({"benchmark": True}, 460, 1),
        ({"balanced": True}, 1192, 1),
        ({"near": True}, 16165, 1),
        ({"parts": True}, 4993, 5),
    ],
)
def test_a_reader_learns_what_its_settings_say(
    settings: dict[str, bool], count: int, most_parts: int
) -> None:
    given = brief_reader.sentences(BriefReaderSettings(**settings))
    assert (len(given), max(map(len, given))) == (count, most_parts)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("benchmark", "near: true; the benchmark lets readers"),
        ("balanced", "balanced: true; with near=true leave it out"),
    ],
)
def test_what_is_near_a_meaning_is_refused_beside(other: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BriefReaderSettings(near=True, **{other: True})


def test_briefs_are_frozen_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = [replace(each, size=1) for each in freeze_briefs.TEST_SPLITS]
    monkeypatch.setattr(freeze_briefs, "TEST_SPLITS", small)
    monkeypatch.setattr(freeze_briefs, "_PAIRS", 1)
    monkeypatch.setattr(freeze_briefs, "training_briefs", lambda: frozen_briefs("training"))
    play(tmp_path, "+experiment=freeze_briefs", "workers=1")
    folder = tmp_path / "briefs"
    hashes = json.loads((folder / "sha256.json").read_text())
    frozen = json.loads(HASHES.read_text())
    assert hashes.keys() == frozen.keys()
    assert hashes["training.jsonl.gz"] == frozen["training.jsonl.gz"]
    for name in SPLITS:
        drawn = read_briefs(folder / f"{name}.jsonl")
        first = frozen_briefs(name)[: len(drawn)]
        assert [each.id for each in drawn] == [each.id for each in first]
        assert [(each.text, each.clauses) for each in drawn] == [
            (each.text, each.clauses) for each in first
        ]
        assert [each.scale for each in drawn] == [each.scale for each in first]
