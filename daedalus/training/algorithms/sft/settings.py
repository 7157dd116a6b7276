"""Settings of SFT."""

from __future__ import annotations

from dataclasses import dataclass, field

from daedalus.checks import Checked, above, at_least, within
from daedalus.design.designers.distilled import DistilledSettings
from daedalus.market.population_settings import PopulationSettings
from daedalus.training.algorithm_settings import AlgorithmSettings


@dataclass
class CorrectionSettings(Checked):
    """Further SFT in states to which the model itself leads, with the teacher's answers.

    Attributes:
        rounds: How often the model plays and is then trained; 0 skips this.
        examples: Pairs of a round. They are all steps of the episodes that the model plays.
        steps: Optimiser steps of a round.
        learning_rate: Peak rate of a round's cosine schedule.
    """

    rounds: int = at_least(0, 0)
    examples: int = at_least(1, 48000)
    steps: int = at_least(1, 1500)
    learning_rate: float = at_least(0, 7e-4)


@dataclass
class SftSettings(AlgorithmSettings):
    """Supervised fine-tuning on pairs of a prompt and a valid mechanism.

    Attributes:
        batch_size: Pairs in a step, of all processes together.
        examples: Pairs in the data set.
        teacher: Settings of the teacher, whose choices are the answers. With None, answers do not
            depend on the prompt, so that the model learns the format only.
        practice: More populations, by any name, in which the teacher answers. Half of the pairs
            come from the run's own population.
        exploration: Probability, 0 to 1, that a random candidate is played instead of the teacher's
            choice, up to the states of the pairs. If the teacher's choices are nearly always in
            force, a model learns to keep what is in force. Without a teacher it has no effect.
        first_decisions: Share of the pairs, 0 to 1, that are the first decision of an episode. The
            others are uniform over the steps. Without a teacher it has no effect.
        corrections: Further training after these pairs. It needs a teacher.
        temperature: Temperature of the teacher's answers, in units of the reward. Answers are drawn
            in proportion to exp(expected reward / temperature).
        learning_rate: Peak rate of a cosine schedule.
        validity_prompts: Prompts on which validity is measured after SFT, at temperature 1.
    """

    steps: int = 900
    batch_size: int = at_least(1, 32)
    examples: int = at_least(1, 16384)
    teacher: DistilledSettings | None = None
    practice: dict[str, PopulationSettings] = field(default_factory=dict)
    exploration: float = within(0, 1, 0.1)
    first_decisions: float = within(0, 1, 0.0)
    corrections: CorrectionSettings = field(default_factory=CorrectionSettings)
    temperature: float = above(0, 0.002)
    learning_rate: float = 3e-3
    warmup_steps: int = 20
    validity_prompts: int = at_least(1, 512)
    save_every: int = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.corrections.rounds and not (self.teacher and self.steps):
            raise ValueError(
                "corrections: these follow lessons of a teacher: set teacher and steps"
            )
        self._check_examples()

    def _check_examples(self) -> None:
        """Check that each step has all its pairs, and each population of practice some."""
        if not self.steps:
            return
        given = {"examples": self.examples}
        if self.corrections.rounds:
            given["corrections.examples"] = self.corrections.examples
        for name, count in given.items():
            if count < self.batch_size:
                raise ValueError(
                    f"{name}: {count}; a step takes {self.batch_size} of them "
                    f"(batch_size), so give {self.batch_size} or more, or a smaller batch_size"
                )
        first, least = round(self.first_decisions * self.examples), 2 * len(self.practice)
        for count in filter(None, (first, self.examples - first)):
            if count < least:
                raise ValueError(
                    f"examples: {self.examples}; half of {count} first or later "
                    f"decisions go to the {len(self.practice)} populations of practice, so give "
                    "more, or fewer populations"
                )
