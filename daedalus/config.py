"""The typed configuration of a run: what ``conf/`` is checked against and composed into."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from daedalus.designers.endpoint import EndpointSettings
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.heuristic import HeuristicDesigner
from daedalus.designers.language_model import LanguageModelSettings
from daedalus.designers.planner import DistilledSettings, EvolutionSettings, PlannerSettings
from daedalus.designers.random import RandomDesigner
from daedalus.designers.search import SearchDesigner
from daedalus.evaluation.settings import AdversarySettings, EvaluationSettings
from daedalus.market.interface import MarketSettings, check_playable
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import Population
from daedalus.rewards.stack import RewardStack
from daedalus.service.load_settings import LoadSettings
from daedalus.service.settings import ServiceSettings
from daedalus.tracking import TrackingSettings
from daedalus.training.settings import ModelSettings, TrainingSettings

ROOT = Path(__file__).parents[1]
CONF = ROOT / "conf"
PARTS = {"build", "inference"}
"""Modules of ``experiments/`` that are no task of their own."""
TASKS = sorted({path.stem for path in (ROOT / "experiments").glob("[a-z]*.py")} - PARTS)
"""Modules of ``experiments/`` that a configuration can name."""

DESIGNERS = {
    "random": RandomDesigner,
    "fixed": FixedDesigner,
    "heuristic": HeuristicDesigner,
    "search": SearchDesigner,
    "planner": PlannerSettings,
    "distilled": DistilledSettings,
    "evolution": EvolutionSettings,
    "language_model": LanguageModelSettings,
    "endpoint": EndpointSettings,
}
"""Settings class by the name under which files in ``conf/designer/`` ask for it."""


@dataclass
class Config:
    """One run.

    Attributes:
        task: Module of ``experiments/`` that runs it.
        seed: The seed of everything, from 0 up.
        resume: Go on with the newest unfinished run of this experiment.
        population: Who bids.
        populations: Who bids in experiments that compare several populations, by name.
        market: Which rules are played, and the shape of an episode.
        mechanism: The rules of the ``fixed`` designer.
        reward: What training maximises.
        designer: The designer under study.
        model: The language model that is trained.
        training: SFT, GRPO and the prompt.
        evaluation: Episodes, intervals and the baselines that every designer is compared with.
        adversary: Whom an adversary may send, and how long it searches.
        tracking: Where numbers go.
        service: Where the market is served, and to whom.
        load: How hard a service is driven to measure it.
    """

    task: str = MISSING
    seed: int = 0
    resume: bool = False
    population: Population = field(default_factory=Population)
    populations: dict[str, Population] = field(default_factory=dict)
    market: MarketSettings = field(default_factory=MarketSettings)
    mechanism: Mechanism = field(default_factory=Mechanism)
    reward: RewardStack = field(default_factory=RewardStack)
    designer: Any = MISSING
    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    adversary: AdversarySettings = field(default_factory=AdversarySettings)
    tracking: TrackingSettings = field(default_factory=TrackingSettings)
    service: ServiceSettings = field(default_factory=ServiceSettings)
    load: LoadSettings = field(default_factory=LoadSettings)

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed: {self.seed}; give an integer from 0 up")
        if self.task not in TASKS:
            raise ValueError(f"task: {self.task!r}; choose one of {', '.join(TASKS)}")
        if self.training.grpo.horizon > self.market.episode_length:
            raise ValueError(
                f"training.grpo.horizon: {self.training.grpo.horizon}; "
                f"an episode has {self.market.episode_length} steps"
            )
        if self.training.curriculum.stages and self.reward.weights != {"composite": 1.0}:
            raise ValueError("training.curriculum: its thresholds are of R; use reward=composite")
        check_playable(self.market.rules, self.population)


class ConfigError(ValueError):
    """A configuration that cannot be run; the message says what to write instead."""


def register() -> None:
    """Tell Hydra about the schemas and resolvers; call before composing."""
    store = ConfigStore.instance()
    store.store(name="schema", node=Config)
    for name, settings in DESIGNERS.items():
        store.store(group="designer", name=f"{name}_schema", node=settings)
    OmegaConf.register_new_resolver("run_directory", run_directory, replace=True)
    OmegaConf.register_new_resolver("run_of_seed", run_of_seed, replace=True)


FINISHED = "finished"
"""Name of the empty file that marks a run directory as complete."""


def run_directory(fresh: str, resume: bool) -> str:
    """Return ``fresh``, or if asked to resume, the newest sibling of it that is unfinished."""
    started = {path.parent for path in Path(fresh).parent.glob("*/config.yaml")}
    started |= {path.parent for path in Path(fresh).parent.glob("*/multirun.yaml")}
    unfinished = sorted(each for each in started if not (each / FINISHED).exists())
    return str(unfinished[-1]) if resume and unfinished else fresh


def run_of_seed(folder: str, *, _root_: DictConfig) -> str:
    """Return the run in ``folder`` that had the seed of the configuration being composed.

    So a sweep over seeds takes each seed's own model: ``${run_of_seed:FOLDER}/model``.

    Raises:
        ConfigError: No run in the folder had that seed, or several.
    """
    seeds = {path.parent: OmegaConf.load(path).seed for path in Path(folder).glob("*/config.yaml")}
    runs = [str(run) for run, seed in seeds.items() if seed == _root_.seed]
    if len(runs) != 1:
        raise ConfigError(
            f"{folder}: {len(runs)} runs of seed {_root_.seed}, of seeds {sorted(seeds.values())}; "
            "name the folder of a sweep that trained each seed once"
        )
    return runs[0]


def to_config(composed: DictConfig) -> Config:
    """Check a composed configuration and return it as objects.

    Raises:
        ConfigError: A value is of the wrong type, out of range or missing.
    """
    missing = OmegaConf.missing_keys(composed)
    if missing:
        raise ConfigError(f"{', '.join(sorted(missing))}: not set; choose +experiment=NAME")
    try:
        config = OmegaConf.to_object(composed)
    except (ValueError, OmegaConfBaseException) as error:
        raise ConfigError(str(error)) from error
    assert isinstance(config, Config)
    return config


def compose_config(*overrides: str) -> Config:
    """Compose and check a configuration from overrides, as the command line of ``run.py`` does.

    Raises:
        ConfigError: It cannot be run; the message says what to write instead.
    """
    register()
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return to_config(compose("config", overrides=list(overrides)))
    except (HydraException, OmegaConfBaseException, ConfigError) as error:
        raise ConfigError(explain(error)) from error


_BAD_ADVICE = "To append to your config use"  # a misspelt key is not mended by a plus sign


def explain(error: HydraException | OmegaConfBaseException | ConfigError) -> str:
    """Return one message for a configuration that failed, with the nearest name that exists."""
    causes = list(_causes(error))
    lines = [line for each in causes for line in str(each).splitlines() if line.strip()]
    message = "\n".join(line for line in dict.fromkeys(lines) if not line.startswith(_BAD_ADVICE))
    wrong, known = _unknown_name(message, causes)
    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5) if wrong else []
    if close:
        message += f"\nDid you mean {close[0]}?"
    elif known:
        message += f"\nKnown here: {', '.join(known)}."
    return message


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _unknown_name(message: str, causes: list[BaseException]) -> tuple[str, list[str]]:
    """Return the name that does not exist, and those that do in its place."""
    option = re.search(r"[Cc]ould not find '([^']+)'", message)
    if option:
        group, _, wrong = option[1].rpartition("/")
        return wrong, sorted(path.stem for path in (CONF / group).glob("*.yaml"))
    key = re.search(r"Key '([^']+)' (?:is )?not in", message)
    for cause in causes:
        parent = getattr(cause, "parent_node", None)
        if key and isinstance(parent, DictConfig):
            return key[1], sorted(map(str, parent))
    return "", []


def help_text(conf: Path) -> str:
    """Return what ``run.py --help`` prints: every experiment with its question."""
    experiments = sorted((conf / "experiment").glob("*.yaml"))
    width = max(len(path.stem) for path in experiments)
    lines = [f"  {path.stem:<{width}}  {_question(path)}" for path in experiments]
    groups = []
    for folder in sorted(conf.iterdir()):
        if folder.is_dir() and folder.name not in ("experiment", "hydra"):
            options = ", ".join(sorted(path.stem for path in folder.glob("*.yaml")))
            groups.append(f"  {folder.name:<{width}}  {options}")
    return HELP.format(experiments="\n".join(lines), groups="\n".join(groups))


def _question(path: Path) -> str:
    """Return the first sentence of a file's header comment."""
    for line in path.read_text().splitlines():
        if line.startswith("#") and "@package" not in line:
            return line.lstrip("# ")
    return ""


HELP = """Daedalus: language models learn to design markets.

  python run.py +experiment=NAME [group=option ...] [key=value ...]

experiments
{experiments}

groups (group=option)
{groups}

examples
  python run.py +experiment=grpo_stage3                      train a designer and compare it
  python run.py +experiment=grpo_stage3 resume=true          go on with an interrupted run
  python run.py +experiment=boxplot designer=language_model designer.checkpoint=RUN/model
  python run.py -m +experiment=baselines population=stage1,stage2 seed=0,1,2
  python run.py +experiment=grpo_stage3 --cfg job            print the configuration and stop

Results go to outputs/NAME/DATE_TIME/, those of a sweep to outputs/sweeps/NAME/DATE_TIME/.
"""
