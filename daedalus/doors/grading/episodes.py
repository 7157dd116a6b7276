"""Episodes of a running service, played over the wire by OpenEnv's own collector."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np
from openenv.validation.graders import Subject
from openenv.validation.manifest import NormalizedManifestV2
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimeEvidence, RuntimePlan, load_runtime_plan

POPULATION, EPISODES = "stage3", 10
_MOST = 100
"""Most actions of one of OpenEnv's plans; an episode ends before."""

Action = dict[str, Any]


def collect(subject: Subject, plan: RuntimePlan) -> RuntimeEvidence:
    """Return what the running service answers to a plan."""
    assert subject.running is not None
    limit = subject.manifest.resources.episode_timeout_s
    return collect_runtime_evidence(subject.running.base_url, plan, episode_timeout_s=limit)


def collected(subject: Subject, seed: int, actions: Sequence[Action]) -> RuntimeEvidence:
    """Return what the service answers in an episode, in which actions follow each other anew."""
    options = {"population": POPULATION, "market": "strategic"}
    reset = {"episode_id": f"grading-{seed}", "seed": seed, "options": options}
    repeated = list(islice(cycle(actions), _MOST))
    return collect(subject, make_plan(reset, repeated))


def make_plan(reset: dict[str, Any], actions: list[Action]) -> RuntimePlan:
    """Return a plan of OpenEnv's."""
    plan = {"plan_schema_version": "1", "reset": reset, "actions": actions}
    return RuntimePlan.model_validate(plan)


def episodes(subject: Subject, actions: Sequence[Action]) -> list[RuntimeEvidence]:
    """Return what the service answers in the episodes that are graded."""
    return [collected(subject, seed, actions) for seed in range(EPISODES)]


def recorded(subject: Subject) -> RuntimeEvidence:
    """Return the record of the package's plan."""
    assert isinstance(subject.manifest, NormalizedManifestV2)
    return collect(subject, load_runtime_plan(subject.root, subject.manifest.execution))


def plan_of(record: RuntimeEvidence) -> RuntimePlan:
    """Return what was asked in a recorded episode, as a plan."""
    steps(record)
    asked = (
        json.loads(each.request_json) for each in record.exchanges if each.operation != "state"
    )
    options, *actions = (each["data"] for each in asked)
    reset = {name: options.pop(name) for name in ("seed", "episode_id")} | {"options": options}
    return make_plan(reset, actions)


def steps(evidence: RuntimeEvidence) -> list[dict[str, Any]]:
    """Return the answers to the steps.

    Raises:
        ValueError: The episode was not played to its end.
    """
    if evidence.failure_reason:
        raise ValueError(evidence.failure_reason)
    told = (each for each in evidence.exchanges if each.operation == "step")
    return [json.loads(each.response_json)["data"] for each in told]


def mean(episodes: Sequence[RuntimeEvidence]) -> float:
    """Return the mean normalised reward of a step.

    Raises:
        ValueError: An episode was not played, or its market has no scale.
    """
    told = [each["observation"]["metadata"] for episode in episodes for each in steps(episode)]
    earned = [each["normalised"] for each in told]
    if None in earned:
        raise ValueError(f"{POPULATION}: the service plays other bidders or another market")
    return float(np.mean(earned))


def in_force(episode: RuntimeEvidence) -> Action:
    """Return the mechanism that an episode begins with."""
    first = json.loads(episode.exchanges[0].response_json)
    mechanism: Action = first["data"]["observation"]["mechanism"]
    return mechanism
