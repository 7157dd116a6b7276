"""A reader of briefs: low-rank adapters on the sentence encoder, and a linear layer for meanings.

One sentence is one example. Whole briefs are read sentence by sentence, so their composition needs
no training. A sentence has one meaning for the benchmark's reader. That of the package gives each
word a meaning, so a sentence may ask for several things.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn
from tqdm import tqdm

from daedalus.design.briefs.amounts import masked, masked_with_places
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.direction import on_the_side_of_its_words
from daedalus.design.briefs.meanings import OTHER
from daedalus.design.briefs.parts import JOINTS, Parts, joined, masked_labels, runs, texts_of
from daedalus.design.briefs.ranges import range_by_its_words
from daedalus.design.briefs.readers import clause
from daedalus.design.briefs.wordings import NEAR
from daedalus.market.seeds import generator
from daedalus.runs.files import written_whole_folder
from daedalus.training.brief_settings import BriefReaderSettings
from daedalus.training.sentence_encoder import NAME, SentenceEncoder, load_encoder

_AT_ONCE = 64
_SHARPNESS = 10.0  # of the logits: embeddings have length 1
_SWITCH = 4.0  # nats that a change of meaning costs between two words
_SMOOTHING = 0.05  # of labels
_JOINED_UP_TO = (140, 200)  # characters of a sentence that may be joined with another one
_HEAD, _MEANINGS = "head.pt", "meanings.json"
_TARGETS = ["query", "key", "value", "dense"]


class TunedReader:
    """Reads sentences by an encoder with adapters.

    Args:
        encoder: The encoder, adapters included.
        head: From an embedding to a logit for each class.
        classes: Names of the classes, in the order of the logits: meanings, and what is ``NEAR``
            one of them and asks for nothing that a meaning has.
        by_word: Whether each word has a meaning, and not the sentence as a whole.
        sides: Whether words such as "at most" say from which side an amount is bounded.
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        head: nn.Linear,
        classes: Sequence[str],
        by_word: bool,
        sides: bool = False,
    ) -> None:
        self.encoder, self.head = encoder, head
        self.classes, self.by_word, self.sides = tuple(classes), by_word, sides
        self._near = np.array([each.startswith(NEAR) for each in self.classes])
        self.meanings = tuple(each for each in self.classes if not each.startswith(NEAR))

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the likeliest meaning of each sentence, or of each part, with its probability."""
        if self.encoder.model.training:  # it takes a tenth of the time to be told again
            self.encoder.model.eval()
        read = self._clauses_of_parts if self.by_word else self._clauses_of_sentences
        with torch.no_grad():
            starts = range(0, len(sentences), _AT_ONCE)
            return [each for at in starts for each in read(sentences[at : at + _AT_ONCE])]

    def _clauses_of_sentences(self, sentences: Sequence[str]) -> list[Clause]:
        logits = self.logits(self.encoder([masked(each) for each in sentences]))
        probabilities = self._odds(logits)
        return [
            self._clause(sentence, int(row.argmax()), row)
            for sentence, row in zip(sentences, probabilities, strict=True)
        ]

    def _clauses_of_parts(self, sentences: Sequence[str]) -> list[Clause]:
        given = [masked_with_places(each) for each in sentences]
        words, characters = self.encoder.words([text for text, _ in given])
        probabilities = self._odds(self.logits(words))
        found: list[Clause] = []
        for row, (_, places) in enumerate(given):
            starts, ends = characters[row].T
            real = starts < ends
            parts = self._parts(
                sentences[row], probabilities[row, real], np.array(places)[starts[real]]
            )
            found += [*parts] or [Clause(OTHER, None, sentences[row], 0.0)]  # no word in it
        return found

    def _odds(self, logits: Tensor) -> NDArray[np.float32]:
        """Return the probability of each meaning; what is near one belongs to ``OTHER``."""
        odds: NDArray[np.float32] = logits.softmax(dim=-1).numpy()
        found = odds[..., ~self._near]
        if self._near.any():
            found[..., self.meanings.index(OTHER)] += odds[..., self._near].sum(axis=-1)
        return found

    def _parts(
        self, sentence: str, probabilities: NDArray[np.float32], places: NDArray[np.int64]
    ) -> Iterator[Clause]:
        """Yield a clause for each run of words with one meaning."""
        if not len(probabilities):
            return
        found = runs(probabilities, _SWITCH)
        texts = texts_of(sentence, [0, *(int(places[start]) for start, _, _ in found[1:])])
        for text, (start, end, label) in zip(texts, found, strict=True):
            if text:
                mean = probabilities[start:end].mean(axis=0)
                yield from self._clauses_of_part(text, sentence, label, mean)

    def _clauses_of_part(
        self, text: str, sentence: str, label: int, probabilities: NDArray[np.float32]
    ) -> list[Clause]:
        """Return the clause of a part; two if it names a range, since a rule has one end."""
        if self.sides:
            named = dict(zip(self.meanings, probabilities.tolist(), strict=True))
            ends = range_by_its_words(self.meanings[label], text, sentence, named)
            if ends:
                return [Clause(meaning, amount, text, sure) for meaning, amount, sure in ends]
        return [self._clause(text, label, probabilities)]

    def _clause(self, text: str, label: int, probabilities: NDArray[np.float32]) -> Clause:
        named = dict(zip(self.meanings, probabilities.tolist(), strict=True))
        meaning, sure = self.meanings[label], named[self.meanings[label]]
        if self.sides:
            meaning, sure = on_the_side_of_its_words(meaning, text, named)
        return clause(meaning, text, sure)

    def logits(self, embeddings: Tensor) -> Tensor:
        """Return the logits of embeddings, shape (..., classes)."""
        scores: Tensor = self.head(_SHARPNESS * embeddings)
        return scores

    def save(self, folder: Path) -> None:
        """Write adapters, head and classes to a folder, whole or not at all."""
        self.encoder.model.peft_config["default"].base_model_name_or_path = NAME
        names = {"by_word": self.by_word, "meanings": self.classes}
        with written_whole_folder(folder) as whole:
            self.encoder.model.save_pretrained(whole, save_embedding_layers=False)
            (whole / "README.md").unlink(missing_ok=True)  # a form that nobody filled in
            torch.save(self.head.state_dict(), whole / _HEAD)
            (whole / _MEANINGS).write_text(json.dumps(names, indent=1) + "\n")


def load_reader(folder: Path, sides: bool = False) -> TunedReader:
    """Return the reader that ``TunedReader.save`` wrote.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    encoder = load_encoder()
    names = json.loads((folder / _MEANINGS).read_text())
    encoder.model = PeftModel.from_pretrained(encoder.model, str(folder))
    head = nn.Linear(encoder.width, len(names["meanings"]))
    head.load_state_dict(torch.load(folder / _HEAD, weights_only=True))
    return TunedReader(encoder, head, names["meanings"], names["by_word"], sides)


