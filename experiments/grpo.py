"""Train a designer by SFT and then by GRPO, and compare it with the baselines."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from daedalus.config import Config
from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.env import DesignEnv
from daedalus.evaluation.figures import learning_curves
from daedalus.evaluation.report import Report
from daedalus.language.prompt import prompts
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import is_main, once
from daedalus.runs.tracking import Tracker
from daedalus.search.states import mid_episode_states
from experiments import sft
from experiments.build import find_portfolio, make_env
from experiments.compare import compare_designers
from experiments.tracked import tracked

if TYPE_CHECKING:
    from daedalus.training.model import LanguageModel

FIDELITY = "fidelity"
"""Name under which the closeness of the exported model to the trained one is logged."""
_COMPARED = 32  # answers


def main(config: Config, out: Path) -> None:
    """Train, export to ``out/model``, draw the learning curves and compare in closed loop."""
    from daedalus.training.hardware import require_hardware, require_server, require_shares

    require_hardware(config.model)  # before anything else of training is imported
    require_shares(config.model, config.training)
    require_server(config.training.grpo)
    env, run = make_env(config), RunFolder(out)
    with tracked(config, out) as (tracker, report):
        train(config, env, run, tracker, report)
        if is_main():
            compare(config, env, run, tracker, report)


def compare(
    config: Config, env: DesignEnv, run: RunFolder, tracker: Tracker, report: Report
) -> None:
    """Draw the learning curves, and compare the exported model in closed loop."""
    from daedalus.training.algorithms.grpo import trainer as grpo
    from daedalus.training.generation import make_generate
    from daedalus.training.model import load_language_model
    from daedalus.training.signals import write_history

    history = write_history(tracker, grpo.PHASE, run)
    if len(history):
        report.figure(learning_curves(history), "learning_curves")
    tokens = config.training.grpo.max_completion_tokens
    generate = make_generate(load_language_model(run.model), 0.0, tokens)
    designer = LanguageModelDesigner(generate, config.training.prompt)
    compare_designers(config, env, report, {"trained": designer})


def train(config: Config, env: DesignEnv, run: RunFolder, tracker: Tracker, report: Report) -> None:
    """Train and export the model, unless an interrupted run has done so already."""
    from daedalus.training.algorithms.grpo import trainer as grpo
    from daedalus.training.backends import make_backend
    from daedalus.training.checkpoints import completed_steps
    from daedalus.training.sources.states import make_source

    if once(run.model.exists):
        return
    sft.train(config, env, run, run.sft_model, tracker, report)
    backend = make_backend(config.model)
    model = backend.load(run.sft_model)
    settings, checkpoints = config.training.grpo, run.checkpoints(grpo.PHASE)
    if settings.steps:
        portfolio = once(lambda: find_portfolio(config, env, run))
        logged = once(lambda: tracker.history(grpo.PHASE)[: completed_steps(checkpoints)])
        source = make_source(model, env, portfolio, config.training, logged, run, config.seed)
        model = grpo.train_grpo(model, source, settings, backend, tracker, checkpoints, config.seed)
    once(lambda: _finish(model, config, env, run, tracker, report))


def _finish(
    model: LanguageModel,
    config: Config,
    env: DesignEnv,
    run: RunFolder,
    tracker: Tracker,
    report: Report,
) -> None:
    """Export the model, and log how close the export of adapters is to it."""
    from daedalus.training.checkpoints import export

    export(model, config.training.prompt, run.sft_model, run.model, config.model)
    if config.model.lora.rank:
        log_fidelity(model, config, env, run, tracker, report)


def log_fidelity(
    model: LanguageModel,
    config: Config,
    env: DesignEnv,
    run: RunFolder,
    tracker: Tracker,
    report: Report,
) -> None:
    """Log how close the predictions of the exported model are to those of the trained one."""
    from daedalus.training.fidelity import fidelity
    from daedalus.training.model import load_language_model

    states = mid_episode_states(env, _COMPARED, config.seed, "fidelity")
    chats = prompts(states.observe(), config.training.prompt)
    tokens = config.training.grpo.max_completion_tokens
    found = fidelity(model, load_language_model(run.model), chats, tokens)
    tracker.rewind(FIDELITY, -1)
    tracker.log(FIDELITY, config.training.grpo.steps, asdict(found))
    report.say(
        f"exported against trained: divergence {found.divergence:.5f} nats per token, "
        f"the same token first in {100 * found.agreement:.1f} %"
    )
