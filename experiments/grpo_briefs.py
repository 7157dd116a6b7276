"""Train a language model that designs from briefs, by SFT and then on rewards, and score it."""

from __future__ import annotations

from pathlib import Path

from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.generator import TRAINING
from daedalus.design.designers.brief_model import BriefModelSettings
from daedalus.design.designers.build import require_other_names
from daedalus.launch.brief_comparison import compare_under_briefs, markets_of
from daedalus.launch.config.tasks import GrpoBriefs
from daedalus.launch.from_config import make_training_run
from daedalus.launch.tracked import tracked
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import is_main
from daedalus.training.run import TrainingRun
from experiments.grpo import draw_curves

_TAUGHT, _TRAINED = "sft", "sft_grpo"


def main(config: GrpoBriefs, out: Path) -> None:
    """Train, export to ``out``/model, and score the model of SFT and the trained one."""
    from daedalus.training.hardware import require_machine

    require_machine(config.model, config.training)
    for name in (_TAUGHT, _TRAINED):
        require_other_names(config.evaluation.baselines, name, "a model that this run trains")
    with tracked(config, out) as (tracker, report):
        from daedalus.training.brief_pipeline import train_from_briefs

        run = make_training_run(config, RunFolder(out), tracker, report)
        briefs, markets = frozen_briefs(TRAINING.name), markets_of(config.market)
        envs = {name: markets(name) for name in dict.fromkeys(each.population for each in briefs)}
        train_from_briefs(run, briefs, config.lessons, envs)
        if is_main():
            draw_curves(run, "grpo")
            _score(config, run)


def _score(config: GrpoBriefs, run: TrainingRun) -> None:
    models = {_TAUGHT: run.folder.sft_model}
    if run.settings.grpo.steps:
        models[_TRAINED] = run.folder.model

    own = {
        name: BriefModelSettings(name=name, checkpoint=str(folder))
        for name, folder in models.items()
    }
    briefs = {name: frozen_briefs(name)[: config.evaluation.episodes] for name in config.splits}
    compare_under_briefs(config, briefs, markets_of(config.market), own, run.report)
