"""A reader of briefs: low-rank adapters on the sentence encoder, and a linear layer for meanings.

One sentence is one example. Whole briefs are read sentence by sentence, so their composition needs
no training.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor, nn
from tqdm import tqdm

from daedalus.design.briefs.amounts import masked
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.readers import clause
from daedalus.market.seeds import generator
from daedalus.runs.files import written_whole_folder
from daedalus.training.brief_reader_settings import BriefReaderSettings
from daedalus.training.sentence_encoder import NAME, SentenceEncoder, load_encoder

_AT_ONCE = 64
_SHARPNESS = 10.0  # of the logits: embeddings have length 1
_HEAD, _MEANINGS = "head.pt", "meanings.json"
_TARGETS = ["query", "key", "value", "dense"]

logger = logging.getLogger(__name__)


class TunedReader:
    """Reads sentences by an encoder with adapters.

    Args:
        encoder: The encoder, adapters included.
        head: From an embedding to a logit for each meaning.
        meanings: Names of the meanings, in the order of the logits.
    """

    def __init__(self, encoder: SentenceEncoder, head: nn.Linear, meanings: Sequence[str]) -> None:
        self._encoder, self._head, self.meanings = encoder, head, tuple(meanings)

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the likeliest meaning of each sentence, with its probability."""
        self._encoder.model.eval()
        with torch.no_grad():
            texts = [masked(each) for each in sentences]
            starts = range(0, len(texts), _AT_ONCE)
            logits = torch.cat([self.logits(texts[at : at + _AT_ONCE]) for at in starts])
        odds, places = logits.softmax(dim=1).max(dim=1)
        return [
            clause(self.meanings[place], sentence, odd)
            for sentence, place, odd in zip(sentences, places.tolist(), odds.tolist(), strict=True)
        ]

    def logits(self, texts: Sequence[str]) -> Tensor:
        """Return the logits of B masked sentences, shape (B, meanings)."""
        scores: Tensor = self._head(_SHARPNESS * self._encoder(texts))
        return scores

    def save(self, folder: Path) -> None:
        """Write adapters, head and meanings to a folder, whole or not at all."""
        self._encoder.model.peft_config["default"].base_model_name_or_path = NAME
        with written_whole_folder(folder) as whole:
            self._encoder.model.save_pretrained(whole, save_embedding_layers=False)
            (whole / "README.md").unlink(missing_ok=True)  # a form that nobody filled in
            torch.save(self._head.state_dict(), whole / _HEAD)
            (whole / _MEANINGS).write_text(json.dumps(self.meanings, indent=1) + "\n")


def load_reader(folder: Path) -> TunedReader:
    """Return the reader that ``TunedReader.save`` wrote.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    encoder = load_encoder()
    meanings = json.loads((folder / _MEANINGS).read_text())
    encoder.model = PeftModel.from_pretrained(encoder.model, str(folder))
    head = nn.Linear(encoder.width, len(meanings))
    head.load_state_dict(torch.load(folder / _HEAD, weights_only=True))
    return TunedReader(encoder, head, meanings)


def train_reader(
    examples: Iterable[tuple[str, str]], settings: BriefReaderSettings, seed: int
) -> tuple[TunedReader, list[float]]:
    """Train adapters and head on pairs of a sentence and its meaning.

    Args:
        examples: The pairs.
        settings: Rank, rates and epochs.
        seed: Seed of the run.

    Returns:
        The reader, and the mean loss of each epoch.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    sentences, names = zip(*examples, strict=True)
    meanings = sorted(set(names))
    targets = torch.tensor([meanings.index(name) for name in names])
    torch.manual_seed(seed)
    encoder = load_encoder()
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=2 * settings.rank,
        lora_dropout=settings.dropout,
        target_modules=_TARGETS,
    )
    encoder.model = get_peft_model(encoder.model, lora)
    reader = TunedReader(encoder, nn.Linear(encoder.width, len(meanings)), meanings)
    texts = [masked(each) for each in sentences]
    return reader, _fit(reader, texts, targets, settings, seed)


def _fit(
    reader: TunedReader,
    texts: Sequence[str],
    targets: Tensor,
    settings: BriefReaderSettings,
    seed: int,
) -> list[float]:
    optimizer = torch.optim.AdamW(_groups(reader, settings), weight_decay=0.01)
    steps = settings.epochs * -(-len(texts) // settings.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * (1.0 - step / steps)
    )
    losses, weights = [], _weights(targets) if settings.balanced else None
    for epoch in tqdm(range(settings.epochs), desc="training the reader", unit="epoch"):
        reader._encoder.model.train()
        total = []
        for rows in _batches(len(texts), settings.batch_size, seed, epoch):
            logits = reader.logits([texts[row] for row in rows])
            loss = nn.functional.cross_entropy(logits, targets[rows], weights, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total.append(float(loss.detach()))
        losses.append(float(np.mean(total)))
    return losses


def _weights(targets: Tensor) -> Tensor:
    """Return a weight for each meaning, by which all count the same; 1 if they do anyway."""
    counts = targets.bincount().float()
    return counts.sum() / (len(counts) * counts)


def _groups(reader: TunedReader, settings: BriefReaderSettings) -> list[dict[str, object]]:
    adapters = [each for each in reader._encoder.model.parameters() if each.requires_grad]
    return [
        {"params": adapters, "lr": settings.learning_rate},
        {"params": [*reader._head.parameters()], "lr": settings.head_learning_rate},
    ]


def _batches(count: int, size: int, seed: int, epoch: int) -> Iterator[Tensor]:
    order = generator(seed, "briefs/reader", epoch).permutation(count)
    for start in range(0, count, size):
        yield torch.from_numpy(order[start : start + size])
