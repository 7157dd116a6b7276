"""Compare the designer under study with the baselines."""

from __future__ import annotations

from pathlib import Path

from daedalus.config import Config
from experiments.common import compare_designers, make_designer, make_env, make_tracker


def main(config: Config, out: Path) -> None:
    """Play every designer on the same markets; write tables and figures to ``out``."""
    env = make_env(config)
    extra = {}
    if config.designer.name not in config.evaluation.baselines:
        extra[config.designer.name] = make_designer(config.designer, env, config.seed)
    with make_tracker(config, out) as tracker:
        compare_designers(config, env, out, tracker, extra)
