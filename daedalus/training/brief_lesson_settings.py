"""Settings of training from briefs. Nothing here imports torch."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.checks import Checked, at_least


@dataclass
class BriefLessonSettings(Checked):
    """What a language model is taught before it learns from rewards.

    Attributes:
        taught: Briefs of SFT that come with a mechanism, which a search finds in about a second.
            The others of ``training.sft.examples`` come with the meanings of their sentences alone.
        wordings: Sentences of each meaning that SFT may show; None is all twelve. GRPO sees all.
        at_once: Whether the model sets the mechanism without saying what it has read. Then all of
            ``training.sft.examples`` come with a mechanism.
    """

    taught: int = at_least(0, 400)
    wordings: int | None = None
    at_once: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.wordings is not None and not 1 <= self.wordings <= 12:
            raise ValueError(f"wordings: {self.wordings}; give 1 to 12, or null for all")
