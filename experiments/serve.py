"""Serve the market until the user stops it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from daedalus.design.designers.build import build_all
from daedalus.design.designers.candidates import Choice, newest_model
from daedalus.design.designers.fixed import FixedSettings
from daedalus.design.designers.heuristic import HeuristicSettings
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.design.env import Designer
from daedalus.design.language_bidders.asking import Recording
from daedalus.design.language_bidders.player import in_all_seats
from daedalus.design.language_bidders.settings import BidderContext, RecordedBidder
from daedalus.design.rewards.stack import RewardStack
from daedalus.launch.brief_answer import load_understanding
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.task_parts import Offering
from daedalus.launch.config.tasks import LlmBidders, Serve
from daedalus.launch.from_config import (
    allowed_in,
    load_ask,
    load_generate,
    load_reader,
    make_context,
    make_env,
)
from daedalus.market.interface import types_of_bidders
from daedalus.runs import pretrained
from daedalus.runs.console import make_console
from daedalus.service.address import web_address
from daedalus.service.http.app import create_app
from daedalus.service.http.server import listen, make_server
from daedalus.service.openenv.briefs_on_offer import BriefsOnOffer
from daedalus.service.openenv.catalogue import AskedMarket, Catalogue
from daedalus.service.openenv.rubric import COMPOSITE
from daedalus.service.openenv.warm_up import warm_up
from daedalus.service.sessions.asked_bidders import BackgroundBidders, recorded_only
from daedalus.service.sessions.bid_report_page import can_report, report_on_bids
from daedalus.service.sessions.bid_reports import ReportOn
from daedalus.service.sessions.made_designers import Make, made_for
from daedalus.service.settings import NEWEST, NONE, ServiceSettings


def main(config: Serve, out: Path) -> None:
    """Serve the configuration's populations; the trained designer loads in the background."""
    settings = config.service
    catalogue = replace(make_catalogue(config), briefs=make_briefs(config))
    console = make_console()
    designer, choice = find_designer(settings, Path(settings.outputs), config.reward)
    with listen(settings) as listener, asked_market(config, out) as asked:
        catalogue = catalogue if asked is None else catalogue.with_asked_market(asked)
        warm_up(catalogue)
        load = partial(designer.load, load_generate) if designer else None
        trained_for = designer.purpose if designer else None
        app = create_app(
            settings,
            catalogue,
            load,
            make_designers(config),
            trained_for,
            make_makers(config),
            make_report_on(),
        )
        name = pretrained.described(designer.checkpoint) if designer else NONE
        told = f", trained for {trained_for}" if trained_for else ""
        host, port = listener.getsockname()[:2]
        if choice.passed_over:
            console.print(str(choice), soft_wrap=True)
        where = web_address(host, port)
        console.print(f"Daedalus: {where}    designer: {name}{told}", soft_wrap=True)
        with suppress(KeyboardInterrupt):
            make_server(app, settings).run(sockets=[listener])
    console.print("Stopped.")


def make_designers(config: Serve) -> dict[str, Designer]:
    """Return the designers that play everywhere: the heuristic one and some of the baselines."""
    settings = {"heuristic": HeuristicSettings()} | config.evaluation.baselines
    portable = {name: each for name, each in settings.items() if not each.per_population}
    return build_all(portable, make_context(config, make_env(config)))


def make_report_on() -> ReportOn | None:
    """Return what makes reports on logs of bids as ``+experiment=from_bids`` does, if it can."""
    if not can_report():
        return None
    from experiments.from_bids import plan_of  # pandas and matplotlib are slow to import

    return partial(report_on_bids, plan_of(compose_config("+experiment=from_bids")))


def make_briefs(config: Serve) -> BriefsOnOffer:
    """Return what reads briefs, and the bidders of whom they may tell; it loads a reader later."""
    offered: Serve = compose_config("+experiment=serve", "populations=briefs")
    load = partial(load_understanding, load_reader)
    return BriefsOnOffer(load, offered.populations, config.seed)


def make_makers(config: Serve) -> dict[str, Make]:
    """Return what makes the other baselines for the market and the objective of a visitor."""
    return {
        name: partial(made_for, settings, config.seed)
        for name, settings in config.evaluation.baselines.items()
        if settings.per_population
    }


def make_catalogue(config: Offering) -> Catalogue:
    """Return what visitors may choose.

    The defaults are ``population=``, ``market=`` and ``reward=``. In all episodes they may set what
    ``allowed`` says.
    """
    named = config.populations
    names = [name for name, each in named.items() if each == config.population]
    populations = named if names else {"configured": config.population} | named
    default = names[0] if names else "configured"
    known = [name for name, each in config.markets.items() if each == config.market]
    market = known[0] if known else config.market.name
    markets = config.markets | {market: config.market}
    stack, offered = config.reward, config.objectives
    same = [name for name, each in offered.items() if each.active == stack.active]
    objective = same[0] if same else COMPOSITE if stack.is_composite else "configured"
    length = config.service.max_episode_length
    objectives = {COMPOSITE: RewardStack()} | offered | {objective: stack}
    return Catalogue(
        populations,
        default,
        market,
        markets,
        length,
        objective,
        objectives,
        allowed=allowed_in(config),
    )


@contextmanager
def asked_market(config: Serve, out: Path) -> Iterator[AskedMarket | None]:
    """Give the market of ``+experiment=llm_bidders`` with the run's bidder; None without a bidder.

    Recorded answers know no past but an empty one, so those bidders are told none.

    Raises:
        ConfigError: Recorded bidders are to remember rounds.
    """
    if config.bidder is None:
        yield None
        return
    study: LlmBidders = compose_config("+experiment=llm_bidders")
    recorded = isinstance(config.bidder, RecordedBidder)
    memory = 0 if recorded else config.bidder.memory
    if recorded and config.bidder.memory not in (0, study.bidder.memory):
        raise ConfigError("bidder.memory: visitors' recorded bidders know no past; leave it out")
    facts = config.bidder.facts or study.bidder.facts
    bidder = replace(config.bidder, memory=memory, facts=facts)
    player, asker = bidder.build(BidderContext(study.market, out, load_ask))
    service = config.service
    background = BackgroundBidders(asker, service.design_timeout, service.design_queue)
    player.ask = recorded_only(asker) if isinstance(asker, Recording) else background
    players = in_all_seats(player, types_of_bidders(make_env(study).market))
    known = study.evaluation.baselines.items()
    rules = {name: each.mechanism for name, each in known if isinstance(each, FixedSettings)}
    try:
        yield AskedMarket(study.population, study.market, players, bidder.name, recorded, rules)
    finally:
        background.close()


def find_designer(
    settings: ServiceSettings, outputs: Path, reward: RewardStack | None = None
) -> tuple[LanguageModelSettings | None, Choice]:
    """Return the model that the settings name, and which newer ones were passed over.

    ``newest`` looks for it in ``outputs``, and takes the one of the package if none there was
    trained well for the reward.
    """
    checkpoint, choice = settings.checkpoint, Choice(None, [])
    if checkpoint == NEWEST:
        choice = newest_model(outputs, reward)
        checkpoint = str(choice.model or pretrained.WORD)
    if checkpoint == NONE:
        return None, choice
    return LanguageModelSettings(checkpoint=checkpoint, constrained=settings.constrained), choice
