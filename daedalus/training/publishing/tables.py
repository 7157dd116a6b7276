"""The tables of a model card, in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from daedalus.evaluation.basis import COLUMN, caution
from daedalus.evaluation.statistics import paired_differences
from daedalus.training.publishing.evidence import TRAINED, Evidence, records

FACTORS = ("welfare", "fairness", "participation", "stability")
"""Factors of R: columns of ``episodes.csv`` and ``summary.csv``. More is better in each."""

SIGNALS = {
    "reward_sampled": "reward of sampled answers, without neighbours",
    "reward": "reward",
    "reward_std": "standard deviation of the reward within groups",
    "frac_reward_zero_std": "share of groups without any spread",
    "entropy": "policy entropy, nats per token or choice",
    "grad_norm": "gradient norm",
    "completion_length": "completion length, tokens",
    "validity": "share of valid mechanisms",
}
"""Columns of ``training_history.csv`` that a card shows, and their titles."""

LIBRARIES = (
    "torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "unsloth", "numba",
)  # fmt: skip

_MARKS = re.compile(r"[\\`*{}\[\]<>()#|~$&!]|(?<!\w)_|_(?!\w)")
"""Signs that mean something in Markdown; an underscore between letters means nothing."""
_HIDDEN = ("save_every", "vllm_server", "data", "name")
_TENTHS = 10


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; "" if it has no rows."""
    lines = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(header) + " |", "|---" * len(header) + "|", *lines])


def plain(text: object) -> str:
    """Return a text for Markdown in which no sign has a meaning."""
    return _MARKS.sub(r"\\\g<0>", " ".join(str(text).split()))


