"""Runs as training leaves them, as far as they say which designer was trained, and how well."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

from omegaconf import OmegaConf

from daedalus.design.language.prompt import VERSION
from daedalus.launch.config.compose import compose_both


@cache
def resolved(*overrides: str) -> str:
    """Return the config.yaml of a run."""
    composed, _ = compose_both(*overrides)
    OmegaConf.resolve(composed)
    return OmegaConf.to_yaml(composed)


def leave_trained_run(
    folder: Path, *overrides: str, time: int = 0, improves: bool = True, finished: bool = True
) -> Path:
    """Leave a run that trained a model without weights; return the model's folder."""
    asked = overrides or ("+experiment=grpo_stage3",)
    model = folder / "model"
    model.mkdir(parents=True)
    (model / "config.json").write_text("{}")
    (model / "prompt.json").write_text(json.dumps({"version": VERSION}))
    os.utime(model / "prompt.json", (time, time))
    (folder / "config.yaml").write_text(resolved(*asked))
    (folder / "launch.json").write_text(json.dumps({"overrides": asked}))
    (folder / "summary.csv").write_text(
        f"designer,mean\nrandom,0.2\ntrained,{0.4 if improves else 0.2}\n"
    )
    if finished:
        (folder / "finished").touch()
    return model
