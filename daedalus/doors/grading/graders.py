"""Graders of OpenEnv's level three, which its registry finds by the entry points of the package.

OpenEnv 0.10 names these checks and has no graders for them. Rewards are those on the scale of the
population (``daedalus.evaluation.scale``), since no mechanism reaches R = 1.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from openenv.validation.graders import Subject
from openenv.validation.manifest import NormalizedManifest
from openenv.validation.report import CheckResult
from openenv.validation.runtime.contracts import RuntimeEvidence
from openenv.validation.types import CheckStatus, Level, ProviderCapability

from daedalus.doors.grading.episodes import (
    POPULATION,
    Action,
    collect,
    collected,
    episodes,
    in_force,
    mean,
    plan_of,
    recorded,
    steps,
)
from daedalus.evaluation.scale import Scale, scale_named
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import parse_mechanism
from daedalus.service.openenv.environment import NAME

STARTUP = "runtime.startup"
_DETERMINISM = "semantic.verifier_determinism"


@dataclass
class Found:
    """What a grader measured, and what is wrong; nothing is if it passes."""

    measured: dict[str, Any]
    problems: list[str]


class SemanticGrader:
    """One check of this environment; subclasses measure it.

    Attributes:
        check_id: OpenEnv's name of the check; the others are those of its protocol, too.
    """

    check_id: str
    level = Level.SEMANTIC
    requires_capabilities: frozenset[str] = frozenset()
    requires_provider: frozenset[ProviderCapability] = frozenset()
    depends_on: tuple[str, ...] = (STARTUP, _DETERMINISM)

    def applies_to(self, manifest: NormalizedManifest) -> bool:
        """Return whether the package is this environment, and no other that is graded here."""
        return manifest.name == NAME

    def run(self, subject: Subject) -> CheckResult:
        """Return what was found; what the service refuses counts against it."""
        began = time.monotonic()
        try:
            found = self._measure(subject)
        except ValueError as error:
            found = Found({}, [str(error)])
        return CheckResult(
            check_id=self.check_id,
            status=CheckStatus.FAIL if found.problems else CheckStatus.PASS,
            measured=found.measured,
            evidence=found.problems,
            duration_s=time.monotonic() - began,
        )

    def _measure(self, subject: Subject) -> Found:
        """Measure; a ValueError says that the service does not play the episodes."""
        raise NotImplementedError


class OracleMax(SemanticGrader):
    """The oracle, best own, reaches the maximum."""

    check_id = "semantic.oracle_max"

    def _measure(self, subject: Subject) -> Found:
        least = 1 - subject.manifest.reward.oracle_tolerance
        reached = mean(episodes(subject, [oracle()]))
        problems = [] if reached >= least else [f"the oracle has less than {least}"]
        return Found({"oracle": reached, "least": least, "population": POPULATION}, problems)


class FloorGap(SemanticGrader):
    """Doing nothing stays well below the maximum: empty answers, or the rules that are in force."""

    check_id = "semantic.floor_gap"

    def _measure(self, subject: Subject) -> Found:
        most = 1 - subject.manifest.reward.floor_margin
        empty = episodes(subject, [{}])
        kept = [collected(subject, seed, [in_force(each)]) for seed, each in enumerate(empty)]
        floors = {"empty": mean(empty), "kept": mean(kept)}
        problems = [] if max(floors.values()) <= most else [f"above {most}"]
        return Found({**floors, "most": most}, problems)


class CanaryFloor(SemanticGrader):
    """Known ways to a reward without an answer fail: they stay low, or are refused."""

    check_id = "semantic.canary_floor"
    requires_capabilities = frozenset({"canaries"})

    def _measure(self, subject: Subject) -> Found:
        most = 1 - subject.manifest.reward.floor_margin
        file = subject.root / str(subject.manifest.capabilities.canaries)
        canaries = json.loads(file.read_text())
        earned = {name: mean(episodes(subject, each)) for name, each in canaries["played"].items()}
        high = [f"{name}: above {most}" for name, each in earned.items() if each > most]
        found = Found({**earned}, high)
        for name, action in canaries["refused"].items():
            told = collected(subject, 0, [action]).failure_reason
            found.measured[name] = told
            if told != "step failed (VALIDATION_ERROR)":
                found.problems.append(f"{name}: not refused")
        return found


class NoSolutionLeakage(SemanticGrader):
    """Neither the oracle nor the ends of its scale are shown to who has not found them."""

    check_id = "semantic.no_solution_leakage"

    def _measure(self, subject: Subject) -> Found:
        scale = scale_named(POPULATION)
        told = episodes(subject, [{}])
        if not all(map(steps, told)):
            raise ValueError("an episode without a step shows nothing")
        texts = [each.response_json for evidence in told for each in evidence.exchanges]
        shown = [place for text in texts for place in leaks(json.loads(text), scale)]
        return Found({"answers": len(texts)}, sorted(set(shown)))


class VerifierDeterminism(SemanticGrader):
    """Two runs of the oracle are answered alike, to the last byte."""

    check_id = _DETERMINISM
    depends_on = (STARTUP,)

    def _measure(self, subject: Subject) -> Found:
        once, again = (digest(collected(subject, 0, [oracle()])) for _ in range(2))
        return Found({"sha256": once}, [] if once == again else ["two runs of the oracle differ"])


class VerifierPortability(SemanticGrader):
    """A process without network or service gives the rewards of the service, to the last bit."""

    check_id = "semantic.verifier_portability"

    def _measure(self, subject: Subject) -> Found:
        served = [each["reward"] for each in steps(collected(subject, 0, [oracle()]))]
        asked = {"population": POPULATION, "seed": 0, "actions": [oracle()] * len(served)}
        alone = [sys.executable, "-m", "daedalus.doors.grading.rewards_alone"]
        limit = subject.manifest.resources.episode_timeout_s
        try:
            done = subprocess.run(
                alone, input=json.dumps(asked), capture_output=True, text=True, timeout=limit
            )
        except subprocess.TimeoutExpired as error:
            raise ValueError(f"alone, the episode takes more than {limit} s") from error
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            raise ValueError(f"alone, the episode could not be played: {reason}")
        same = json.loads(done.stdout.splitlines()[-1]) == served
        return Found({"rewards": served}, [] if same else ["alone, other rewards"])


class Replayability(SemanticGrader):
    """A recorded episode, played again from its record, is answered alike."""

    check_id = "semantic.replayability"

    def _measure(self, subject: Subject) -> Found:
        record = subject.runtime_evidence or recorded(subject)
        again = collect(subject, plan_of(record))
        same = record.exchanges == again.exchanges
        return Found({"exchanges": len(again.exchanges)}, [] if same else ["the replay differs"])


class ResourceEnvelope(SemanticGrader):
    """A run of the oracle keeps to the declared time and memory. Disks are not measured."""

    check_id = "semantic.resource_envelope"
    requires_provider = frozenset({ProviderCapability.EXEC})

    def _measure(self, subject: Subject) -> Found:
        assert subject.running is not None
        declared, began = subject.manifest.resources, time.monotonic()
        steps(collected(subject, 0, [oracle()]))
        seconds = time.monotonic() - began
        status = subject.running.exec(["cat", "/proc/1/status"], timeout_s=10.0).stdout
        if not (peak := re.search(r"VmHWM:\s+(\d+) kB", status)):
            raise ValueError("the subject does not tell its memory")
        megabytes = int(peak[1]) / 1024
        more = megabytes > declared.memory_mb or seconds > declared.episode_timeout_s
        problems = ["more than was declared"] if more else []
        return Found({"memory_mb": megabytes, "episode_s": seconds}, problems)


def oracle() -> Action:
    """Return the oracle's answer at every step."""
    return scale_named(POPULATION).mechanism.to_dict()


def leaks(told: Any, scale: Scale, place: str = "") -> Iterator[str]:
    """Yield where an answer shows the oracle's mechanism, or an end of the scale.

    What differs from the default is enough to show the mechanism. That both ends follow from R and
    ``normalised`` of two steps is no leak: who has played them has found them.
    """
    if isinstance(told, float) and told in (scale.floor, scale.oracle, scale.planner):
        yield f"{place}: an end of the scale"
    elif isinstance(told, str) and parse_mechanism(told, strict=False).mechanism == scale.mechanism:
        yield f"{place}: the oracle"
    elif isinstance(told, list):
        for each in told:
            yield from leaks(each, scale, place)
    elif isinstance(told, dict):
        usual = Mechanism().to_dict().items()
        if dict(scale.mechanism.to_dict().items() - usual).items() <= told.items():
            yield f"{place}: the oracle"
        for name, each in told.items():
            yield from leaks(each, scale, f"{place}/{name}")


def digest(evidence: RuntimeEvidence) -> str:
    """Return a hash of every byte of the answers."""
    steps(evidence)
    return sha256("\n".join(each.response_json for each in evidence.exchanges).encode()).hexdigest()
