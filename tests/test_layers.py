"""Imports point only downward: the layer table of the architecture, read from every file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Container, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SIMULATION = {"daedalus.market", "daedalus.rewards", "daedalus.env", "numpy"}
DESIGN = SIMULATION | {"daedalus.checks", "daedalus.search", "daedalus.designers"}
FIGURES = {"scipy", "sklearn", "pandas", "matplotlib", "seaborn", "tqdm", "rich"}
MODEL = {"torch", "transformers", "tokenizers", "trl", "peft", "accelerate", "datasets"}
MODEL |= {"bitsandbytes", "unsloth", "safetensors", "huggingface_hub", "llguidance", "jinja2"}
WRITING = {
    "daedalus.console",
    "daedalus.files",
    "daedalus.phases",
    "daedalus.run_folder",
    "daedalus.tracking",
}
CONFIGURATION = {"hydra", "omegaconf"}

EPISODES = DESIGN | {"openenv", "pydantic"}
MESSAGES = {
    "daedalus.market",
    "daedalus.service.openenv.messages",
    "daedalus.service.openenv.ranges",
    "pydantic",
}

LAYERS: dict[str, set[str]] = {
    "daedalus.market": {"numpy", "numba"},
    "daedalus.rewards": {"daedalus.market", "numpy"},
    "daedalus.env": {"daedalus.market", "daedalus.rewards", "numpy"},
    "daedalus.search": SIMULATION
    | {"daedalus.checks", "daedalus.files", "daedalus.phases", "daedalus.workers"}
    | {"scipy", "sklearn", "tqdm", "rich"},
    "daedalus.designers": DESIGN,
    "daedalus.designers.chat_client": DESIGN | {"openai", "tqdm"},
    "daedalus.checks": set(),
    "daedalus.files": {"pandas"},
    "daedalus.console": {"rich"},
    "daedalus.endings": {"daedalus.checks", "tqdm"},
    "daedalus.phases": {"daedalus.files"},
    "daedalus.processes": {"daedalus.checks", "accelerate"},
    "daedalus.workers": {"daedalus.phases", "joblib"},
    "daedalus.run_folder": set(),
    "daedalus.tracking": {
        "daedalus.files",
        "daedalus.processes",
        "daedalus.run_folder",
        "numpy",
        "pandas",
        "wandb",
    },
    "daedalus.evaluation": DESIGN | FIGURES | WRITING,
    "daedalus.service.openenv": EPISODES,
    "daedalus.service.openenv.client": {"daedalus.service.openenv.messages", "openenv"},
    "daedalus.service.openenv.messages": MESSAGES | {"openenv"},
    "daedalus.service.openenv.ranges": {"pydantic", "pydantic_core"},
    "daedalus.service.openenv.__init__": set(),  # the client cannot be imported without it
    "daedalus.service.sessions": DESIGN | {"daedalus.service.openenv"},
    "daedalus.service.sessions.messages": MESSAGES,
    "daedalus.service.page": SIMULATION
    | {"daedalus.run_folder", "markdown_it"}
    | {"daedalus.service.openenv", "daedalus.service.sessions.messages"},
    "daedalus.service.page.messages": MESSAGES,
    "daedalus.service.http": DESIGN
    | {"daedalus.service.openenv", "daedalus.service.sessions", "daedalus.service.page"}
    | {"daedalus.service.settings", "openenv", "pydantic"}
    | {"fastapi", "starlette", "uvicorn", "websockets"},
    "daedalus.service.http.json_text": {"pydantic_core"},
    "daedalus.service.settings": {"daedalus.checks"},
    "daedalus.service.load_settings": {"daedalus.checks"},
    "daedalus.service.__init__": set(),  # settings and client cannot be imported without it
    "daedalus.publishing": WRITING
    | {"daedalus.checks", "daedalus.evaluation", "daedalus.training", "pandas", "omegaconf"}
    | {"daedalus.designers", "numpy", "huggingface_hub", "httpx"},
    "daedalus.publishing.settings": set(),
    "daedalus.publishing.__init__": set(),  # settings cannot be imported without it
    "daedalus.training": DESIGN
    | FIGURES
    | WRITING
    | MODEL
    | {"daedalus.evaluation", "daedalus.processes"},
    "daedalus.training.settings": DESIGN,
    "daedalus.training.__init__": set(),  # settings cannot be imported without it
    "daedalus.tuning": WRITING
    | {"daedalus.checks", "daedalus.config", "daedalus.evaluation", "daedalus.market"}
    | {"numpy", "pandas", "matplotlib", "optuna", "omegaconf"},
    "daedalus.tuning.settings": {"daedalus.checks"},
    "daedalus.tuning.__init__": set(),  # settings cannot be imported without it
    "daedalus.sweeps": {
        "daedalus.config",
        "daedalus.files",
        "daedalus.run_folder",
        "daedalus.evaluation",
        "daedalus.market",
        "numpy",
    }
    | {"pandas", "omegaconf"},
    "daedalus.config": CONFIGURATION
    | DESIGN
    | {
        "daedalus.files",
        "daedalus.processes",
        "daedalus.run_folder",
        "daedalus.tracking",
        "daedalus.evaluation.settings",
        "daedalus.training.settings",
        "daedalus.tuning.settings",
        "daedalus.publishing.settings",
        "daedalus.service.settings",
        "daedalus.service.load_settings",
    },
    "daedalus.provenance": {
        "daedalus.checks",
        "daedalus.config",
        "daedalus.files",
        "daedalus.processes",
        "daedalus.workers",
        "daedalus.run_folder",
        "daedalus.sweeps",
        "omegaconf",
    },
    "daedalus.__init__": set(),
    "experiments": {"daedalus", "numpy", "pandas", "rich"},
    "experiments.load": {"daedalus", "numpy", "matplotlib", "seaborn", "fastapi", "websockets"},
    "experiments.bench": {"daedalus", "experiments", "numpy", "pandas", "rich", "numba"},
    "inference": {"daedalus.config", "daedalus.endings", "daedalus.run_folder", "experiments"},
    "run": CONFIGURATION
    | {"daedalus.checks", "daedalus.config", "daedalus.provenance", "daedalus.run_folder"}
    | {"daedalus.endings"}
    | {"daedalus.phases", "daedalus.processes", "daedalus.workers", "experiments"},
}
"""What each layer may import beside itself and the standard library; the longest name counts."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def source_files() -> list[Path]:
    folders = (ROOT / "daedalus", ROOT / "experiments")
    return [
        *sorted(ROOT.glob("*.py")),
        *sorted(path for folder in folders for path in folder.rglob("*.py")),
    ]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def imports(source: str, module: str) -> Iterator[str]:
    """Yield the full dotted name of everything imported anywhere in the source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if called in ("import_module", "__import__"):
                yield literal_start(node.args[0])


def literal_start(argument: ast.expr) -> str:
    """Return a module name given as text, or what an f-string of it starts with."""
    if isinstance(argument, ast.JoinedStr) and argument.values:
        argument = argument.values[0]
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value.rstrip(".")
    return "<a name made at run time>"


def violations(source: str, module: str) -> list[str]:
    """Return the imports of a module that its layer does not allow."""
    layers = [layer for layer in LAYERS if within(module, layer)]
    if not layers:
        return [f"{module} is in no layer: give it a row in LAYERS and in the architecture"]
    layer = max(layers, key=len)
    return [
        f"{module} imports {name}"
        for name in imports(source, module)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not any(within(name, package) for package in {layer, *LAYERS[layer]})
    ]


def import_graph() -> dict[str, set[str]]:
    """Return which modules of the project each of its modules imports."""
    files = {module_of(path).removesuffix(".__init__"): path for path in source_files()}
    return {
        module: {
            known
            for name in imports(path.read_text(), module_of(path))
            if (known := longest_known(name, files)) and known != module
        }
        for module, path in files.items()
    }


def longest_known(name: str, modules: Container[str]) -> str | None:
    """Return the module that an imported name lies in, or None outside the project."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    reached = {module: reachable(module, graph) for module in graph}
    groups = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in graph
    }
    return [list(group) for group in sorted(groups) if group]


