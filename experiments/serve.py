"""The market as a service, until stopped."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from rich import print as show

from daedalus.config import Config
from daedalus.designers.base import Designer
from daedalus.designers.heuristic import HeuristicDesigner
from daedalus.designers.language_model import LanguageModelSettings
from daedalus.service.http.app import create_app
from daedalus.service.http.server import listen, make_server
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.warm_up import warm_up
from daedalus.service.settings import NEWEST, NONE, ServiceSettings
from experiments.build import load_generate, make_designer, make_env, newest_model


def main(config: Config, out: Path) -> None:
    """Serve the configuration's populations; the designer is loaded in the background."""
    settings = config.service
    catalogue = make_catalogue(config)
    designer = find_designer(settings, Path(settings.outputs))
    with listen(settings) as listener:
        show("Compiling the market, which takes minutes the first time ...", flush=True)
        warm_up(catalogue)
        load = partial(load_generate, designer) if designer else None
        app = create_app(settings, catalogue, load, make_designers(config))
        name = designer.checkpoint if designer else "none; train one with make demo"
        host, port = listener.getsockname()[:2]
        show(f"Daedalus: http://{host}:{port}    designer: {name}", flush=True)
        with suppress(KeyboardInterrupt):
            make_server(app, settings).run(sockets=[listener])
    show("Stopped.")


def make_designers(config: Config) -> dict[str, Designer]:
    """Return the designers that need no training: written rules and the baselines."""
    settings = {"heuristic": HeuristicDesigner()} | config.evaluation.baselines
    env = make_env(config)
    return {name: make_designer(each, env, config.seed) for name, each in settings.items()}


def make_catalogue(config: Config) -> Catalogue:
    """Return what visitors may choose from: the named populations, by default the configured."""
    named = config.populations
    names = [name for name, each in named.items() if each == config.population]
    populations = named if names else {"configured": config.population} | named
    default = names[0] if names else "configured"
    return Catalogue(populations, default, config.market, config.service.max_episode_length)


def find_designer(settings: ServiceSettings, outputs: Path) -> LanguageModelSettings | None:
    """Return the model that the settings name, if there is one; runs leave theirs in outputs."""
    checkpoint = settings.checkpoint
    if checkpoint == NEWEST:
        checkpoint = newest_model(outputs) or NONE
    if checkpoint == NONE:
        return None
    return LanguageModelSettings(checkpoint=checkpoint, constrained=settings.constrained)
