"""A small HTTP server that answers the trainer as a vLLM server would; it does not sample."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Score = Callable[[Sequence[int], Sequence[int]], list[float]]


class FakeVllm(ThreadingHTTPServer):
    """Answers each prompt with the given completions, in turn, and keeps what it was asked.

    Args:
        answers: Tokens of the completions.
        score: Returns the log-probabilities of a completion's tokens after a prompt.
    """

    def __init__(self, answers: Sequence[Sequence[int]], score: Score) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.score = score
        self.asked: list[tuple[str, dict[str, Any]]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

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


class _Handler(BaseHTTPRequestHandler):
    server: FakeVllm

    def do_GET(self) -> None:  # the library's name
        self._answer({"data": [{"id": "the-model"}]} if self.path == "/v1/models" else {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = json.loads(body) if body else {}
        self.server.asked.append((self.path, request))
        known = self.path == "/v1/completions"
        self._answer(self.server.completions(request) if known else {"success": True})

    def _answer(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(answers: Sequence[Sequence[int]], score: Score) -> Iterator[FakeVllm]:
    """Serve in a thread."""
    with FakeVllm(answers, score) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
