"""What each task reads and needs. A task is a module of ``experiments/``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from daedalus.config.paths import ROOT

ALWAYS = ("task", "seed", "resume", "workers", "tracking")
"""Settings that any task may be given: they say how a run is launched and recorded."""

_ENV = "market population reward"
_GRPO = f"{_ENV} evaluation model training"
_SERVE = "market markets objectives population populations reward service"
_PORTFOLIO = "training.portfolio"


@dataclass(frozen=True)
class Task:
    """What a task does with a configuration.

    Attributes:
        reads: Keys that it reads, beside those in ``ALWAYS``, in one line. A key stands for all
            that is below it, and ``*`` for every key.
        ignores: Keys below them that it does not read, in one line.
        offers: Whether visitors choose populations and the market, instead of the run.
        both_markets: Whether it plays both markets, whichever is chosen.
        by_type: Whether it needs bidder types. Only the strategic market has them.
        shared: Whether several processes may train one run.
        designer: The kind of designer that it needs, by the name of its settings; empty for any.
        baselines: Names that ``evaluation.baselines`` must have.
        populations: Names that ``populations`` must have.
    """

    reads: str
    ignores: str = ""
    offers: bool = False
    both_markets: bool = False
    by_type: bool = False
    shared: bool = False
    designer: str = ""
    baselines: tuple[str, ...] = ()
    populations: tuple[str, ...] = ()

    @property
    def keys(self) -> list[str]:
        """Return the keys of ``reads``."""
        return self.reads.split()

    def may_read(self, key: str) -> bool:
        """Return whether the task reads a key, or something above or below it."""
        if any(holds(each, key) for each in self.ignores.split()):
            return False
        if "*" in self.keys:
            return True
        return any(holds(each, key) or holds(key, each) for each in [*ALWAYS, *self.keys])


def holds(parent: str, key: str) -> bool:
    """Return whether a key is another one or lies below it."""
    return key == parent or key.startswith(f"{parent}.")


TASKS = {
    "ask": Task(f"{_ENV} designer evaluation", designer="language_model", baselines=("best_own",)),
    "behaviour": Task(f"{_ENV} designer evaluation.episodes {_PORTFOLIO}", by_type=True),
    "bench": Task("market population model", both_markets=True),
    "bench_service": Task(f"{_SERVE} load", offers=True, both_markets=True),
    "certificate": Task(f"{_ENV} designer evaluation.episodes", by_type=True),
    "compare": Task(f"{_ENV} designer evaluation"),
    "coverage": Task("coverage market reward evaluation.confidence", by_type=True),
    "exploitability": Task(f"{_ENV} designer evaluation adversary {_PORTFOLIO}", by_type=True),
    "from_bids": Task(
        "bids bid_log market reward designer evaluation.confidence evaluation.episodes trained",
        by_type=True,
        designer="search",
    ),
    "gpu_check": Task(_GRPO),
    "grpo": Task(_GRPO, shared=True),
    "grpo_numbers": Task(f"{_ENV} evaluation numbers updates"),
    "known_optimum": Task(f"{_ENV} designer evaluation populations", by_type=True),
    "leaderboard": Task(f"{_ENV} designer evaluation populations {_PORTFOLIO}"),
    "llm_bidders": Task(f"{_ENV} designer evaluation bidder trained", by_type=True),
    "neighbours": Task(f"{_ENV} designer evaluation.episodes"),
    "objectives": Task(
        "market population designer evaluation.baselines evaluation.episodes",
        designer="language_model",
        baselines=("search",),
    ),
    "oracle": Task("market reward designer evaluation.episodes populations", designer="search"),
    "populations": Task("market reward designer evaluation populations", designer="search"),
    "ppo": Task(f"{_ENV} evaluation ppo"),
    "pretrained": Task(
        f"{_ENV} designer evaluation.episodes populations", designer="language_model"
    ),
    "publish": Task("designer.checkpoint hub", designer="language_model"),
    "published_play": Task(
        f"{_ENV} designer evaluation populations",
        by_type=True,
        populations=(
            "optimum_uniform_3",
            "optimum_asymmetric",
            "optimum_exponential",
            "optimum_irregular",
        ),
    ),
    "replicate_published": Task(
        f"{_ENV} evaluation", baselines=("random_published", "informed_greedy")
    ),
    "search": Task(f"{_ENV} designer evaluation", designer="search"),
    "sensitivity": Task(
        f"{_ENV} designer evaluation.episodes populations", by_type=True, designer="search"
    ),
    "serve": Task(f"{_SERVE} bidder evaluation.baselines", offers=True, both_markets=True),
    "sft": Task(f"{_ENV} model training", ignores="training.grpo", shared=True),
    "signal_to_noise": Task(f"{_ENV} training.grpo.group_size"),
    "theory": Task("evaluation.episodes"),
    "tour": Task(
        "market populations evaluation",
        ignores="evaluation.baselines",
        populations=("stage1", "stage2", "weak_ring", "exploiter_heavy"),
    ),
    "tune": Task("tuning"),
    "understanding": Task(
        f"{_ENV} designer evaluation.baselines evaluation.episodes populations",
        baselines=("best_own", "sft"),
    ),
}
"""The tasks by name. ``tune`` also reads what the task of its trials reads."""

_MODULES = ROOT / "experiments"
_MAIN = re.compile(r"^def main\(", re.MULTILINE)


def is_task(name: str) -> bool:
    """Return whether a task is in the table, or is a module of ``experiments/`` with a main."""
    if name in TASKS:
        return True
    path = _MODULES / f"{name}.py"
    return name.isidentifier() and path.is_file() and _MAIN.search(path.read_text()) is not None


def task_of(name: str) -> Task:
    """Return what a task reads and needs. One that is not in the table reads every setting."""
    return TASKS.get(name, Task("*"))


def known_tasks() -> list[str]:
    """Return the names of all tasks: those of the table, and those that were added beside it."""
    modules = sorted({path.stem for path in _MODULES.glob("*.py")} - set(TASKS))
    return [*TASKS, *filter(is_task, modules)]
