"""Tokenizer of the embedded model: byte-level BPE, trained on prompts and mechanisms."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import AddedToken
from transformers import Qwen2Tokenizer

from daedalus.market.mechanism import CHOICES, FIELDS
from daedalus.market.population import MAX_BIDDERS

END_OF_TURN = "<|im_end|>"
PADDING = "<|endoftext|>"

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""ChatML, as the Qwen2 family uses it."""


def build_tokenizer(
    corpus: Iterable[str], vocabulary: int, numbers: bool = False
) -> Qwen2Tokenizer:
    """Train a tokenizer.

    It uses the normaliser and pre-tokenizer of Qwen2, because loading a Qwen2 checkpoint restores
    these in any case. Each key of a mechanism is one token. Keys are no choice of the model, and
    this halves the length of a completion. Turns end with ``<|im_end|>``.

    Args:
        corpus: Texts from which merges are learned.
        vocabulary: Largest number of tokens, without those of numbers.
        numbers: Whether each of ``number_tokens`` is a token. Otherwise a compact prompt is half as
            long again.
    """
    keys = schema_tokens()
    tokenizer: Qwen2Tokenizer = Qwen2Tokenizer().train_new_from_iterator(
        ([text] for text in corpus),
        vocabulary - len(keys),
        new_special_tokens=["<|im_start|>", END_OF_TURN],
        show_progress=False,
    )
    added = keys + number_tokens() if numbers else keys
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=False) for text in added])
    tokenizer.eos_token = END_OF_TURN
    tokenizer.pad_token = PADDING
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.padding_side = "left"
    return tokenizer


def schema_tokens() -> list[str]:
    """Return the eleven pieces of text before the values of a compact JSON mechanism, in order."""
    pieces = []
    closing = "{"
    for name in FIELDS:
        quote = '"' if name in CHOICES else ""
        pieces.append(f'{closing}"{name}":{quote}')
        closing = f"{quote},"
    return pieces


def number_tokens() -> list[str]:
    """Return the numbers of a compact prompt from -1.00 to 64, each with the space before it."""
    hundredths = [f" {value / 100:.2f}" for value in range(-100, 200)]
    tenths = [f" {value / 10:.1f}" for value in range(20, 100)]
    return hundredths + tenths + [f" {value}" for value in range(10, MAX_BIDDERS + 1)]
