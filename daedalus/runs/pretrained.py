"""The trained designer that the package ships; ``make pretrained`` trains and packs it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from daedalus.runs.files import write_text

WORD = "pretrained"
"""The name by which settings ask for it, in place of a model's folder."""
FOLDER = Path(__file__).parents[1] / "pretrained"
"""Its files: the model, its card, and in ``run/`` what its training run wrote."""
ABOUT = "pretrained.json"
"""Name of its description there."""


@dataclass(frozen=True)
class Pretrained:
    """Where the designer comes from.

    Attributes:
        recipe: The experiment that trained it, such as ``grpo_world``.
        seed: Seed of the run.
        commit: Commit of the code that trained it; None if it is not known.
        date: Day of the training, YYYY-MM-DD.
        scores: Mean normalised R by population, see ``daedalus.evaluation.scale``.
        sha256: Hash of every other file, by its path in the folder.
    """

    recipe: str
    seed: int
    commit: str | None
    date: str
    scores: dict[str, float]
    sha256: dict[str, str]

    def __str__(self) -> str:
        """Return its origin and its mean score in one line."""
        mean = sum(self.scores.values()) / len(self.scores)
        commit = f", commit {self.commit[:7]}" if self.commit else ""
        return (
            f"the pretrained one of {self.recipe}, {self.date}{commit}; it scores {mean:.2f} in "
            f"{len(self.scores)} populations that it never met, from 0 for random mechanisms to 1 "
            "for designers that know the bidders"
        )

    def write(self, folder: Path) -> None:
        """Write the description beside the files that it describes."""
        write_text(folder / ABOUT, json.dumps(asdict(self), indent=2) + "\n")


def read_pretrained(folder: Path = FOLDER) -> Pretrained:
    """Return the description of the designer that the package ships."""
    return Pretrained(**json.loads((folder / ABOUT).read_text()))


def described(checkpoint: str) -> str:
    """Return how to tell a user which designer a checkpoint is."""
    shipped = checkpoint == WORD or Path(checkpoint).resolve() == FOLDER
    return str(read_pretrained()) if shipped else checkpoint
