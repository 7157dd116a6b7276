"""Measure the two ends of the reward on a running service: the oracle and a random designer.

``python -m daedalus.service.openenv.oracle`` plays both through the client, as any agent would. It
ends with an error if they are not where openenv.yaml says, by ``oracle_tolerance`` and
``floor_margin``.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
from omegaconf import OmegaConf

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import Designer
from daedalus.evaluation.scale import scale_named
from daedalus.market.seeds import generator
from daedalus.service.openenv.client import DaedalusClient
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.openenv.observations import as_a_client_sees
from daedalus.service.openenv.remote import Session

_PURPOSE = "oracle"


def main() -> None:
    """Print the measured ends as JSON; exit with a sentence if one is not where it should be."""
    line = ArgumentParser(description=__doc__)
    line.add_argument("--address", default="http://127.0.0.1:8000", help="(default: %(default)s)")
    line.add_argument("--population", default="stage3", help="(default: %(default)s)")
    line.add_argument("--episodes", type=int, default=100, help="(default: %(default)s)")
    manifest = Path("openenv.yaml")
    line.add_argument("--manifest", type=Path, default=manifest, help="(default: %(default)s)")
    asked = line.parse_args()
    declared = OmegaConf.load(asked.manifest).validation.reward
    with DaedalusClient(base_url=asked.address).sync() as session:
        try:
            found = measured_ends(session, asked.population, asked.episodes)
        except ValueError as error:
            sys.exit(str(error))
    print(json.dumps({"population": asked.population, "episodes": asked.episodes} | found))
    scale = scale_named(asked.population)
    due = scale.normalise(scale.oracle)  # 1 unless the planner is better
    if found["oracle"] < due - declared.oracle_tolerance:
        sys.exit(
            f"the oracle has less than {due:.2f} - {declared.oracle_tolerance}; run make oracle"
        )
    if found["floor"] > 1 - declared.floor_margin:
        sys.exit(f"a random designer has more than 1 - {declared.floor_margin}; run make oracle")


def measured_ends(session: Session, population: str, episodes: int) -> dict[str, float]:
    """Return the mean normalised reward of the oracle, and of a random designer as ``floor``.

    Raises:
        ValueError: The package has no oracle of this population.
        RuntimeError: The server does not offer it, or closed the session.
    """
    oracle = FixedDesigner(scale_named(population).mechanism)
    return {
        "oracle": mean_normalised(session, oracle, population, episodes),
        "floor": mean_normalised(session, RandomDesigner(), population, episodes),
    }


def mean_normalised(session: Session, designer: Designer, population: str, episodes: int) -> float:
    """Play the episodes of the seeds from 0 up; return the mean normalised reward of a step.

    Raises:
        ValueError: The server plays another market than that of the scale.
    """
    rng, earned = generator(0, _PURPOSE), []
    for seed in range(episodes):
        result = session.reset(seed=seed, population=population, market="strategic")
        while not result.done:
            mechanism = designer.propose(as_a_client_sees(result.observation), rng)[0]
            result = session.step(DaedalusAction(**mechanism.to_dict()))
            earned.append(result.observation.metadata["normalised"])
    if None in earned:
        raise ValueError(
            f"{population}: the server changes its bidders or its market, so it has no scale"
        )
    return float(np.mean(earned))


if __name__ == "__main__":
    main()
