"""Observations from the market to messages, and back for a designer."""

from __future__ import annotations

from typing import Any

import numpy as np

from daedalus.market.goal import Goal
from daedalus.market.history import HISTORY_LENGTH, History
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.service.openenv.messages import (
    DaedalusObservation,
    PartialObservation,
    PopulationProxies,
    RoundOutcome,
    WireMechanism,
)

_UNKNOWN_STAGE = 0


def to_wire(observation: Observation) -> DaedalusObservation:
    """Return the first of the observed markets as a message."""
    recent = observation.recent[0]
    proxies = dict(zip(PROXIES, observation.proxies[0].tolist(), strict=True))
    return DaedalusObservation(
        mechanism=wire_mechanism(observation.mechanisms),
        market_outcomes=[_round(each) for each in recent[np.isfinite(recent[:, 0])].tolist()],
        population_proxies=PopulationProxies(**proxies),
        round_number=int(observation.round_number[0]),
        episode_length=observation.episode_length,
        curriculum_stage=observation.stage,
    )


def wire_mechanism(mechanisms: Mechanisms) -> WireMechanism:
    """Return the first of the mechanisms as a message."""
    return WireMechanism(**mechanisms[0].to_dict())


def as_a_client_sees(message: DaedalusObservation, goal: Goal | None = None) -> Observation:
    """Return one market as the client of a server sees it, with its goal; None is R."""
    part = PartialObservation(**message.model_dump(include={*PartialObservation.model_fields}))
    return from_wire(part, goal)


def from_wire(message: PartialObservation, goal: Goal | None = None) -> Observation:
    """Return one market as a message describes it, with a goal; None is R.

    Unknown numbers are NaN. An unknown mechanism counts as malformed and has the default values.
    """
    outcomes = message.market_outcomes
    recent = np.full((1, HISTORY_LENGTH, len(ROUND_FIELDS)), np.nan)
    if outcomes:
        recent[0, -len(outcomes) :] = [_record(each) for each in outcomes]
    proxies = message.population_proxies.model_dump()
    mechanism = message.mechanism.to_mechanism() if message.mechanism else None
    return Observation(
        mechanisms=Mechanisms.stack([mechanism]),
        history=History((recent,)),
        proxies=np.array([[proxies[name] for name in PROXIES]], np.float64),
        round_number=np.array([message.round_number]),
        episode_length=message.episode_length,
        stage=_UNKNOWN_STAGE if message.curriculum_stage is None else message.curriculum_stage,
        goals=np.full(1, goal or Goal()),
    )


def _round(record: list[float]) -> RoundOutcome:
    values: dict[str, Any] = dict(zip(ROUND_FIELDS, record, strict=True))
    # There are twenty rounds a step, all finite numbers, so nothing is checked.
    return RoundOutcome.model_construct(**values, fairness=1.0 - values["gini"])


def _record(outcome: RoundOutcome) -> list[float]:
    values = outcome.model_dump()
    if values["gini"] is None and values["fairness"] is not None:
        values["gini"] = 1.0 - values["fairness"]
    return [np.nan if values[name] is None else values[name] for name in ROUND_FIELDS]
