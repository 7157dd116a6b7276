"""The embedded model's tokenizer: byte-level BPE over the project's own prompts and mechanisms."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import AddedToken
from transformers import Qwen2Tokenizer

from daedalus.market.mechanism import CHOICES, FIELDS

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

    It keeps Qwen2's own normaliser and pre-tokenizer, since loading a Qwen2 checkpoint puts those
    back whatever was saved. The mechanism's keys are single tokens: they carry no choice, so a
    token for each halves the length of a completion.

    Args:
        corpus: Texts to learn merges from.
        vocabulary: Largest number of tokens, those of numbers aside.
        numbers: Whether each of ``number_tokens`` becomes a token; digit by digit, a compact
            prompt is half as long again.

    Returns:
        A tokenizer that ends turns with ``<|im_end|>`` and pads with ``<|endoftext|>``.
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
    """Return the text between the values of a compact JSON mechanism, in order, eleven pieces."""
    pieces = []
    closing = "{"
    for name in FIELDS:
        quote = '"' if name in CHOICES else ""
        pieces.append(f'{closing}"{name}":{quote}')
        closing = f"{quote},"
    return pieces


def number_tokens() -> list[str]:
    """Return the numbers of a compact prompt, each with the space before it, from -1.00 to 9.9."""
    hundredths = [f" {value / 100:.2f}" for value in range(-100, 200)]
    return hundredths + [f" {value / 10:.1f}" for value in range(20, 100)]
