"""Compare the studied designer with the baselines."""

from __future__ import annotations

from pathlib import Path

from daedalus.design.designers.build import build_all
from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.tasks import Compare
from daedalus.launch.from_config import all_designers, make_env, own_context
from daedalus.launch.tracked import tracked


def main(config: Compare, out: Path) -> None:
    """Play every designer on the same markets; write tables and figures to ``out``."""
    context = own_context(config, make_env(config))
    baselines = config.evaluation.baselines
    others = {name: each for name, each in all_designers(config).items() if name not in baselines}
    extra = build_all(others, context)
    with tracked(config, out) as (_, report):
        compare_designers(config.evaluation, context, report, extra)
