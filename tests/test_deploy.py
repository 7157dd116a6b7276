"""The files behind a container and a Space; the tests build no image."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import requests
from omegaconf import OmegaConf
from openenv.validation.graders import Subject
from openenv.validation.manifest import ExecutionDeclaration
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.policy import apply_policy, load_policy
from openenv.validation.providers import ExecResult
from openenv.validation.runner import run_validation
from openenv.validation.runtime.contracts import LaunchSpec
from openenv.validation.types import Lane, Level, ProviderCapability, Verdict

from daedalus.design.designers.candidates import newest_model
from daedalus.design.rewards.stack import RewardStack
from daedalus.doors.grading.grade import grade
from daedalus.service.page.newest_run import NewestRun
from tests.doors.grading.metadata import make_metadata
from tests.launch.config.composing import composed
from tests.runs.trained_runs import leave_trained_run
from tests.service.conftest import settled
from tests.test_requirements import normal, required
from tests.untrained import leave_untrained_model

ROOT = Path(__file__).parents[1]
CHILDREN = ROOT / "tests" / "children"
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions and what follows each."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line.strip()]
    return [(name, rest) for name, rest in pairs]


def only(name: str) -> str:
    (value,) = [rest for each, rest in instructions() if each == name]
    return value


def front_matter() -> dict:
    _, text, _ = (ROOT / "deploy" / "README.md").read_text().split("---\n", 2)
    matter = OmegaConf.to_container(OmegaConf.create(text))
    assert isinstance(matter, dict)
    return matter


@pytest.mark.slow
def test_the_container_starts_the_service_where_the_space_looks_for_it() -> None:
    program, script, *overrides = json.loads(only("CMD"))
    assert (program, (ROOT / script).exists()) == ("python", True)
    settings = composed(*overrides)
    assert settings.task == "serve" and settings.service.host == "0.0.0.0"
    assert settings.service.port == int(only("EXPOSE"))
    assert settings.service.hosts == ["localhost", "*.hf.space"]


WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in {}:
            return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""
"""Hides what the image does not install."""


def not_installed() -> set[str]:
    """Return the modules of what requirements.txt asks for and the image leaves out."""
    left_out = required("requirements.txt") - asked_by_the_image()
    return {
        module for module, found in packages_distributions().items() if normal(found[0]) in left_out
    }


def asked_by_the_image() -> set[str]:
    lines = (ROOT / "deploy" / "image-requirements.txt").read_text().splitlines()
    return {normal(line) for line in lines if not line.startswith("#")}


class Process:
    """Starts what the image starts, in place of a container: OpenEnv's graders need no more."""

    name = "process"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"no-network"})  # not enforced, and so not graded

    def __init__(self, folder: Path, *changes: str) -> None:
        self._folder, self._changes = folder, changes

    def build(self, root: Path, execution: ExecutionDeclaration) -> str:
        assert (root / execution.context / execution.dockerfile).exists()
        return f"sha256:{0:064}"

    def start(self, spec: LaunchSpec | None) -> Process:
        _, script, *overrides = json.loads(only("CMD"))
        place = ["service.port=0", f"hydra.run.dir={self._folder / 'run'}"]
        begin = WITHOUT.format(not_installed()) + (CHILDREN / "sitecustomize.py").read_text()
        (self._folder / "sitecustomize.py").write_text(begin)
        self._service = subprocess.Popen(
            [sys.executable, str(ROOT / script), *overrides, *self._changes, *place],
            cwd=self._folder,
            env=os.environ | {"PYTHONPATH": f"{self._folder}{os.pathsep}{CHILDREN}"},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._service.stdout is not None
        told = (re.search(r"http://[\d.]+:(\d+).*", line) for line in self._service.stdout)
        ready = next(filter(None, told))
        self.base_url, self.said = f"http://127.0.0.1:{ready[1]}", ready[0]
        return self

    def inspect(self) -> dict[str, Any]:
        return {}

    def exec(self, argv: list[str], timeout_s: float) -> ExecResult:
        """Run a command; the service is the first process of a container."""
        here = [each.replace("/proc/1/", f"/proc/{self._service.pid}/") for each in argv]
        done = subprocess.run(here, capture_output=True, text=True, timeout=timeout_s)
        return ExecResult(done.returncode, done.stdout, done.stderr, 0.0)

    def stop(self) -> None:
        self._service.send_signal(signal.SIGINT)
        self._service.communicate(timeout=60)


@pytest.mark.slow
def test_openenv_grades_the_service_of_the_image_at_level_two(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "deploy").mkdir(parents=True)
    for name in (
        "openenv.yaml",
        "Dockerfile",
        "deploy/validation.json",
        "deploy/oracle",
        "deploy/canaries.json",
    ):
        shutil.copy(ROOT / name, package / name)
    report = run_validation(package, max_level=Level.RUNTIME, provider=Process(tmp_path))
    found = {each.check_id: (each.status.value, each.evidence) for each in report.results}
    graded = {name for name, (status, _) in found.items() if status != "skip"}
    assert graded == {
        "static.manifest",
        "runtime.startup",
        "runtime.reward_well_formed",
        "runtime.observation_schema",
        "runtime.state_contract",
    }
    assert {name: found[name] for name in graded if found[name][0] != "pass"} == {}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """Start what the image starts, beside a run that trained a designer."""
    folder = tmp_path_factory.mktemp("image")
    leave_untrained_model(leave_trained_run(folder / "outputs" / "designer"))
    started = Process(folder, "service.constrained=true").start(None)
    yield started
    started.stop()


@pytest.mark.slow
def test_openenv_s_registry_grades_the_service_of_the_image_at_level_three(
    service: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(make_metadata(tmp_path / "installed")))
    manifest = OpenEnvYamlParser().parse(ROOT)
    subject = Subject(ROOT, manifest, None, service, tmp_path)
    found = grade(subject, ProviderCapability.EXEC)
    assert len(found) == 8
    assert {each.check_id: each.evidence for each in found if each.status.value != "pass"} == {}
    floors = {each.check_id: each for each in found}["semantic.floor_gap"].measured
    assert floors["empty"] < 0.5 and floors["kept"] < 0.5
    alone = [each for each in found if each.check_id != "semantic.resource_envelope"]
    for graded in (found, alone):  # without a sandbox, too
        assert apply_policy(graded, load_policy("v2"), Lane.LOCAL) is Verdict.PASS


@pytest.mark.slow
def test_what_the_image_installs_serves_a_trained_designer_and_reads_briefs(
    service: Process,
) -> None:
    assert asked_by_the_image() <= required("requirements.txt")
    assert {"trl", "wandb", "bitsandbytes"} <= not_installed()
    address = service.base_url
    settled(requests, address)
    assert "designer: outputs/designer/model," in service.said
    session = {"session_id": "mine"}
    for designer, source in (({}, "ai"), ({"designer": "random"}, "rule")):
        requests.post(f"{address}/reset", json=session).raise_for_status()
        answer = requests.post(f"{address}/api/design", json=session | designer).json()
        assert answer["source"] == source, answer
    assert requests.get(f"{address}/api/training").ok
    asked = {"brief": "Each winner pays its own bid."}
    while (answer := requests.post(f"{address}/api/design", json=asked)).status_code == 503:
        assert "longer than" in answer.json()["error"]  # the reader is being loaded
    assert answer.json()["mechanism"]["auction_type"] == "first_price"


def test_the_image_the_space_and_openenv_agree_on_the_port() -> None:
    declared = OmegaConf.load(ROOT / "openenv.yaml")
    assert declared.port == int(only("EXPOSE")) == front_matter()["app_port"]
    guide = (ROOT / "deploy" / "README.md").read_text()
    assert f"docker run --rm -p {declared.port}:{declared.port}" in guide
    assert f"http://localhost:{declared.port}" in guide


def test_the_front_matter_is_what_spaces_take() -> None:
    matter = front_matter()
    assert {"title", "emoji", "sdk", "pinned"} <= set(matter) and matter["sdk"] == "docker"
    assert {matter["colorFrom"], matter["colorTo"]} <= COLOURS
    assert len(matter["short_description"]) <= 60


def test_the_image_gets_what_it_copies_and_runs_as_an_ordinary_user() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    for name, rest in instructions():
        for source in rest.split()[:-1] if name == "COPY" else []:
            assert source.startswith("--") or (ROOT / source).exists()
            assert source not in ignored
    assert ("COPY", "--chown=1000 . .") in instructions()  # the article and its figures too
    assert {"**/.env*", "**/.netrc", "build", "dist"} < {*ignored}  # secrets, and what is built
    assert not [each for each in ignored if each.strip("*/").startswith(("docs", ".png"))]
    runs = "\n".join(rest for name, rest in instructions() if name == "RUN")
    assert only("USER") == "1000" and "--uid 1000" in runs
    home = only("WORKDIR")
    assert only("ENV").startswith(f"NUMBA_CACHE_DIR={home}/")
    modules = re.findall(r"python -m ([\w.]+)", runs)
    assert modules == ["deploy.compile"] and (ROOT / "deploy" / "compile.py").exists()


def commit_all(repository: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(repository)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)


def leave_evaluated_run(folder: Path) -> Path:
    """Leave a run of which the page shows something; return the model's folder."""
    model = leave_trained_run(folder)
    (folder / "training_history.json").write_text('[{"step": 1, "reward": 0.5}]')
    (folder / "summary.csv").write_text("designer,mean,mean_low,mean_high\ntrained,0.4,0.3,0.5\n")
    (folder / "differences.csv").write_text("designer,reference,improves\ntrained,random,True\n")
    (folder / "figures").mkdir()
    (folder / "figures" / "boxplot.png").touch()
    (folder / "checkpoints").mkdir()
    return model


def copying() -> str:
    """Return the command by which the guide copies a run for the image."""
    guide = (ROOT / "deploy" / "README.md").read_text()
    (command,) = re.findall(r"^mkdir(?:.*\\\n)*.*$", guide, re.MULTILINE)
    return command


def test_the_image_gets_what_makes_a_model_answer_and_no_other_run(tmp_path: Path) -> None:
    leave_evaluated_run(tmp_path / "RUN")
    subprocess.run(["bash", "-ec", copying()], cwd=tmp_path, check=True)
    designer = tmp_path / "outputs" / "designer"
    assert newest_model(tmp_path / "outputs", RewardStack()).model == designer / "model"
    assert NewestRun(tmp_path / "outputs").name == "designer"
    *_, after = (ROOT / ".dockerignore").read_text().partition("outputs/*\n")
    names = sorted(each.name for each in designer.iterdir())
    admitted = [f"!outputs/designer/{name}" for name in names]
    assert after.split() == ["!outputs/designer", "outputs/designer/*", *admitted]


def test_a_space_is_the_commit_with_its_own_readme_the_model_and_its_training(
    tmp_path: Path,
) -> None:
    repository, tools = tmp_path / "repository", tmp_path / "bin"
    shutil.copytree(ROOT / "deploy", repository / "deploy")
    for name in ("Dockerfile", ".gitignore", "README.md"):
        shutil.copy(ROOT / name, repository)
    commit_all(repository)
    (repository / "uncommitted").touch()
    model = leave_evaluated_run(tmp_path / "run")
    tools.mkdir()
    (tools / "hf").write_text(  # stands for the hub's client: keeps what it is told to upload
        f'#!/bin/bash\necho "$@" >> {tmp_path}/said\n'
        f'[ $1 != upload ] || cp -r "$3" {tmp_path}/space\n'
    )
    (tools / "hf").chmod(0o755)
    push = [repository / "deploy" / "push", "me/daedalus", "run/model"]
    told = {"PATH": f"{tools}:{os.environ['PATH']}"}
    subprocess.run(push, cwd=tmp_path, env=os.environ | told, check=True)
    space = tmp_path / "space"
    assert (space / "README.md").read_text() == (ROOT / "deploy" / "README.md").read_text()
    designer = space / "outputs" / "designer"
    assert newest_model(space / "outputs", RewardStack()).model == designer / "model"
    kept = {each.name for each in model.parent.iterdir()} - {"checkpoints"}
    assert {each.name for each in designer.iterdir()} == kept
    assert (designer / "figures" / "boxplot.png").exists()
    on_the_page = NewestRun(space / "outputs")
    assert on_the_page.history() and on_the_page.scores()[0].designer == "trained"
    assert (space / "Dockerfile").exists()
    assert not (space / ".gitignore").exists() and not (space / "uncommitted").exists()
    created, uploaded = (tmp_path / "said").read_text().splitlines()
    assert created.startswith("repos create me/daedalus --repo-type space --space-sdk docker")
    assert uploaded.startswith("upload me/daedalus ") and "--repo-type space" in uploaded
    refused = subprocess.run(push[:1], capture_output=True, text=True)
    assert refused.returncode != 0 and "OWNER/NAME" in refused.stderr


def job(repository: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``deploy/job`` in an environment that has nothing but the usual programs."""
    return subprocess.run(
        [repository / "deploy" / "job", *arguments],
        env={"PATH": "/usr/bin:/bin"} | environment, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Leave a repository with a commit of the scripts and of two experiments."""
    repository = tmp_path / "it's a checkout"
    shutil.copytree(ROOT / "deploy", repository / "deploy")
    (repository / "conf" / "experiment").mkdir(parents=True)
    for name in ("grpo_published", "smoke"):
        (repository / "conf" / "experiment" / f"{name}.yaml").write_text("task: grpo\n")
    commit_all(repository)
    return repository


def test_a_dry_run_of_a_job_prints_the_command_and_no_secret(checkout: Path) -> None:
    secrets = {"HF_TOKEN": "hf_secret_value", "WANDB_API_KEY": "wandb_secret_value"}
    for environment in ({}, secrets):
        answer = job(checkout, "--dry-run", "OWNER/NAME", **environment)
        assert answer.returncode == 0 and not answer.stderr
        words = shlex.split(answer.stdout)
        assert words[:3] == ["hf", "jobs", "run"] and "secret_value" not in answer.stdout
        options = list(itertools.pairwise(words))
        assert {("--flavor", "l4x1"), ("--timeout", "6h"), ("python:3.11", "bash")} < {*options}
        named = [value for option, value in options if option == "--secrets"]
        assert named == ["HF_TOKEN", *(["WANDB_API_KEY"] if environment else [])]
        assert "'.[gpu]'" in words[-1] and "+experiment=grpo_published" in words[-1]


def test_the_hub_s_client_takes_the_command(checkout: Path) -> None:
    chosen = {"FLAVOR": "a10g-small", "TIMEOUT": "90m"}
    answer = job(checkout, "--dry-run", "OWNER/NAME", "smoke", "seed=1", **chosen)
    _, *words = shlex.split(answer.stdout)
    client = [Path(sys.executable).with_name("hf"), *words[:2], "--dry-run", *words[2:]]
    offline = os.environ | {"HF_HUB_OFFLINE": "1", "HF_TOKEN": "hf_secret_value"}
    resolved = subprocess.run(client, env=offline, capture_output=True, text=True, check=True)
    assert "(dry run) Job not submitted" in resolved.stdout
    shown = dict(re.findall(r"^  (\w+) +(.+)$", resolved.stdout, re.MULTILINE))
    assert (shown["image"], shown["flavor"], shown["timeout"]) == (
        "python:3.11", "a10g-small", "90m",
    )  # fmt: skip
    assert shown["secrets"] == "HF_TOKEN=***"


def test_the_job_trains_and_then_publishes_the_last_commit(checkout: Path, tmp_path: Path) -> None:
    """The commands of the job run here, with programs that only say what they are asked."""
    tools, source, place = tmp_path / "bin", tmp_path / "source", tmp_path / "job"
    for folder in (tools, source, place):
        folder.mkdir()
    for name in ("pip", "python", "hf"):
        (tools / name).write_text(f'#!/bin/bash\necho {name} "$@" >> {tmp_path}/said\n')
        (tools / name).chmod(0o755)
    (tools / "hf").write_text(  # stands for the hub's client: keeps what it is told to mount
        f'#!/bin/bash\necho hf "$1" "$2" "$3" >> {tmp_path}/said\n'
        f'for word; do [[ $word != *:/source ]] || cp "${{word%:*}}"/* {source}; done\n'
        f'printf %s "${{@: -1}}" > {tmp_path}/inside\n'
    )
    path = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(tmp_path)}
    settings = ["smoke", "seed=1", "hydra.job.name=a b"]
    answer = job(checkout, "OWNER/NAME", *settings, HF_TOKEN="hf_secret_value", **path)
    assert answer.returncode == 0, answer.stderr
    inside = (tmp_path / "inside").read_text().replace("/source/", f"{source}/")
    subprocess.run(["bash", "-c", inside], cwd=place, env=path, check=True, capture_output=True)
    assert (place / "daedalus" / "conf" / "experiment" / "smoke.yaml").exists()
    commits = {
        subprocess.run(
            ["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout
        for folder in (checkout, place / "daedalus")
    }
    assert len(commits) == 1
    assert (tmp_path / "said").read_text().splitlines() == [
        "hf repos create OWNER/NAME",
        "hf jobs run --flavor",
        "pip install --quiet .[gpu]",
        "python run.py +experiment=smoke seed=1 hydra.job.name=a b hydra.run.dir=outputs/job",
        "python run.py +experiment=publish designer.checkpoint=outputs/job/model "
        "hub.repo=OWNER/NAME hub.update=true",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the repository as OWNER/NAME"),
        (["OWNER/NAME", "unheard_of"], "unheard_of: no experiment of the last commit"),
        (["--dryrun", "OWNER/NAME"], "--dryrun: unknown"),
        (["OWNER/NAME"], "set HF_TOKEN to a token that may write"),
    ],
)
def test_a_job_that_cannot_run_is_not_started(
    checkout: Path, arguments: list[str], message: str
) -> None:
    answer = job(checkout, *arguments)
    assert answer.returncode != 0 and message in answer.stderr and not answer.stdout