def train_reader(
    examples: Iterable[Parts], settings: BriefReaderSettings, seed: int
) -> tuple[TunedReader, list[float]]:
    """Train adapters and head on sentences whose parts have meanings.

    Args:
        examples: The sentences; of one part each, unless ``settings.parts``.
        settings: Rank, rates and epochs.
        seed: Seed of the run.

    Returns:
        The reader, and the mean loss of each epoch.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    sentences = list(examples)
    classes = sorted({name for parts in sentences for _, name in parts})
    torch.manual_seed(seed)
    encoder = load_encoder()
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=2 * settings.rank,
        lora_dropout=settings.dropout,
        target_modules=_TARGETS,
    )
    encoder.model = get_peft_model(encoder.model, lora)
    head = nn.Linear(encoder.width, len(classes))
    reader = TunedReader(encoder, head, classes, settings.parts)
    return reader, _fit(reader, sentences, settings, seed)


def _fit(
    reader: TunedReader, sentences: Sequence[Parts], settings: BriefReaderSettings, seed: int
) -> list[float]:
    optimizer = torch.optim.AdamW(_groups(reader, settings), weight_decay=0.01)
    steps = settings.epochs * -(-len(sentences) // settings.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * (1.0 - step / steps)
    )
    losses, weights = [], _weights(reader, sentences, settings)
    loss_of = _loss_by_word if settings.parts else _loss_by_sentence
    for epoch in tqdm(range(settings.epochs), desc="training the reader", unit="epoch"):
        reader.encoder.model.train()
        total = []
        for batch in _batches(sentences, settings, seed, epoch):
            loss = loss_of(reader, batch, weights)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total.append(float(loss.detach()))
        losses.append(float(np.mean(total)))
    return losses


def _loss_by_sentence(reader: TunedReader, batch: Sequence[Parts], weights: Tensor) -> Tensor:
    texts, names = zip(*(parts[0] for parts in batch), strict=True)
    targets = torch.tensor([reader.classes.index(name) for name in names])
    logits = reader.logits(reader.encoder([masked(each) for each in texts]))
    return nn.functional.cross_entropy(logits, targets, weights, label_smoothing=_SMOOTHING)


def _loss_by_word(reader: TunedReader, batch: Sequence[Parts], weights: Tensor) -> Tensor:
    """Return the cross-entropy of words; all parts of a meaning count the same, however long."""
    texts, labels = zip(*map(masked_labels, batch), strict=True)
    words, characters = reader.encoder.words(texts)
    targets, shares = torch.zeros(words.shape[:2], dtype=torch.long), torch.zeros(words.shape[:2])
    for row, (parts, own, ends) in enumerate(zip(batch, labels, characters, strict=True)):
        real = ends[:, 0] < ends[:, 1]
        part = np.where(real, own[np.where(real, ends[:, 0], 0)], -1)
        for number, (_, name) in enumerate(parts):
            here = torch.from_numpy(part == number)
            targets[row, here] = place = reader.classes.index(name)
            shares[row, here] = weights[place] / max(1, int(here.sum()))
    losses = nn.functional.cross_entropy(
        reader.logits(words).transpose(1, 2), targets, reduction="none", label_smoothing=_SMOOTHING
    )
    return (losses * shares).sum() / shares.sum()


def _weights(
    reader: TunedReader, sentences: Sequence[Parts], settings: BriefReaderSettings
) -> Tensor:
    """Return a weight for each class: all count the same, or more alike by the root of that."""
    names = [name for parts in sentences for _, name in parts]
    counts = torch.tensor([names.count(name) for name in reader.classes]).float()
    even = counts.sum() / (len(counts) * counts)
    power = 0.5 if settings.parts or settings.near else float(settings.balanced)
    return even**power


def _groups(reader: TunedReader, settings: BriefReaderSettings) -> list[dict[str, object]]:
    adapters = [each for each in reader.encoder.model.parameters() if each.requires_grad]
    return [
        {"params": adapters, "lr": settings.learning_rate},
        {"params": [*reader.head.parameters()], "lr": settings.head_learning_rate},
    ]


def _batches(
    sentences: Sequence[Parts], settings: BriefReaderSettings, seed: int, epoch: int
) -> Iterator[list[Parts]]:
    """Yield the sentences of an epoch; to learn parts, some are joined, and alike in length."""
    rng, size = generator(seed, "briefs/reader", epoch), settings.batch_size
    order = [sentences[row] for row in rng.permutation(len(sentences))]
    if settings.parts:
        order = sorted((_perhaps_joined(each, sentences, rng) for each in order), key=_length)
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    yield from (batches[at] for at in rng.permutation(len(batches))) if settings.parts else batches


def _perhaps_joined(parts: Parts, others: Sequence[Parts], rng: np.random.Generator) -> Parts:
    for longest in _JOINED_UP_TO:
        if _length(parts) < longest and rng.random() < 0.5:
            other = others[int(rng.integers(len(others)))]
            parts = joined(parts, other, JOINTS[rng.integers(len(JOINTS))])
    return parts


def _length(parts: Parts) -> int:
    return sum(len(text) for text, _ in parts)
