"""Compare the studied designer with the baselines."""

from __future__ import annotations

from pathlib import Path

from daedalus.design.designers.build import build_all
from daedalus.design.env import Designer
from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.tasks import Compare
from daedalus.launch.from_config import make_env, own_context
from daedalus.launch.tracked import tracked


def main(config: Compare, out: Path) -> None:
    """Play every designer on the same markets; write tables and figures to ``out``."""
    context = own_context(config, make_env(config))
    extra: dict[str, Designer] = {}
    name, baselines = config.designer.name, config.evaluation.baselines
    if baselines.get(name) != config.designer:
        shown = f"{name}_changed" if name in baselines else name
        extra = build_all({shown: config.designer}, context)
    with tracked(config, out) as (_, report):
        compare_designers(config.evaluation, context, report, extra)
