"""A small HTTP server that answers the trainer as a vLLM server would; it does not sample."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.json_server import json_server

Score = Callable[[Sequence[int], Sequence[int]], list[float]]


@dataclass
class FakeVllm:
    """Answers each prompt with the given completions, in turn, and keeps what it was asked.

    Attributes:
        answers: Tokens of the completions.
        score: Returns the log-probabilities of a completion's tokens after a prompt.
        address: Address of the server.
        asked: Path and content of each request that was posted.
    """

    answers: Sequence[Sequence[int]]
    score: Score
    address: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def answer(self, path: str, body: bytes | None) -> tuple[int, object]:
        """Answer a request."""
        if body is None:  # for the library's name
            return 200, {"data": [{"id": "the-model"}]} if path == "/v1/models" else {}
        request = json.loads(body) if body else {}
        self.asked.append((path, request))
        known = path == "/v1/completions"
        return 200, self.completions(request) if known else {"success": True}

    def completions(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return choices as vLLM orders them: all of a prompt before those of the next."""
        choices = []
        for prompt in request["prompt"]:
            for number in range(request["n"]):
                tokens = list(self.answers[number % len(self.answers)])
                names = [f"token_id:{token}" for token in tokens]
                scores = self.score(prompt, tokens)
                logprobs = {
                    "tokens": names,
                    "token_logprobs": scores,
                    "top_logprobs": [
                        {each: score} for each, score in zip(names, scores, strict=True)
                    ],
                }
                choices.append(
                    {"prompt_token_ids": prompt, "token_ids": tokens, "logprobs": logprobs}
                )
        return {"choices": choices}


@contextmanager
def serving(answers: Sequence[Sequence[int]], score: Score) -> Iterator[FakeVllm]:
    """Serve in a thread."""
    fake = FakeVllm(answers, score)
    with json_server(fake.answer) as fake.address:
        yield fake
