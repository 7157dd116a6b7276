"""Publish the model of a run: its folder with a model card, and the upload to the hub."""

from __future__ import annotations

from pathlib import Path

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import prompts
from daedalus.launch.config.compose import read_config
from daedalus.launch.config.task_parts import Trained
from daedalus.launch.config.tasks import Publish
from daedalus.launch.from_config import load_generate, make_env
from daedalus.market.parsing import parse_mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs.console import make_console
from daedalus.runs.files import written_whole_folder
from daedalus.runs.folder import RunFolder
from daedalus.training.publishing.card import Example
from daedalus.training.publishing.evidence import Evidence, read_evidence

_PURPOSE = "model card"


def main(config: Publish, out: Path) -> None:
    """Write ``out/published``, check it, and upload it unless it is a dry run.

    Raises:
        CannotRunError: The model cannot be published. The message says what to change.
    """
    from daedalus.training.publishing.hub_folder import check_folder, write_folder
    from daedalus.training.publishing.upload import require_token, upload

    if not config.hub.repo:
        raise CannotRunError("hub.repo: not set; give OWNER/NAME, as on the hub")
    if not config.hub.dry_run:
        require_token()
    evidence, folder = read_evidence(config.designer.checkpoint), RunFolder(out).published
    with written_whole_folder(folder) as aside:
        write_folder(evidence, config.hub, make_example(evidence), aside)
        if wrong := check_folder(aside):
            raise CannotRunError(f"{evidence.run.path} cannot be published: {'; '.join(wrong)}")
    console = make_console()
    console.print(f"{folder}: {_size(folder) / 1e6:.1f} MB; its card is README.md", soft_wrap=True)
    if not config.hub.dry_run:
        console.print(f"uploaded: {upload(folder, config.hub)}", soft_wrap=True)


def make_example(evidence: Evidence) -> Example:
    """Ask the model of a run for the first mechanism of an episode in the run's market."""
    config: Trained = read_config(evidence.run.config)
    tokens = config.training.grpo.max_completion_tokens
    generate, prompt = load_generate(str(evidence.run.model), 0.0, tokens, False)
    observation = make_env(config).reset(market_seeds(config.seed, _PURPOSE, 1)).observe()
    chats = prompts(observation, prompt)
    text = generate(chats, generator(config.seed, _PURPOSE))[0]
    return Example(chats[0], text if parse_mechanism(text).valid else "")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