def code(text: object) -> str:
    """Return a text as code in Markdown, also within a table."""
    line = " ".join(str(text).split()).replace("|", r"\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    room = " " if "`" in line else ""
    return f"{fence}{room}{line}{room}{fence}"


def number(value: object) -> str:
    """Return a value for a cell: three decimals or digits, a dash if it is missing."""
    if not isinstance(value, float):
        return plain(value)
    if np.isnan(value):
        return "-"
    return f"{value:.3f}" if value == 0 or 0.01 <= abs(value) < 1000 else f"{value:.3g}"


def interval(row: dict[str, Any], name: str) -> str:
    """Return a number with its interval, if it has one, and the word of one that may be short."""
    if np.isnan(row[f"{name}_low"]):
        return number(row[name])
    ends = f"{number(row[f'{name}_low'])}, {number(row[f'{name}_high'])}"
    return f"{number(row[name])} [{ends}] {caution(row.get(f'{name}{COLUMN}', ''))}".rstrip()


def scores(evidence: Evidence) -> str:
    """Return the score of each designer."""
    header = ["designer", f"mean {evidence.score}", "interquartile mean"]
    header += [*FACTORS, "valid"]
    return table(
        header,
        (
            [
                f"**{TRAINED}**" if row["designer"] == TRAINED else plain(row["designer"]),
                interval(row, "mean"),
                interval(row, "iqm"),
                *(number(row[name]) for name in FACTORS),
                f"{row['valid']:.1%}",
            ]
            for row in records(evidence.summary)
        ),
    )


def leads(evidence: Evidence) -> str:
    """Return the paired differences of the trained model to each baseline."""
    name = evidence.score
    lead = f"{name} of the model minus {name} of the baseline"
    header = ["baseline", lead, "probability of improvement"]
    return table(
        header,
        (
            [
                plain(row["reference"]),
                interval(row, "difference"),
                interval(row, "probability_of_improvement"),
            ]
            for row in evidence.leads
        ),
    )


def losses(evidence: Evidence) -> str:
    """Return where a baseline has a higher mean, with paired intervals; "" if nowhere."""
    rows = [*_lower_reward(evidence)]
    for measure in (*FACTORS, "valid"):
        rows += _lower(evidence, measure)
    return table(["measure", "baseline", "lead of the baseline", "interval above 0"], rows)


def _lower_reward(evidence: Evidence) -> Iterator[list[str]]:
    """Yield the rows of the reward, from the differences that the run itself computed."""
    for row in evidence.leads:
        if row["difference"] >= 0:
            continue
        lead = {
            "lead": -row["difference"],
            "lead_low": -row["difference_high"],
            "lead_high": -row["difference_low"],
            f"lead{COLUMN}": row.get(f"difference{COLUMN}", ""),
        }
        clear = "yes" if lead["lead_low"] > 0 else "no"
        yield [evidence.score, plain(row["reference"]), interval(lead, "lead"), clear]


def _lower(evidence: Evidence, measure: str) -> Iterator[list[str]]:
    """Yield the rows of another measure, over the episodes in which all have it."""
    values = evidence.episodes.pivot(index="episode", columns="designer", values=measure)
    played = values.dropna().index  # no market is played after a malformed proposal
    if len(played) < 2:
        return
    episodes = evidence.episodes[evidence.episodes["episode"].isin(played)]
    renamed = episodes.assign(reward=episodes[measure].astype(float))
    seed = int(evidence.config["seed"])
    for row in records(paired_differences(renamed, TRAINED, evidence.intervals, seed)):
        if row["difference"] > 0:
            clear = "yes" if row["improves"] else "no"
            yield [measure, plain(row["designer"]), interval(row, "difference"), clear]


def recipe(evidence: Evidence) -> str:
    """Return the settings of SFT, its teacher and corrections, and GRPO, by their names.

    The budget of a teacher whose data another run made is not that of this run, so it is left out.
    """
    training = evidence.config["training"]
    sft = training["sft"]
    teacher = sft["teacher"] or {}
    parts = {"sft": sft, "sft.teacher": {} if teacher.get("data") else teacher}
    if sft["corrections"]["rounds"]:
        parts["sft.corrections"] = sft["corrections"]
    rows = [
        (code(f"{part}.{name}"), number(value))
        for part, settings in (parts | {"grpo": training["grpo"]}).items()
        for name, value in settings.items()
        if not isinstance(value, dict | list) and value is not None and name not in _HIDDEN
    ]
    weights = evidence.config["reward"]["weights"].items()
    rows += [(code(f"reward.{name}"), number(value)) for name, value in weights]
    return table(["setting", "value"], rows)


def signals(evidence: Evidence) -> str:
    """Return means of the training signals over the first and the last tenth of the steps."""
    history = evidence.history
    count = max(1, len(history) // _TENTHS)
    parts = (history.head(count), history.tail(count))
    return table(
        ["signal", "first tenth", "last tenth"],
        (
            [title, *(number(float(part[name].mean())) for part in parts)]
            for name, title in SIGNALS.items()
            if name in history
        ),
    )


_CHANGED = {
    True: " with uncommitted changes",
    False: "",
    None: ", perhaps with uncommitted changes",
}


def machine(evidence: Evidence) -> str:
    """Return commit, hardware, versions and time of the last launch."""
    launch = evidence.launches[-1]
    changed = _CHANGED[launch["uncommitted_changes"]] if launch["commit"] else ""
    found = {name: launch["packages"].get(name) for name in LIBRARIES}
    versions = ", ".join(f"{name} {version}" for name, version in found.items() if version)
    gpus = ", ".join(launch["gpus"]) or "none" if "gpus" in launch else "not recorded"
    rows = [
        ("commit", f"{launch['commit'] or 'not recorded'}{changed}"),
        ("command", code(launch["command"])),
        ("seed", evidence.config["seed"]),
        ("GPU", plain(gpus)),
        ("CPU cores", launch.get("cores", "not recorded")),
        ("system", plain(launch["platform"])),
        ("Python", launch["python"]),
        ("libraries", versions),
        ("time of the whole run", _run_time(evidence)),
        ("time of GRPO's steps", _step_time(evidence)),
    ]
    return table(["", ""], rows)


def _run_time(evidence: Evidence) -> str:
    seconds = [launch.get("seconds") for launch in evidence.launches]
    known = sum(each for each in seconds if each is not None)
    if known == 0:
        return "not recorded"
    if None in seconds:
        return f"more than {_duration(known)}: {seconds.count(None)} launches were interrupted"
    return _duration(known)


def _step_time(evidence: Evidence) -> str:
    if "step_seconds" not in evidence.history:
        return "no steps"
    seconds = evidence.history["step_seconds"]
    return f"{_duration(float(seconds.sum()))}, {number(float(seconds.mean()))} s for each step"


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
