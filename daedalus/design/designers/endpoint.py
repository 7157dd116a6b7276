"""A chat model on an OpenAI-compatible server as a designer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.language.answer_file import AnswerFile
from daedalus.design.language.chat_server import ChatServer
from daedalus.design.language.prompt import PromptSettings
from daedalus.market.observation import PROXIES


def zero_shot_prompt() -> PromptSettings:
    """Return a prompt for models that were not trained on it. It explains all names in it."""
    scored = ["welfare", "fairness", "participation", "stability"]
    return PromptSettings(
        rounds=5,
        outcomes=[*scored, "clearing_price"],
        averages=[*scored, "composite", "clearing_price", "dropouts", "collusion_signal"],
        proxies=list(PROXIES),
        mechanism=True,
        explained=True,
    )


@dataclass
class EndpointSettings(DesignerSettings, ChatServer):
    """Settings of a chat model that designs.

    Attributes:
        prompt: Contents of the prompt.
        strict: Whether an answer with anything beside its JSON object is refused.
        cache: File of answers of one server, which runs may share: nothing in it is asked again.
            Empty keeps none; ``+experiment=briefs`` then keeps them in the folder of the run.
    """

    prompt: PromptSettings = field(default_factory=zero_shot_prompt)
    strict: bool = False
    cache: str = ""

    def build(self, context: DesignerContext) -> LanguageModelDesigner:
        """Connect to the server and return a designer that asks its model.

        Raises:
            CannotRunError: ``cache`` is a file of something else.
        """
        from daedalus.design.language.chat_client import make_chat_replies  # needs openai

        answers = AnswerFile(Path(self.cache)) if self.cache else None
        return LanguageModelDesigner(make_chat_replies(self, answers), self.prompt, self.strict)
