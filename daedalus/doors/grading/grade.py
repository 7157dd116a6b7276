"""Grade a running service: ``python -m daedalus.doors.grading.grade --address URL``.

OpenEnv 0.10 has no command that loads graders of others, so this one asks its registry for them.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from openenv.validation.graders import GraderRegistry, Subject
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.report import CheckResult
from openenv.validation.runtime.scheduler import execute_graders
from openenv.validation.types import CheckStatus, Level, ProviderCapability

from daedalus.doors.grading.graders import STARTUP


def grade(subject: Subject, *capabilities: ProviderCapability) -> list[CheckResult]:
    """Return what the graders find that OpenEnv's registry loads from installed packages."""
    registry, able = GraderRegistry(), frozenset(capabilities)
    if not registry.load_entry_points():
        sys.exit("OpenEnv finds no graders: install the package: pip install --no-deps -e .")
    up = CheckResult(check_id=STARTUP, status=CheckStatus.PASS, duration_s=0)
    selected = registry.select(subject.manifest, Level.SEMANTIC)
    if not selected:
        sys.exit(f"{subject.manifest.name}: no grader applies to this package")
    found: list[CheckResult] = execute_graders(  # type: ignore[no-untyped-call]  # OpenEnv's is
        selected, subject, provider_capabilities=able, prior=[up]
    )
    return found


def main() -> None:
    """Print each result; end with 1 if a check fails."""
    line = ArgumentParser(description=__doc__)
    line.add_argument("--address", default="http://127.0.0.1:8000", help="(default: %(default)s)")
    line.add_argument("--package", type=Path, default=Path(), help="folder of openenv.yaml")
    asked = line.parse_args()
    manifest = OpenEnvYamlParser().parse(asked.package)
    running: Any = SimpleNamespace(base_url=asked.address)
    found = grade(Subject(asked.package, manifest, None, running, asked.package / "outputs"))
    for each in found:
        print(each.status.value, each.check_id, json.dumps(each.measured), *each.evidence)
    sys.exit(any(each.status in (CheckStatus.FAIL, CheckStatus.ERROR) for each in found))


if __name__ == "__main__":
    main()
