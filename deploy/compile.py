"""Compile the markets of the default service, so that a container starts in seconds."""

from daedalus.launch.config.compose import compose_config
from daedalus.service.openenv.warm_up import warm_up
from experiments.serve import make_catalogue

warm_up(make_catalogue(compose_config("+experiment=serve")))
