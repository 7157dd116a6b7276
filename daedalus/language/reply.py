"""A chat with one reply: the type of functions that ask a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from daedalus.language.prompt import Message


@dataclass(frozen=True)
class Reply:
    """What a model wrote, and what that took.

    Attributes:
        text: Its words; empty if it declined to answer.
        prompt_tokens: Tokens that it read; 0 if nobody told.
        completion_tokens: Tokens that it wrote; 0 if nobody told.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


Ask = Callable[[list[Message], int], Reply]
"""Maps a chat and a seed to the model's reply."""
