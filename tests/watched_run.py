"""A training run that is watched: ``python tests/watched_run.py FOLDER OVERRIDES``.

Each process notes in a folder which files it writes and which completions it rewards. In the first
steps of GRPO the completions depend on their prompts alone, so that runs with one process and with
several have the same. WATCHED_KILL=STEP kills the main process by SIGKILL before that step.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

FIXED_STEPS = 3
"""First steps of GRPO, whose completions depend on their prompts alone."""
_CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.utime"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Notes:
    """What a process does, in a folder.

    Args:
        folder: Existing folder.
        process: Number of the process.
    """

    def __init__(self, folder: Path, process: int) -> None:
        self._written = folder / f"written_{process}.txt"
        self._rewarded = folder / f"rewarded_{process}.txt"
        (folder / f"process_{process}.txt").write_text(str(os.getpid()))

    def write(self, path: object) -> None:
        """Note a path that is written to."""
        if isinstance(path, str | bytes | Path) and path != str(self._written):
            descriptor = os.open(self._written, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, os.fsencode(path) + b"\n")
            os.close(descriptor)

    def reward(self, step: int, rows: Sequence[int], texts: Sequence[str]) -> None:
        """Note the completions that are rewarded in a step, with the numbers of their states."""
        with self._rewarded.open("a") as file:
            file.write(json.dumps([step, list(rows), list(texts)]) + "\n")


def watch_files(notes: Notes) -> None:
    """Note every file that Python, torch or safetensors write from now on."""
    import safetensors.torch
    import torch

    noting = False

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal noting
        writes = event == "open" and arguments[2] & _WRITING
        if noting or not (writes or event in _CHANGES):
            return
        noting = True
        notes.write(arguments[0])
        noting = False

    sys.addaudithook(heard)
    save, serialise = torch.save, safetensors.torch.serialize_file

    def saved(what: object, where: Any, *more: Any, **options: Any) -> None:
        notes.write(where)
        save(what, where, *more, **options)

    def serialised(what: Any, where: Any, *more: Any, **options: Any) -> None:
        notes.write(where)
        serialise(what, where, *more, **options)

    torch.save = saved
    safetensors.torch.serialize_file = serialised


def watched_rewards(notes: Notes) -> Callable[..., Any]:
    """Return a method of MarketReward that notes what it scores."""
    from daedalus.training.sources.market_reward import MarketReward

    score = MarketReward.score

    def scored(
        reward: MarketReward, texts: Sequence[str], rows: Sequence[int], training_step: int
    ) -> Any:
        notes.reward(training_step, rows, texts)
        return score(reward, texts, rows, training_step)

    return scored


def fixed_sampling(kill: int | None = None) -> Callable[..., Any]:
    """Return a method of GRPOTrainer that first answers by the prompts alone, and then samples."""
    from trl import GRPOTrainer

    from daedalus.design.search.space import random_mechanisms
    from daedalus.market.seeds import generator
    from tests.training.conftest import answer_tokens

    sample = GRPOTrainer._generate_single_turn

    def answered(trainer: Any, prompts: list[list[int]], *more: Any, **options: Any) -> Any:
        if trainer.state.global_step == kill and os.environ["RANK"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        if trainer.state.global_step >= FIXED_STEPS:
            return sample(trainer, prompts, *more, **options)
        answers = []
        for number, prompt in enumerate(prompts):
            rng = generator(number % trainer.num_generations, str(prompt))
            (mechanism,) = random_mechanisms(1, rng)
            answers.append(answer_tokens(trainer.processing_class, mechanism))
        return answers, None

    return answered


def main() -> None:
    """Run ``run.py`` with the rest of the arguments, and watch it."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from trl import GRPOTrainer

    from daedalus.launch import command_line
    from daedalus.training.sources.market_reward import MarketReward

    notes = Notes(Path(sys.argv.pop(1)), int(os.environ.get("RANK", 0)))
    kill = os.environ.get("WATCHED_KILL")
    MarketReward.score = watched_rewards(notes)  # type: ignore[method-assign]
    GRPOTrainer._generate_single_turn = fixed_sampling(int(kill) if kill else None)
    watch_files(notes)
    command_line.cli()


if __name__ == "__main__":
    main()
