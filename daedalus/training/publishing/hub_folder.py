"""The folder that is published: written whole, and checked before anything is uploaded."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from huggingface_hub import ModelCard

from daedalus.training.publishing.card import Example, model_card
from daedalus.training.publishing.evidence import Evidence
from daedalus.training.publishing.settings import HubSettings

CARD = "README.md"
_FIGURES = ("boxplot.png", "learning_curves.png")
_LARGEST = 50 * 10**9  # bytes of a file that the hub accepts


def write_folder(evidence: Evidence, settings: HubSettings, example: Example, folder: Path) -> None:
    """Write the model, its card, and the files of the run that the card rests on.

    The folder exists and is empty.

    Raises:
        CannotRunError: The model cannot be loaded.
    """
    from daedalus.training.model import load_language_model  # torch is slow to import

    run = evidence.run
    shutil.copytree(run.model, folder, dirs_exist_ok=True)
    files = (run.config, run.provenance, run.metrics, run.summary, run.differences, run.episodes)
    for path in (*files, run.history_table):
        _copy(path, folder / "run")
    for name in _FIGURES:
        _copy(run.figures / name, folder / "figures")
    parameters = load_language_model(folder).model.num_parameters()
    model_card(evidence, settings, example, int(parameters)).save(folder / CARD)


def check_folder(folder: Path) -> list[str]:
    """Return what is wrong with a folder that is to be published, without a network.

    It checks the card's metadata, the files and pictures that the card links, and all sizes.
    ``write_folder`` has loaded the model already.
    """
    card = ModelCard.load(folder / CARD)
    wrong = []
    if not card.data.eval_results or not card.data.license:
        wrong.append(f"{CARD}: its metadata lack scores or the licence")
    if re.search(r"\b(None|nan)\b", card.text):
        wrong.append(f"{CARD}: a value is missing")
    links = re.findall(r"\]\((?!\w+:)([^)\s]+)\)", card.text)
    wrong += [f"{CARD}: {link} does not exist" for link in links if not (folder / link).exists()]
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        if not 0 < path.stat().st_size <= _LARGEST:
            wrong.append(f"{path.relative_to(folder)}: {path.stat().st_size} bytes")
    return wrong


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _copy(path: Path, folder: Path) -> None:
    if path.exists() and path.stat().st_size > 1:  # a history without steps is an empty line
        folder.mkdir(exist_ok=True)
        shutil.copy(path, folder)
