"""A language model as a designer. The model itself is a function from chats to texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from daedalus.checks import at_least
from daedalus.design.designers.base import DesignerContext, DesignerSettings, LoadModel
from daedalus.design.designers.purpose import Purpose, read_purpose
from daedalus.design.language.prompt import Generate, PromptSettings, prompts
from daedalus.design.language.reasoning import answered_mechanism
from daedalus.design.language.reply import Reply
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.parsing import ParsedMechanism, no_mechanism
from daedalus.runs import pretrained


@dataclass
class LanguageModelSettings(DesignerSettings):
    """Settings of a language model that designs.

    Attributes:
        checkpoint: Directory or hub name (OWNER/NAME) of the model; ``pretrained`` is the model
            that the package ships.
        temperature: Sampling temperature; 0 decodes greedily.
        max_new_tokens: Longest answer in tokens. Constrained answers have no limit.
        constrained: Whether tokens that cannot continue a mechanism, or one that the goal allows,
            are masked, so that every answer is valid. Models that were not trained for the task
            need this. With None they are masked if they were in training, and where a goal
            restricts the mechanism.
        prompt: Contents of the prompt. None is the prompt that the model was trained on.
        strict: Whether an answer with anything beside its JSON object is refused, as in training.

    Raises:
        ValueError: The checkpoint is not a model, or a number is out of range.
    """

    checkpoint: str = ""
    temperature: float = at_least(0, 0.0)
    max_new_tokens: int = at_least(1, 180, "an integer")
    constrained: bool | None = None
    prompt: PromptSettings | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint == pretrained.WORD:
            self.checkpoint = str(pretrained.FOLDER)
        is_model = (Path(self.checkpoint) / "config.json").exists()
        is_hub_name = re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", self.checkpoint) is not None
        if not is_model and (Path(self.checkpoint).exists() or not is_hub_name):
            raise ValueError(
                f"checkpoint: {self.checkpoint!r} holds no model; "
                "give the `model` folder of a training run, or a hub name OWNER/NAME"
            )

    @property
    def purpose(self) -> Purpose | None:
        """Return what the model was trained for; None if its run is not here."""
        return read_purpose(self.checkpoint)

    def build(self, context: DesignerContext) -> LanguageModelDesigner:
        """Load the model and return a designer that asks it.

        Raises:
            ValueError: The context cannot load models.
        """
        if context.load_model is None:
            raise ValueError("load_model: None; this context cannot load language models")
        generate, prompt = self.load(context.load_model)
        prompt.require_shown(context.env.goal.weights)
        return LanguageModelDesigner(generate, prompt, self.strict)

    def load(self, load_model: LoadModel) -> tuple[Generate[str], PromptSettings]:
        """Return the model's generate function, and the contents of its prompt."""
        generate, trained = load_model(
            self.checkpoint, self.temperature, self.max_new_tokens, self.constrained
        )
        return generate, self.prompt or trained


@dataclass(frozen=True)
class Answer:
    """What a model wrote.

    Attributes:
        prompt: The user's message.
        text: The answer, as it is.
        parsed: The mechanism in it, or why there is none.
    """

    prompt: str
    text: str
    parsed: ParsedMechanism


class LanguageModelDesigner:
    """Asks a model for a mechanism as JSON. An answer that does not parse is a malformed proposal.

    So is one that the goal of its market does not allow.

    Args:
        generate: Completes chats, in texts or in replies that may give a reason for having none.
        prompt: Contents of the prompt.
        strict: Whether anything beside the JSON object is refused, see ``answered_mechanism``.

    Attributes:
        answers: The answers of the last proposal, one for each market.
    """

    def __init__(
        self,
        generate: Generate[str] | Generate[Reply],
        prompt: PromptSettings,
        strict: bool = False,
    ) -> None:
        self._generate = generate
        self.prompt = prompt
        self._strict = strict
        self.answers: list[Answer] = []

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the model's mechanism for each market. An invalid answer is malformed."""
        chats = prompts(observations, self.prompt)
        goals = [observations.goal(row) for row in range(len(chats))]
        said: Sequence[str | Reply] = self._generate(chats, rng, goals)
        self.answers = [
            self._answer(chat[-1]["content"], each, goal)
            for chat, each, goal in zip(chats, said, goals, strict=True)
        ]
        return Mechanisms.stack([each.parsed.mechanism for each in self.answers])

    def _answer(self, prompt: str, said: str | Reply, goal: Goal) -> Answer:
        text, reason = (said.text, said.reason) if isinstance(said, Reply) else (said, "")
        parsed = no_mechanism(reason) if reason else answered_mechanism(text, self._strict, goal)
        return Answer(prompt, text, parsed)
