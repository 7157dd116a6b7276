"""Settings of training from briefs, and of readers of them. Nothing here imports torch."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.checks import Checked, above, at_least, bounded, within


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
    wordings: int | None = bounded(
        None, lambda value: 1 <= value <= 12, "give 1 to 12, or null for all"
    )
    at_once: bool = False


@dataclass
class BriefReaderSettings(Checked):
    """How adapters of the sentence encoder are trained.

    Attributes:
        epochs: Passes over the sentences.
        batch_size: Sentences in a step.
        learning_rate: Highest learning rate of the adapters.
        head_learning_rate: That of the linear layer.
        rank: Rank of the adapters.
        dropout: Share of their inputs that is dropped.
        benchmark: Whether only what the benchmark allows is learnt, see ``examples``.
        wordings: Sentences of each meaning and writer, at most. What ``near`` and ``parts`` add
            comes whole.
        balanced: Whether all meanings weigh the same, however many sentences they have. What cannot
            be set has most, and would draw short rules to it. So the package's reader of whole
            sentences is trained, and the benchmark's is not.
        near: Whether it learns, too, what only sounds like a meaning, see ``near_examples`` and
            ``plain_and_near_examples``, and each part of what people write. So the package's wary
            reader is trained. Weights lie between those of ``balanced``.
        parts: Whether each word learns a meaning, also from sentences that ask for several things,
            as those that people write. Weights lie between those of ``balanced``, too.
    """

    epochs: int = at_least(1, 20)
    batch_size: int = at_least(1, 32)
    learning_rate: float = above(0, 1e-3)
    head_learning_rate: float = above(0, 3e-3)
    rank: int = at_least(1, 8)
    dropout: float = within(0, 1, 0.1)
    benchmark: bool = False
    wordings: int = at_least(1, 1000)
    balanced: bool = False
    near: bool = False
    parts: bool = False

    def __post_init__(self) -> None:
        """Refuse what would train on more than the benchmark allows, or have no effect."""
        super().__post_init__()
        for name in ("benchmark", "balanced", "near"):
            if self.parts and getattr(self, name):
                raise ValueError(f"{name}: true; with parts=true leave it out, see docs/briefs.md")
        if self.balanced and self.near:
            raise ValueError("balanced: true; with near=true leave it out, see docs/briefs.md")
        if self.benchmark and self.near:
            raise ValueError("near: true; the benchmark lets readers learn its own sentences alone")
