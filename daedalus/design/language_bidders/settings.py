"""Settings of bidders that language models play, one class for each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from daedalus.checks import CannotRunError, Checked, at_least, within
from daedalus.design.language.answer_file import AnswerFile, recorded_answers
from daedalus.design.language.chat_server import ChatServer
from daedalus.design.language.reply import Ask
from daedalus.design.language_bidders.asking import Asker, Recording
from daedalus.design.language_bidders.bid_answer import BIDS_PATTERN, BIDS_SCHEMA
from daedalus.design.language_bidders.player import StrategyPlayer
from daedalus.design.language_bidders.questions import Questions
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.interface import MarketSettings

ANSWERS = "answers.jsonl"
"""File of a run's folder with the answers, unless ``cache`` names another."""

SHIPPED = Path(__file__).parent / "smollm2.jsonl.gz"
"""Answers of SmolLM2 to all questions of ``+experiment=llm_bidders``."""

LoadAsk = Callable[[str, float, str], Ask]
"""Loads a model to ask: from its source, temperature, and a pattern that constrains answers."""


@dataclass(frozen=True)
class BidderContext:
    """What settings may use to build a player.

    Attributes:
        market: Shape of the episodes that it plays.
        folder: Folder of the run.
        load: Loads a model in this process. It is passed in, so that this package needs no torch.
    """

    market: MarketSettings
    folder: Path
    load: LoadAsk


@dataclass
class BidderSettings(Checked):
    """Settings of a bidder; each kind defines ``asker``.

    Attributes:
        name: Name of the bidders in tables and figures.
        memory: Most rounds of the past that a question tells.
        facts: What all bidders are told beside what the market shows, in words.
    """

    name: str = "language model"
    memory: int = within(0, HISTORY_LENGTH, 5, "an integer")
    facts: str = ""

    def asker(self, context: BidderContext) -> Asker:
        """Return who answers the questions."""
        raise NotImplementedError(f"{type(self).__name__} defines no asker(context)")

    def build(self, context: BidderContext) -> tuple[StrategyPlayer, Asker]:
        """Return the player, and who answers its questions.

        Raises:
            CannotRunError: The market's steps are too long for ``memory``, or the kind of bidder
                lacks something.
        """
        questions = Questions.of(context.market, self.memory, self.facts)
        asker = self.asker(context)
        return StrategyPlayer(asker, questions), asker


@dataclass
class AskedSettings(BidderSettings):
    """Settings of bidders whose model is asked while they play.

    Attributes:
        cache: File of answers, which runs may share; empty is one in the folder of the run.
        max_calls: Most calls of a launch; None is no limit.
    """

    cache: str = ""
    max_calls: int | None = at_least(0, None, "an integer")

    def answers(self, context: BidderContext) -> AnswerFile:
        """Return the answers that are known."""
        return AnswerFile(answers_file(self, context.folder))


@dataclass
class EndpointBidder(AskedSettings, ChatServer):
    """Settings of a chat model on an OpenAI-compatible server."""

    def asker(self, context: BidderContext) -> Asker:
        """Connect to the server."""
        from daedalus.design.language.chat_client import make_chat_ask  # needs the openai client

        names = ("temperature", "max_tokens", "response_format", "extra")
        return Asker(
            make_chat_ask(self, {"bids": BIDS_SCHEMA}),
            self.model,
            {name: getattr(self, name) for name in names},
            self.answers(context),
            self.max_calls,
            self.concurrency,
        )


@dataclass
class LocalBidder(AskedSettings):
    """Settings of a model in this process. Its answers are constrained to five whole points.

    Attributes:
        source: What ``model.pretrained`` may be: a folder, a hub name, a GGUF file or a wheel.
        temperature: Sampling temperature; 0 decodes greedily.
    """

    source: str = ""
    temperature: float = at_least(0, 0.0)

    def asker(self, context: BidderContext) -> Asker:
        """Load the model when it is first asked, since answers may all be known.

        Raises:
            CannotRunError: No model is named.
        """
        if not self.source:
            raise CannotRunError("bidder.source: no model; choose one, as in model=smollm2")
        load = cache(partial(context.load, self.source, self.temperature, BIDS_PATTERN))
        return Asker(
            lambda chat, seed: load()(chat, seed),
            self.source,
            {"temperature": self.temperature, "pattern": BIDS_PATTERN},
            self.answers(context),
            self.max_calls,
        )


@dataclass
class RecordedBidder(BidderSettings):
    """Settings of answers that were recorded, for bidders without a model.

    Attributes:
        file: What a run left as its ``cache``, perhaps packed by gzip; empty is the one that comes
            with the program, of SmolLM2.
    """

    file: str = ""

    def asker(self, context: BidderContext) -> Recording:
        """Read the file."""
        path = Path(self.file) if self.file else SHIPPED
        return Recording(recorded_answers(path), path.name)


KINDS: dict[str, type[BidderSettings]] = {
    "endpoint": EndpointBidder,
    "local": LocalBidder,
    "recorded": RecordedBidder,
}
"""The kinds of bidders by name. Files of ``conf/bidder/`` begin with the schema NAME_bidder."""


def answers_file(settings: BidderSettings, folder: Path) -> Path:
    """Return the file of answers of a run in a folder."""
    cache = settings.cache if isinstance(settings, AskedSettings) else ""
    return Path(cache) if cache else folder / ANSWERS
