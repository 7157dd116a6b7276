"""OpenEnv's own registry loads the graders of the package, which grade the real service."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from openenv.validation.graders import ENTRY_POINT_GROUP, GraderRegistry, Subject
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.policy import load_policy
from openenv.validation.providers import ExecResult
from openenv.validation.types import CheckStatus, Level

from daedalus.doors.grading import episodes, graders
from daedalus.doors.grading.grade import grade
from daedalus.doors.grading.graders import leaks
from daedalus.doors.grading.rewards_alone import refuse
from daedalus.evaluation.scale import Scale, scale_named
from daedalus.market.mechanism import Mechanism
from daedalus.service.openenv.environment import DaedalusEnvironment
from experiments.serve import make_catalogue
from tests.doors.grading.metadata import make_metadata
from tests.launch.config.composing import composed
from tests.service.conftest import serving

ROOT = Path(__file__).parents[3]
MANIFEST = OpenEnvYamlParser().parse(ROOT)
CHECKS = {
    f"semantic.{name}"
    for name in (
        "oracle_max", "floor_gap", "canary_floor", "no_solution_leakage", "verifier_determinism",
        "verifier_portability", "replayability", "resource_envelope",
    )
}  # fmt: skip


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_metadata(tmp_path_factory.mktemp("metadata"))


@pytest.fixture(autouse=True)
def installed(metadata: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let importlib.metadata find the package, as where it is installed."""
    monkeypatch.syspath_prepend(str(metadata))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]]))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grade few episodes: ``tests/test_deploy.py`` grades as many as there are."""
    monkeypatch.setattr(episodes, "EPISODES", 2)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve what ``make serve`` offers."""
    with serving(make_catalogue(composed("+experiment=serve"))) as found:
        yield found


def subject(address: str, **more: Any) -> Subject:
    return Subject(
        ROOT, MANIFEST, None, SimpleNamespace(base_url=address, **more), ROOT / "outputs"
    )


def statuses(address: str) -> dict[str, str]:
    """Return what each check of level three comes to, by the end of its name."""
    found = grade(subject(address))
    return {each.check_id.partition(".")[2]: each.status.value for each in found}


def test_the_registry_loads_a_grader_for_each_check_of_level_three() -> None:
    registry, policy = GraderRegistry(), load_policy("v2")
    assert registry.load_entry_points() == len(CHECKS)
    assert {each.check_id for each in registry.select(MANIFEST, Level.SEMANTIC)} == CHECKS
    known = {each.check_id for each in policy.entries if each.level is Level.SEMANTIC}
    assert known == CHECKS and ENTRY_POINT_GROUP in (ROOT / "pyproject.toml").read_text()
    other = MANIFEST.model_copy(update={"name": "another"})
    assert registry.select(other, Level.SEMANTIC) == []


@pytest.mark.slow
def test_only_what_needs_a_sandbox_is_left_out_without_one(address: str) -> None:
    found = {each.check_id: each for each in grade(subject(address))}
    assert found.keys() == CHECKS
    left_out = [each for each in found.values() if each.status is CheckStatus.SKIP]
    assert [each.check_id for each in left_out] == ["semantic.resource_envelope"]
    assert "exec" in left_out[0].evidence[0]
    assert found["semantic.oracle_max"].status is CheckStatus.PASS


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [Mechanism(), replace(scale_named("stage3").mechanism, reserve_price=0.5)],
    ids=["empty", "mutated"],
)
def test_another_answer_than_the_oracle_s_is_rejected(
    address: str, monkeypatch: pytest.MonkeyPatch, answer: Mechanism
) -> None:
    wrong = replace(scale_named("stage3"), mechanism=answer)
    monkeypatch.setattr(graders, "scale_named", lambda population: wrong)
    found = graders.OracleMax().run(subject(address))
    assert found.status is CheckStatus.FAIL and found.measured["oracle"] < 0.9


@pytest.mark.slow
def test_a_verifier_that_pays_for_everything_is_rejected(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scale, "normalise", lambda self, reward: 1.0)
    for grader in (graders.FloorGap(), graders.CanaryFloor()):
        assert grader.run(subject(address)).status is CheckStatus.FAIL


@pytest.mark.slow
def test_a_service_that_draws_its_own_seeds_is_rejected(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, drawn = DaedalusEnvironment.reset, iter(range(100))

    def reset(self: DaedalusEnvironment, seed: int, *rest: Any, **more: Any) -> Any:
        return begin(self, next(drawn), *rest, **more)

    monkeypatch.setattr(DaedalusEnvironment, "reset", reset)
    found = statuses(address)
    assert found.pop("verifier_determinism") == "fail"
    assert set(found.values()) == {"skip"}  # each depends on it


@pytest.mark.slow
def test_a_service_with_other_rules_has_no_scale_and_is_rejected() -> None:
    with serving(
        make_catalogue(composed("+experiment=serve", "+allowed.auction_type=[vcg]"))
    ) as other:
        found = graders.OracleMax().run(subject(other))
        blind = graders.NoSolutionLeakage().run(subject(other))
    assert found.status is CheckStatus.FAIL and "another market" in found.evidence[0]
    assert blind.status is CheckStatus.FAIL  # empty answers are refused, so nothing is seen


def test_an_answer_that_shows_the_solution_is_found() -> None:
    scale = scale_named("stage3")
    oracle = scale.mechanism.to_dict()
    innocent = [1.0, "a text", "{no JSON", {"mechanism": Mechanism().to_dict()}]
    assert list(leaks({"data": innocent}, scale)) == []
    for told in ([oracle], f"Try {json.dumps(oracle)}.", oracle | {"more": 1}):
        assert list(leaks({"hint": told}, scale)) == ["/hint: the oracle"]
    assert list(leaks({"hint": scale.oracle}, scale)) == ["/hint: an end of the scale"]


@pytest.mark.parametrize(("kilobytes", "status"), [(1, "pass"), (1 << 30, "fail")])
def test_memory_is_what_the_first_process_of_the_sandbox_ever_had(
    address: str, kilobytes: int, status: str
) -> None:
    def execute(argv: list[str], timeout_s: float) -> ExecResult:
        assert argv == ["cat", "/proc/1/status"]
        return ExecResult(0, f"Name:\tpython\nVmHWM:\t  {kilobytes} kB\n", "", 0.0)

    found = graders.ResourceEnvelope().run(subject(address, exec=execute))
    assert found.status.value == status and found.measured["memory_mb"] == kilobytes / 1024


def test_rewards_alone_are_refused_a_network() -> None:
    with pytest.raises(PermissionError, match=r"socket\.connect"):
        refuse("socket.connect", ())
    refuse("open", ("a file",))
