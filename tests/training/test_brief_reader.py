"""A reader of briefs learns its sentences and comes back; an encoder embeds them alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from daedalus.design.briefs.linear_reader import LinearReader
from daedalus.design.briefs.meanings import OTHER
from daedalus.design.briefs.readers import read
from daedalus.design.briefs.wordings import NEAR
from daedalus.market.allowed import Between
from daedalus.training import brief_reader, sentence_encoder
from daedalus.training.brief_reader import save, train_reader
from daedalus.training.brief_settings import BriefReaderSettings
from daedalus.training.sentence_encoder import load_sentence_encoder
from daedalus.training.tuned_reader import load_reader

RESERVE = "reserve_least/x"
EXAMPLES = [
    ("Tell nobody who won.", "winner_told/no"),
    ("Who won stays hidden.", "winner_told/no"),
    ("Everybody hears who won.", "winner_told/yes"),
    ("Read out the name of who won.", "winner_told/yes"),
    ("Sell nothing below 0.5 of it.", "reserve_least/x"),
    ("At least 0.5 must come in.", "reserve_least/x"),
    ("The harbour is old.", "nothing/all"),
    ("We like boats.", "nothing/all"),
]
SETTINGS = BriefReaderSettings(epochs=40, batch_size=4, learning_rate=0.01, dropout=0.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a small encoder with random weights, and let readers take it."""
    texts = ["is all one to us", *(text for text, _ in EXAMPLES)]
    words = {word for text in texts for word in text.replace(".", " .").lower().split()}
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "some", *sorted(words)]
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(names)}, "[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]"
    )
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # as SETTINGS say
    model = BertModel(BertConfig(vocab_size=len(names), num_attention_heads=2, **sizes, **none))
    place = str(tmp_path / "encoder")
    model.save_pretrained(place)
    wrapped.save_pretrained(place)
    monkeypatch.setattr(sentence_encoder, "ENCODER", place)
    return place


@pytest.mark.slow
def test_a_reader_learns_and_comes_back(folder: str, tmp_path: Path) -> None:
    reader, losses = train_reader([(each,) for each in EXAMPLES], SETTINGS, seed=0)
    assert losses[-1] < 0.6 < losses[0]
    save(reader, tmp_path / "reader")
    texts = [text for text, _ in EXAMPLES]
    again = load_reader(tmp_path / "reader").clauses(texts)
    sure = [each.confidence for each in reader.clauses(texts)]
    assert [each.confidence for each in again] == pytest.approx(sure, abs=1e-5)
    assert [each.meaning for each in again] == [meaning for _, meaning in EXAMPLES]
    understood = read(reader, "Tell nobody who won. Sell nothing below a fifth of it.")
    assert understood.allowed == {
        "reveal_winner_identity": (False,),
        "reserve_price": Between(0.2, 0.9),
    }


@pytest.mark.slow
def test_what_only_sounds_like_a_meaning_asks_for_nothing(folder: str, tmp_path: Path) -> None:
    near = [("Who won is all one to us.", f"{NEAR}winner_told/no"), ("Boats.", OTHER)]
    reader, _ = train_reader([(each,) for each in EXAMPLES + near], SETTINGS, seed=0)
    save(reader, tmp_path / "reader")
    texts = [near[0][0], *(text for text, _ in EXAMPLES)]
    found = load_reader(tmp_path / "reader").clauses(texts)
    assert [each.meaning for each in found] == [OTHER, *(meaning for _, meaning in EXAMPLES)]
    assert reader.meanings == tuple(sorted({meaning for _, meaning in EXAMPLES} | {OTHER}))
    assert found[0].confidence > 0.5


def test_the_same_seed_trains_the_same_reader(folder: str) -> None:
    short = BriefReaderSettings(epochs=2, batch_size=4)
    losses = [train_reader([(each,) for each in EXAMPLES], short, seed)[1] for seed in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2]


def test_embeddings_have_length_one_whatever_is_beside_them(folder: str) -> None:
    embed = load_sentence_encoder()
    together = embed(["We like boats.", "Tell nobody who won, and who is old."])
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0)
    assert np.allclose(together[0], embed(["We like boats."])[0], atol=1e-6)
    reader = LinearReader(embed).fit(EXAMPLES)
    assert reader.clauses(["The harbour is old."])[0].meaning == "nothing/all"


@pytest.mark.slow
def test_a_sentence_in_parts_is_read_part_by_part(folder: str, tmp_path: Path) -> None:
    both = (("Tell nobody who won", "winner_told/no"), (", at least 0.5 must come in.", RESERVE))
    examples = [*((each,) for each in EXAMPLES), both]
    settings = replace(SETTINGS, parts=True, epochs=60)
    save(train_reader(examples, settings, seed=0)[0], tmp_path / "reader")
    reader = load_reader(tmp_path / "reader")
    found = reader.clauses(
        ["Tell nobody who won, at least a fifth must come in.", "We like boats."]
    )
    assert [each.confidence for each in reader.clauses(["---"])] == [0.0]  # a reading for each
    assert [(each.meaning, each.amount, each.sentence) for each in found] == [
        ("winner_told/no", None, "Tell nobody who won"),
        (RESERVE, 0.2, "at least a fifth must come in."),
        ("nothing/all", None, "We like boats."),
    ]


@pytest.mark.parametrize("other", ["benchmark", "balanced"])
def test_parts_are_refused_beside_what_they_would_break(other: str) -> None:
    with pytest.raises(ValueError, match=f"^{other}: true; with parts=true leave it out"):
        BriefReaderSettings(parts=True, **{other: True})


@pytest.mark.parametrize(
    ("settings", "power"), [({}, 0.0), ({"near": True}, 0.5), ({"balanced": True}, 1.0)]
)
def test_balanced_meanings_weigh_the_same(
    folder: str, settings: dict[str, bool], power: float
) -> None:
    examples = [*((each,) for each in EXAMPLES), *[(("Old boats.", "nothing/all"),)] * 4]
    given = BriefReaderSettings(epochs=1, **settings)
    reader, _ = train_reader(examples, given, seed=0)
    weights = brief_reader._weights(reader, examples, given)
    nothing, other = (reader.meanings.index(name) for name in ("nothing/all", RESERVE))
    assert torch.isclose(weights[other] / weights[nothing], torch.tensor(3.0**power))
