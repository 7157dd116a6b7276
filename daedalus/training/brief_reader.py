"""Trains a reader of briefs: low-rank adapters on the sentence encoder, and a linear layer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor, nn
from tqdm import tqdm
from transformers import AutoModel

from daedalus.design.briefs.amounts import masked
from daedalus.design.briefs.parts import JOINTS, Parts, joined, masked_labels
from daedalus.market.seeds import generator
from daedalus.runs.files import written_whole_folder
from daedalus.training.brief_settings import BriefReaderSettings
from daedalus.training.sentence_encoder import NAME, SentenceEncoder, encoder_folder, load_tokenizer
from daedalus.training.tuned_reader import CLASSES, HEAD, TunedReader

_SMOOTHING = 0.05  # of labels
_JOINED_UP_TO = (140, 200)  # characters of a sentence that may be joined with another one
_TARGETS = ["query", "key", "value", "dense"]


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
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=2 * settings.rank,
        lora_dropout=settings.dropout,
        target_modules=_TARGETS,
    )
    model = get_peft_model(AutoModel.from_pretrained(encoder_folder()), lora)
    head = nn.Linear(model.config.hidden_size, len(classes))
    encoder = SentenceEncoder(load_tokenizer(), model)
    reader = TunedReader(encoder, head, classes, settings.parts)
    try:
        return reader, _fit(reader, sentences, settings, seed)
    finally:
        model.eval()


def save(reader: TunedReader, folder: Path) -> None:
    """Write what ``train_reader`` returned to a folder, whole or not at all.

    The encoder's own weights are not written, only adapters, head and classes.
    """
    adapted: Any = reader.encoder.model
    adapted.peft_config["default"].base_model_name_or_path = NAME
    names = {"by_word": reader.by_word, "meanings": reader.classes}
    with written_whole_folder(folder) as whole:
        adapted.save_pretrained(whole, save_embedding_layers=False)
        (whole / "README.md").unlink(missing_ok=True)  # a form that nobody filled in
        torch.save(reader.head.state_dict(), whole / HEAD)
        (whole / CLASSES).write_text(json.dumps(names, indent=1) + "\n")


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
    """Yield the sentences of an epoch; to learn parts, some are joined.

    Of the package's readers but that of whole sentences, those of a batch are alike in length.
    """
    rng, size = generator(seed, "briefs/reader", epoch), settings.batch_size
    order = [sentences[row] for row in rng.permutation(len(sentences))]
    if settings.parts:
        order = [_perhaps_joined(each, sentences, rng) for each in order]
    alike = settings.parts or settings.near
    order = sorted(order, key=_length) if alike else order
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    yield from (batches[at] for at in rng.permutation(len(batches))) if alike else batches


def _perhaps_joined(parts: Parts, others: Sequence[Parts], rng: np.random.Generator) -> Parts:
    for longest in _JOINED_UP_TO:
        if _length(parts) < longest and rng.random() < 0.5:
            other = others[int(rng.integers(len(others)))]
            parts = joined(parts, other, JOINTS[rng.integers(len(JOINTS))])
    return parts


def _length(parts: Parts) -> int:
    return sum(len(text) for text, _ in parts)
