"""Show what mechanisms earn if language models bid instead of simulated bidders."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from daedalus.design.designers.base import DesignerSettings
from daedalus.design.designers.build import build_all, require_other_names
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.design.env import DesignEnv
from daedalus.design.language_bidders.player import in_all_seats
from daedalus.design.language_bidders.settings import BidderContext
from daedalus.lab.studies.llm_bidders import (
    MODEL,
    SIMULATED,
    behaviour_gap,
    bidding,
    bids_by_format,
    both_rewards,
    play,
    require_single_demand,
)
from daedalus.launch.config.tasks import LlmBidders
from daedalus.launch.from_config import all_designers, load_ask, make_env, own_context
from daedalus.launch.tracked import tracked
from daedalus.market.interface import types_of_bidders
from daedalus.runs.folder import MODEL as MODEL_FOLDER

_TITLES = {
    "bidding": "bidding; interim regret: against all rival bids under a mechanism, those of unlike "
    "types pooled"
}


def main(config: LlmBidders, out: Path) -> None:
    """Play all mechanisms in both populations; write tables of rewards, bids and costs, figures."""
    env, settings, bidder = make_env(config), config.evaluation, config.bidder
    require_single_demand(env)
    player, asker = bidder.build(BidderContext(config.market, out, load_ask))
    population = types_of_bidders(env.market)
    players = in_all_seats(player, population)
    asked = DesignEnv.of(config.market, population, config.reward, players)
    designers = build_all(_designers(config), own_context(config, env))
    episodes, seed = settings.episodes, config.seed
    played = {
        SIMULATED: play(env, designers, episodes, seed),
        MODEL: play(asked, designers, episodes, seed),
    }
    gaps = behaviour_gap(played[SIMULATED], played[MODEL], settings.confidence)
    bids = bidding(played, settings.confidence)
    costs = pd.DataFrame([asdict(asker.costs) | asdict(player.read)])
    with tracked(config, out) as (_, report):
        tables = {"summary": gaps, "bidding": bids, "costs": costs}
        for name, table in tables.items():
            report.table(table, name, _TITLES.get(name, name))
        if asker.costs.refused:
            report.say(
                f"{bidder.name}: {asker.costs.refused} of {asker.costs.questions} answers have no "
                f"words, the first for this reason: {asker.costs.reason}"
            )
        report.figure(bids_by_format(bids, bidder.name), "bids")
        report.figure(both_rewards(gaps, bidder.name), "rewards")


def _designers(config: LlmBidders) -> dict[str, DesignerSettings]:
    """Return the settings of all designers that are compared, by name."""
    chosen = all_designers(config)
    if config.trained:
        require_other_names(chosen, "trained", "the model of trained=RUN")
        checkpoint = str(Path(config.trained) / MODEL_FOLDER)
        chosen["trained"] = LanguageModelSettings(checkpoint=checkpoint, name="trained")
    return chosen
