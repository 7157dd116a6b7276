"""A brief that a chat answers: its one answer is the mechanism of a whole episode."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.scoring import Verdict
from daedalus.design.designers.endpoint import zero_shot_prompt
from daedalus.design.language.prompt import Message, prompts
from daedalus.design.language.reasoning import answered_mechanism


@dataclass(frozen=True)
class BriefAnswer:
    """What an answer comes to.

    Attributes:
        verdict: Its rules, objective and score.
        refusal: Why it holds no mechanism; empty if it holds one.
    """

    verdict: Verdict
    refusal: str

    @property
    def broken(self) -> str:
        """Return in words what it breaks; empty if it keeps all rules."""
        return "; ".join([*self.verdict.broken, *[self.refusal] * bool(self.refusal)])

    @property
    def values(self) -> dict[str, float]:
        """Return the ``score``, and whether it keeps the rules and holds a mechanism, as 0 or 1."""
        kept, valid = self.verdict.keeps_rules, not self.refusal
        return {"score": self.verdict.reward, "rules_kept": float(kept), "valid": float(valid)}


def opening(benchmark: Benchmark, brief: Brief, seed: int) -> list[Message]:
    """Return the chat before the answer: the task, what may be set, the brief and the records.

    It has the words of the brief, not its weights and rules. The records are those of the seed.
    """
    return prompts(benchmark.observe(brief, seed), zero_shot_prompt())[0]


def judged(benchmark: Benchmark, brief: Brief, text: str) -> BriefAnswer:
    """Return what an answer comes to; one that holds no mechanism scores 0."""
    parsed = answered_mechanism(text)
    mechanism = parsed.mechanism if parsed.valid else None
    return BriefAnswer(benchmark.judge(brief, mechanism), "" if parsed.valid else parsed.reason)
