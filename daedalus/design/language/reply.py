"""A chat with one reply: the type of functions that ask a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from daedalus.design.language.prompt import Message


@dataclass(frozen=True)
class Reply:
    """What a model wrote, and what that took. It can always be written to a file and read again.

    Attributes:
        text: Its words, in which U+FFFD stands for each lone surrogate; empty if there are none.
        prompt_tokens: Tokens that it read; 0 if nobody told.
        completion_tokens: Tokens that it wrote; 0 if nobody told.
        reason: Why there are no words, as KIND: DETAILS in one line; empty if there are.

    Raises:
        TypeError: A field has another type.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("text", "reason"):
            object.__setattr__(self, name, well_formed(getattr(self, name)))
        if any(type(each) is not int for each in (self.prompt_tokens, self.completion_tokens)):
            raise TypeError(f"tokens: {self.prompt_tokens!r}, {self.completion_tokens!r}")


Ask = Callable[[list[Message], int], Reply]
"""Maps a chat and a seed to the model's reply."""


def well_formed(text: str) -> str:
    """Return a text with U+FFFD for each lone surrogate, which UTF-8 cannot write.

    Raises:
        TypeError: It is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"{type(text).__name__} instead of a text")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def in_one_line(text: str) -> str:
    """Return a foreign text as sentences quote it: in one line, without control characters."""
    shown = (each if each.isprintable() or each.isspace() else "\ufffd" for each in text)
    return " ".join("".join(shown).split())
