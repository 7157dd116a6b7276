"""Compare designers under briefs: frozen ones of the benchmark, or those of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from daedalus.design.briefs.brief import Brief, read_briefs
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.designers.base import DesignerSettings
from daedalus.design.designers.build import require_other_names
from daedalus.design.designers.endpoint import EndpointSettings
from daedalus.lab.studies.briefs import TRUTH, Markets
from daedalus.launch.brief_comparison import compare_under_briefs, markets_of
from daedalus.launch.config.tasks import Briefs
from daedalus.launch.from_config import all_designers
from daedalus.launch.tracked import tracked


def main(config: Briefs, out: Path) -> None:
    """Let all designers design under all briefs; write briefs.csv, summary.csv and figures.

    Raises:
        CannotRunError: A designer has the name of the search that knows the true parts.
    """
    settings = {name: _kept(each, out) for name, each in all_designers(config).items()}
    require_other_names(settings, TRUTH, "the search that knows the true parts")
    markets = markets_of(config.market)
    briefs = _chosen(config, markets)
    with tracked(config, out) as (_, report):
        compare_under_briefs(config, briefs, markets, settings, report)


def _kept(settings: DesignerSettings, out: Path) -> DesignerSettings:
    """Return settings with which answers that are paid for are kept if the server fails later."""
    if isinstance(settings, EndpointSettings) and not settings.cache:
        return replace(settings, cache=str(out / "replies.jsonl"))
    return settings


def _chosen(config: Briefs, markets: Markets) -> dict[str, Sequence[Brief]]:
    """Return the briefs by split; those of a file are a split of its name.

    Raises:
        BriefError: The file cannot be read, or a line of it is no brief that can be played.
    """
    most = config.evaluation.episodes
    if config.briefs:
        path = Path(config.briefs)
        return {path.stem: read_briefs(path, markets)[:most]}
    return {name: frozen_briefs(name)[:most] for name in config.splits}