def reachable(module: str, graph: dict[str, set[str]]) -> set[str]:
    """Return all modules that a module imports, directly or through others."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        new = graph.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def test_no_module_imports_itself_through_others():
    graph = import_graph()
    assert len(graph) > 100
    assert sum(map(len, graph.values())) > 300
    assert not cycles(graph)


def test_no_package_imports_itself_through_others():
    rooms = {module: ".".join(module.split(".")[:2]) for module in import_graph()}
    between: dict[str, set[str]] = {}
    for module, imported in import_graph().items():
        others = {rooms[each] for each in imported} - {rooms[module], "daedalus"}
        between.setdefault(rooms[module], set()).update(others)
    settings = {"daedalus.config"}  # it reads the settings of all packages
    assert not cycles({room: names - settings for room, names in between.items()})


def test_a_cycle_is_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert cycles(graph) == [["a", "b", "c"]]


def test_every_import_points_downward():
    wrong = [v for path in source_files() for v in violations(path.read_text(), module_of(path))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", ["daedalus", "experiments"])
def test_the_check_reads_files(folder):
    modules = [module_of(path) for path in source_files()]
    assert sum(within(module, folder) for module in modules) > {"daedalus": 25}.get(folder, 0)


@pytest.mark.parametrize(
    "layer", ["market", "rewards", "search", "designers", "evaluation", "training"]
)
def test_the_check_reads_imports_of_every_layer(layer):
    folder = ROOT / "daedalus" / layer
    found = [n for path in folder.rglob("*.py") for n in imports(path.read_text(), "")]
    assert len(found) > 5


def test_torch_is_imported_only_in_training():
    users = {
        module_of(path)
        for path in source_files()
        if any(within(name, "torch") for name in imports(path.read_text(), module_of(path)))
    }
    assert users
    assert all(within(user, "daedalus.training") for user in users)
    assert not any(user.endswith((".settings", ".__init__")) for user in users)


def test_hydra_is_imported_only_by_run_and_config():
    users = {
        module_of(path)
        for path in source_files()
        if any(within(name, "hydra") for name in imports(path.read_text(), module_of(path)))
    }
    assert users == {"run"} | {
        f"daedalus.config.{name}"
        for name in ("changes", "compose", "jobs", "launching", "mistakes", "origin")
    }


FORBIDDEN = [
    ("daedalus.market.classic", "def f():\n    import torch"),
    ("daedalus.market.classic", "def f():\n    def g():\n        from torch import nn"),
    ("daedalus.market.classic", "class A:\n    import daedalus.env as market"),
    ("daedalus.market.classic", "import numpy, pandas"),
    ("daedalus.market.classic", "from daedalus import rewards"),
    ("daedalus.market.classic", "from .. import env"),
    ("daedalus.market.classic", "from ..rewards.stack import RewardStack"),
    ("daedalus.market.classic", "import daedalus.marketing"),
    ("daedalus.market.classic", "if TYPE_CHECKING:\n    from daedalus.env import DesignEnv"),
    ("daedalus.market.classic", "try:\n    import scipy\nexcept ImportError:\n    pass"),
    ("daedalus.market.classic", "from importlib import import_module\nimport_module('torch')"),
    ("daedalus.market.classic", "import importlib\nimportlib.import_module(name)"),
    ("daedalus.market.classic", "__import__('daedalus.env')"),
    ("daedalus.rewards.terms", "from daedalus.designers.base import Designer"),
    ("daedalus.search.sweep", "from daedalus.designers.base import DesignerSettings"),
    ("daedalus.search.sweep", "from daedalus.evaluation import episodes"),
    ("daedalus.designers.language_model", "def f():\n    import torch"),
    ("daedalus.designers.endpoint", "import openai"),
    ("daedalus.designers.chat_client", "from daedalus.training.model import LanguageModel"),
    ("daedalus.designers.search", "from daedalus.evaluation import episodes"),
    ("daedalus.env", "from daedalus.evaluation import episodes"),
    ("daedalus.evaluation.episodes", "from daedalus.training.settings import SftSettings"),
    ("daedalus.evaluation.episodes", "import omegaconf"),
    ("daedalus.training.grpo", "import hydra"),
    ("daedalus.training.grpo", "from daedalus.service.sessions.store import SessionStore"),
    ("daedalus.training.settings", "import torch"),
    ("daedalus.training.settings", "from daedalus.training.model import LanguageModel"),
    ("daedalus.training.__init__", "from daedalus.training.grpo import train"),
    ("daedalus.config", "from daedalus.training.grpo import train"),
    ("daedalus.config", "import torch"),
    ("experiments.grpo", "def main(cfg, out):\n    from omegaconf import OmegaConf"),
    ("experiments.grpo", "import torch"),
    ("experiments.bench", "import hydra"),
    ("run", "import torch"),
    ("inference", "import hydra"),
    ("daedalus.service.openenv.client", "from daedalus.service.openenv import environment"),
    ("daedalus.service.openenv.catalogue", "from daedalus.service.sessions import store"),
    ("daedalus.service.sessions.store", "from daedalus.service.page import tour"),
    ("daedalus.service.sessions.store", "import fastapi"),
    ("daedalus.service.page.offer", "from daedalus.service.http import app"),
    ("daedalus.service.openenv.messages", "from daedalus.env import DesignEnv"),
    ("daedalus.service.sessions.background_designer", "import torch"),
    ("daedalus.config", "from daedalus.service.http.app import create_app"),
    ("daedalus.unheard_of", ""),
]


@pytest.mark.parametrize(("module", "source"), FORBIDDEN)
def test_the_check_catches(module, source):
    assert violations(source, module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("daedalus.market.classic", "import math\nimport numpy as np\nfrom numba import njit"),
        ("daedalus.market.classic", "from . import draws\nfrom daedalus.market import outcome"),
        ("daedalus.rewards.terms", "from ..market.outcome import Outcome"),
        ("daedalus.training.grpo", "def f():\n    import torch\n    from trl import GRPOTrainer"),
        ("daedalus.config", "from daedalus.training.settings import GrpoSettings"),
        ("run", "from importlib import import_module\nimport_module(f'experiments.{task}')"),
    ],
)
def test_the_check_allows(module, source):
    assert not violations(source, module)
