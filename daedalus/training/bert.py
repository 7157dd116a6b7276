"""A BERT encoder in PyTorch's own layers, for reading. Training takes that of transformers.

To import transformers and PEFT takes longer than to read a brief.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

_IN_A_LAYER = {
    "attention.output.dense": "self_attn.out_proj",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "linear1",
    "output.dense": "linear2",
    "output.LayerNorm": "norm2",
}
_QUERY_KEY_VALUE = [f"attention.self.{name}" for name in ("query", "key", "value")]
_BOTH = ("weight", "bias")
_DOWN, _UP = ".lora_A.weight", ".lora_B.weight"


class Bert(nn.Module):
    """What BERT makes of tokens (`Devlin et al. 2019 <https://arxiv.org/abs/1810.04805>`_).

    Args:
        sizes: The encoder's ``config.json``, as transformers writes it.
        weights: The encoder's weights, by their names in transformers.
    """

    def __init__(self, sizes: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.words, self.places, self.kinds = (
            nn.Embedding.from_pretrained(weights[f"embeddings.{name}_embeddings.weight"])
            for name in ("word", "position", "token_type")
        )
        width, epsilon = sizes["hidden_size"], sizes["layer_norm_eps"]
        self.norm = nn.LayerNorm(width, epsilon)
        self.norm.load_state_dict({kind: weights[f"embeddings.LayerNorm.{kind}"] for kind in _BOTH})
        layer = nn.TransformerEncoderLayer(
            width,
            sizes["num_attention_heads"],
            sizes["intermediate_size"],
            activation=sizes["hidden_act"],
            layer_norm_eps=epsilon,
            batch_first=True,
        )
        number = sizes["num_hidden_layers"]
        self.layers = nn.TransformerEncoder(layer, number, enable_nested_tensor=False)
        for at, each in enumerate(self.layers.layers):
            each.load_state_dict(_of_a_layer(weights, f"encoder.layer.{at}"), assign=True)
        self.eval().requires_grad_(False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor]:
        """Return the last hidden states, shape (B, T, width), first of a tuple as elsewhere.

        Args:
            input_ids: Tokens of B texts, shape (B, T).
            attention_mask: 1 for tokens and 0 for padding, shape (B, T).
        """
        places = torch.arange(input_ids.shape[1])
        one_kind = self.kinds.weight[0]  # no text is a pair
        embedded = self.norm(self.words(input_ids) + self.places(places) + one_kind)
        return (self.layers(embedded, src_key_padding_mask=attention_mask == 0),)


def load_bert(folder: Path, adapters: Path | None = None) -> Bert:
    """Load an encoder that transformers wrote, for reading alone.

    Args:
        folder: The encoder, as ``BertModel.save_pretrained`` writes it.
        adapters: Folder of low-rank adapters, as PEFT writes them; they are added to the weights.
    """
    weights = load_file(folder / "model.safetensors")
    if adapters:
        _add(weights, adapters)
    return Bert(json.loads((folder / "config.json").read_text()), weights)


def _add(weights: dict[str, Tensor], adapters: Path) -> None:
    config = json.loads((adapters / "adapter_config.json").read_text())
    low_rank = load_file(adapters / "adapter_model.safetensors")
    for name in low_rank:
        if name.endswith(_DOWN):
            place = name.removeprefix("base_model.model.").removesuffix(_DOWN) + ".weight"
            change = low_rank[name.removesuffix(_DOWN) + _UP] @ low_rank[name]
            weights[place] = weights[place] + config["lora_alpha"] / config["r"] * change


def _of_a_layer(weights: Mapping[str, Tensor], layer: str) -> dict[str, Tensor]:
    """Return the weights of a layer, by the names that PyTorch has for them."""
    found = {
        f"{own}.{kind}": weights[f"{layer}.{name}.{kind}"]
        for name, own in _IN_A_LAYER.items()
        for kind in _BOTH
    }
    for kind in _BOTH:
        parts = [weights[f"{layer}.{name}.{kind}"] for name in _QUERY_KEY_VALUE]
        found[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
    return found
