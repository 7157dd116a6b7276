"""Pack the model of a run as the designer that the package ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import OmegaConf

from daedalus.checks import CannotRunError
from daedalus.design.designers.build import build_all
from daedalus.evaluation.episodes import compare
from daedalus.evaluation.scale import scale_of
from daedalus.launch.config.compose import compose_both, recorded
from daedalus.launch.config.tasks import PackDesigner
from daedalus.launch.from_config import make_context, make_env, make_envs
from daedalus.launch.tracked import tracked
from daedalus.runs.files import written_whole_folder
from daedalus.runs.pretrained import FOLDER, WORD, Pretrained
from daedalus.training.publishing.evidence import read_evidence
from daedalus.training.publishing.settings import HubSettings
from experiments.publish import make_example

RECIPE = ("+experiment=grpo_world",)
"""What ``make designer`` trains."""
_RECIPE_KEYS = ("task", "market", "population", "reward", "model", "training")
_SHOWN = 5  # names of changed settings
_LEFT_OUT = ("run/metrics.jsonl", "run/provenance.json")


def main(config: PackDesigner, out: Path) -> None:
    """Score the model, and write it with its card and its description to ``out/pretrained``.

    Raises:
        CannotRunError: It is not the model of a run by today's recipe.
    """
    from daedalus.training.publishing.hub_folder import hashes, write_folder

    evidence = read_evidence(config.designer.checkpoint)
    if changed := recipe_changes(evidence.run.config):
        shown, recipe = ", ".join(changed[:_SHOWN]), " ".join(RECIPE)
        raise CannotRunError(
            f"{evidence.run.path}: {shown} differ from {recipe}; train the model anew with make "
            "pretrained"
        )
    scores = _normalised(config)
    with written_whole_folder(out / WORD) as aside:
        hub = HubSettings(repo=f"{FOLDER.parent.name}/{FOLDER.name}")
        write_folder(evidence, hub, make_example(evidence), aside)
        for name in _LEFT_OUT:
            (aside / name).unlink(missing_ok=True)
        launch, seed = evidence.launches[-1], evidence.config["seed"]
        recipe, day = RECIPE[0].partition("=")[2], launch["started"][:10]
        Pretrained(recipe, seed, launch["commit"], day, scores, hashes(aside)).write(aside)
    with tracked(config, out) as (_, report):
        table = pd.DataFrame({"population": scores.keys(), "normalised": scores.values()})
        report.show(table, "mean normalised R of the packed model")


def recipe_changes(run: Path) -> list[str]:
    """Return what today's recipe has otherwise than the config.yaml of a run, by dotted names.

    A setting that the run did not know yet counts only if the recipe does not leave it at its
    default.

    Raises:
        CannotRunError: The run had a setting on that is gone.
    """
    composed, _ = compose_both(*RECIPE)
    before, now = (
        _flat(OmegaConf.to_container(recorded(run))),
        _flat(OmegaConf.to_container(composed)),
    )
    return sorted(key for key in before | now if before.get(key) != now.get(key))


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Return the values of a recipe by their dotted names."""
    if not isinstance(value, dict) or not value:
        return {name: value}
    kept = value if name else {key: value[key] for key in _RECIPE_KEYS}
    parts = (_flat(each, f"{name}.{key}".strip(".")) for key, each in kept.items())
    return {key: each for part in parts for key, each in part.items()}


def _normalised(config: PackDesigner) -> dict[str, float]:
    """Return the designer's mean normalised R in each of the populations."""
    name = config.designer.name
    designer = build_all({name: config.designer}, make_context(config, make_env(config)))
    scores = {}
    for population, env in make_envs(config).items():
        scale = scale_of(env)
        if scale is None:
            raise CannotRunError(f"{population}: it has no oracle; run make oracle")
        steps = compare(env, designer, config.evaluation.episodes, config.seed)
        scores[population] = round(scale.normalise(float(steps["reward"].mean())), 4)
    return scores
