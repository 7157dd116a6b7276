"""What an unfinished run has completed, for who stops it or goes on with it."""

from __future__ import annotations

from pathlib import Path

from daedalus.design.language.answer_file import number_of_answers
from daedalus.design.language_bidders.settings import answers_file
from daedalus.launch.config.task_parts import Task, Trained
from daedalus.launch.config.tasks import LlmBidders, Ppo
from daedalus.runs.folder import RunFolder


def progress(config: Task, out: Path) -> str:
    """Return what the run has completed and will not do again; nothing if it keeps nothing."""
    run = RunFolder(out)
    trials = len(list((Path(config.tuning.study or out) / "trials").glob("*/finished")))
    parts: dict[str, object] = {
        "portfolio searched": run.portfolio.exists(),
        "training data of the teacher gathered": run.distillation_data.exists(),
        f"{trials} of {config.tuning.trials} trials finished": trials,
    }
    if isinstance(config, Ppo):
        parts |= _ppo(config, run)
    elif isinstance(config, LlmBidders):
        kept = number_of_answers(answers_file(config.bidder, out))
        parts[f"{kept} answers of bidders kept"] = kept
    elif isinstance(config, Trained):
        parts |= _training(config, run)
    return ", ".join(part for part, complete in parts.items() if complete)


def _training(config: Trained, run: RunFolder) -> dict[str, object]:
    """Return the completed steps of each phase of training, and how to say so."""
    if not (run.path / "checkpoints").exists() and not run.sft_model.exists():
        return {}
    from daedalus.training.checkpoints import completed_steps  # torch is slow to import

    parts: dict[str, object] = {}
    for phase, end in {"sft": run.sft_model, "grpo": run.model}.items():
        total = getattr(config.training, phase).steps
        steps = completed_steps(run.checkpoints(phase))
        parts[f"{phase.upper()} {steps} of {total} steps"] = steps and not end.exists()
        parts[f"{phase.upper()} finished"] = total and end.exists()
    return parts


def _ppo(config: Ppo, run: RunFolder) -> dict[str, object]:
    """Return the decisions that PPO has learnt from, and how to say so."""
    if run.policy.exists():
        return {"PPO finished": True}
    if not run.ppo_checkpoint.exists():
        return {}
    from daedalus.training.algorithms.ppo.trainer import rollouts_of  # torch is slow to import

    settings = config.ppo
    learnt = rollouts_of(run.ppo_checkpoint) * settings.rollout_steps * settings.markets
    return {f"PPO {learnt} of {settings.decisions} decisions": True}
