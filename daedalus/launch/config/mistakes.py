"""One helpful message for a configuration that cannot be composed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from traceback import walk_tb

from hydra.errors import HydraException, OverrideParseException
from omegaconf import Container, DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from daedalus.checks import CannotRunError
from daedalus.launch.config.paths import groups, option_names
from daedalus.launch.config.task_options import why_no_task
from daedalus.launch.config.wrong_types import wrong_type
from daedalus.runs.earlier import gone
from daedalus.runs.endings import program

_ALIKE = 0.6
"""Least similarity of a name to the one that it may stand for: patient is not arena."""
ADVICE = "write `# @package _global_` into its first line, before any other comment"
"""What an experiment's file misses if it changes a group instead of the run."""
_NAMED = 4
"""Most places of a name that a message names."""
_FOLDERS = ("", "conf", "outputs/*/*", "outputs/sweeps/*/*/*")
"""Where users keep folders of options, from the working directory."""


class ConfigError(CannotRunError):
    """A configuration that cannot be run. The message says what to write instead."""


_NO_EXPERIMENT = "'hydra.runtime.choices.experiment' not found"  # names the run's folder
_NO_OPTION = "Config group override must be"
_NO_BIDDER = "Could not override 'bidder."
_COMPOSER = "hydra._internal.config_loader_impl"
_SENTENCES = {
    r"Ambiguous value for argument '(([^=]+)=(.+))'": (
        r"\1: add -m to run a job for each value, or write \2=[\3] for a list"
    ),
    r"An item is already at '.+'.\s+Either remove \+ prefix: '(.+)'": (
        r"+\1: the setting exists; leave the + out"
    ),
    r"Multiple values for (\S+)\. To override": (
        r"+\1=NAME: one is chosen already; leave the + out"
    ),
    r"In '[^']+': Could not override '([^']+)'\. No match in the defaults list": (
        r"\1: no task that reads it is chosen; leave it out, or choose one by "
        r"`- override /task: NAME`"
    ),
    r"Could not override '([^']+)'\. No match in the defaults list.\s+To append .* use (\S+)": (
        r"\1: none is chosen; write \2"
    ),
    r"Could not override '(allowed[^']*)'": r"\1: it is not restricted yet; write +\1",
    r"Could not delete from config. '(.+?)' does not exist": r"~\1: no such setting",
    r"Could not delete '(.+?)'. No match in the defaults list": r"~\1: no such choice",
}
"""What Hydra says of overrides, and one sentence instead."""
_PLACE = ("full_key:", "object_type=", "reference_type=")
_LEFT_OUT = ("To append to your config use", "Config search path:", "\tprovider=", "See https://")
"""Beginnings of lines of Hydra: advice that is wrong for a misspelt key, and folders."""


def explain(error: Exception) -> str:
    """Return one message for a failed configuration, with the nearest existing name."""
    causes = list(_causes(error))
    own = next((each for each in causes if isinstance(each, ConfigError)), None)
    if own is not None:  # also within what OmegaConf makes of it while it resolves a reference
        return str(own)
    lines = [line for each in causes for line in str(each).splitlines() if line.strip()]
    message = "\n".join(line for line in dict.fromkeys(lines) if not line.startswith(_LEFT_OUT))
    if _NO_EXPERIMENT in message:
        return nothing_to_run()
    if _NO_BIDDER in message and "object_type=dict" in message:
        return "bidder: none here; first choose one by bidder=endpoint, local or recorded"
    if _NO_OPTION in message:
        return "a group takes the name of one of its files, as in population=stage3, and no more"
    headless = _without_package(message)
    if headless:
        return headless
    found = (
        _gone(message)
        or _unreadable(causes)
        or wrong_type(causes)
        or _rephrased("\n".join(map(str, causes)))
        or _no_such_option(message)
        or _no_such_setting(message, causes)
    )
    return found + _where(message) if found else _once(lines)


def nothing_to_run() -> str:
    """Return the sentence for a command that chooses no experiment."""
    return f"nothing to run: choose +experiment=NAME; {program()} --help lists the names"


def _unreadable(causes: Sequence[BaseException]) -> str | None:
    """Return the sentence for an override or a file that breaks the rules of its grammar."""
    for cause in causes:
        if isinstance(cause, OverrideParseException):
            if not cause.override:
                return "an empty word, as of a variable that is not set: leave it out"
            if "missing EQUAL" in str(cause):
                return f"{cause.override}: no setting; write KEY=VALUE"
            key = cause.override.partition("=")[0]
            return (
                f"{cause.override}: it cannot be read; put a value with special signs into two "
                f"pairs of quotes, as in '{key}=\"VALUE\"'"
            )
        mark, problem = (getattr(cause, name, None) for name in ("problem_mark", "problem"))
        if mark is not None:
            return f"{mark.name}, line {mark.line + 1}: it is no YAML ({problem})"
    return None


def _rephrased(message: str) -> str | None:
    for pattern, sentence in _SENTENCES.items():
        found = re.search(pattern, message)
        if found:
            return found.expand(sentence)
    return None


def _no_such_option(message: str) -> str | None:
    """Return the sentence for an option that does not exist."""
    option = _missing_option(message)
    if option is None:
        return None
    place = re.search(r"Available options in '([^']+)'", message)
    group = place[1] if place else option.rpartition("/")[0]
    wrong = option.removeprefix(f"{group}/")
    options = re.findall(r"^\t(\S+)$", message, re.MULTILINE)
    known = [name for name in options if not name.endswith("_schema")]
    hint = _elsewhere(group, wrong) or advice(wrong, known)
    if nearest(wrong, known) is None and hint.startswith("Known") and group != "task":
        hint += f" Your own lie in FOLDER/{group}/, and --config-dir FOLDER adds them."
    return f"{group}: no option {wrong}. {hint}"


def _no_such_setting(message: str, causes: Sequence[BaseException]) -> str | None:
    """Return the sentence for a key that does not exist, with its hint."""
    asked = re.search(r"Could not override '([^']+)'", message)
    for cause in causes:
        if isinstance(cause, ConfigKeyError | ConfigAttributeError) and cause.full_key:
            node = cause.parent_node
            key = asked[1] if asked else str(cause.full_key)
            place = str(cause.full_key).rpartition(".")[0]
            known = _names(node, cause.object_type)
            full = _everywhere(node) if isinstance(node, Container) else []
            hint = nearest_key(key, str(cause.key), known, place, full)
            return f"{key}: no such setting. {hint}"
    return None


def _names(node: object, owner: object) -> list[str]:
    """Return the names that exist beside a key that does not."""
    if isinstance(owner, type) and is_dataclass(owner):
        return [each.name for each in fields(owner)]
    return sorted(map(str, node)) if isinstance(node, DictConfig) else []


def _everywhere(node: Container) -> list[str]:
    """Return the full keys of the whole configuration, but Hydra's."""
    root = node._get_root()
    plain = OmegaConf.to_container(root, resolve=False)
    return [key for key in _keys(plain, "") if not key.startswith("hydra.")]


def _keys(plain: object, above: str) -> Iterator[str]:
    if isinstance(plain, dict):
        for name, each in plain.items():
            yield f"{above}{name}"
            yield from _keys(each, f"{above}{name}.")


def nearest_key(key: str, wrong: str, known: Sequence[str], place: str, full: list[str]) -> str:
    """Return the hint for a key that does not exist.

    Args:
        key: The key as it was written, such as ``trainig.grpo.steps``.
        wrong: Its first name that does not exist.
        known: The names that exist in its place.
        place: Full key of what has these names; empty for the whole configuration.
        full: All full keys, among which the name may be at another place.
    """
    above = f"{place}." if place else ""
    near = nearest(wrong, known)
    if near:
        rest = key.removeprefix(f"{above}{wrong}")
        return f"Did you mean {above}{near}{rest if f'{above}{near}{rest}' in full else ''}?"
    ends = (f".{key}", f".{key.rpartition('.')[2]}")
    same = next(filter(None, ([each for each in full if each.endswith(end)] for end in ends)), [])
    same = sorted(same, key=lambda each: each.count("."))[:_NAMED]
    close = same or difflib.get_close_matches(key, full, n=1, cutoff=0.75)
    return f"Did you mean {' or '.join(close)}?" if close else f"Known here: {', '.join(known)}."


def _where(message: str) -> str:
    """Return the file that sets what is wrong, if the message names one."""
    file = re.search(r"In '([^']+)':", message)
    if file is None or file[1] == "config" or file[1].startswith("task/"):
        return ""
    return f" (in {file[1]}.yaml)"


def _once(lines: Sequence[str]) -> str:
    """Return an error of Hydra or OmegaConf, each line once, after the full key if it is known."""
    key = re.search(r"full_key: (\S+)", "\n".join(lines))
    said = [each.strip() for each in lines if not each.strip().startswith((*_PLACE, *_LEFT_OUT))]
    said = [each for each in said if "$VALUE" not in each and each != "None"]
    told = list(
        dict.fromkeys(
            each for each in said if not any(each in more and each != more for more in said)
        )
    )
    return (f"{key[1]}: " if key else "") + "\n".join(told)


def advice(wrong: str, known: Sequence[str], place: str = "") -> str:
    """Return the nearest name to one that does not exist, or all names.

    Args:
        wrong: The name that does not exist. Initials, such as ``lr``, are a name, too.
        known: The names that exist.
        place: What stands before each name.
    """
    near = nearest(wrong, known)
    return f"Did you mean {place}{near}?" if near else f"Known here: {', '.join(known)}."


def nearest(wrong: str, known: Sequence[str]) -> str | None:
    """Return the name that a misspelt one, or initials, may stand for; None if none is close."""
    initials = {"".join(word[:1] for word in name.split("_")): name for name in known}
    close = difflib.get_close_matches(wrong, known, n=1, cutoff=_ALIKE)
    return initials.get(wrong) or next(iter(close), None)


def is_of_composing(error: Exception) -> bool:
    """Return whether an error says that the configuration cannot be composed.

    While Hydra composes, files that are no configuration raise plain errors, too.
    """
    if isinstance(error, HydraException | OmegaConfBaseException | ConfigError):
        return True
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(frame.f_globals["__name__"] == _COMPOSER for frame in frames)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _missing_option(message: str) -> str | None:
    """Return GROUP/OPTION if the message says that this option does not exist."""
    option = re.search(r"[Cc]ould not find '([^']+)'", message)
    return option[1] if option else None


def _gone(message: str) -> str | None:
    """Return the sentence for a setting or an option that is gone."""
    place = r"full_key: (\S+)|[Cc]ould not (?:find|override) '([^']+)'"
    told = (gone(key or name) for key, name in re.findall(place, message))
    return next(filter(None, told), None)


def _elsewhere(group: str, name: str) -> str | None:
    """Return how to choose an option that its group does not have, but another place has."""
    if group == "task":
        return why_no_task(name)
    for pattern in _FOLDERS:
        for file in sorted(Path().glob(f"{pattern}/{group}/{name}.yaml".lstrip("/")), reverse=True):
            folder = file.parents[len(Path(group).parts)]
            return f"{file} has this name: add --config-dir {folder}"  # the newest run first
    if group != "experiment" and Path(f"{name}.yaml").is_file():
        return f"Move {name}.yaml into a folder {group}/, and add --config-dir ."
    others = [each for each in [*groups(), "experiment"] if name in option_names(each)]
    if others:
        plus = "+" if others == ["experiment"] else ""
        return f"Did you mean {plus}{' or '.join(f'{each}={name}' for each in others)}?"
    return None


def _without_package(message: str) -> str | None:
    """Return what an experiment's file misses, if it changes a group instead of the run.

    Args:
        message: Hydra's message; it names the file and the key that it cannot set.
    """
    outside = r"\n?Key 'experiment' not in|@experiment\b"
    told = re.search(rf"In '(experiment/[^']+)': .*(?:{outside})", message)
    if told is None:
        return None
    return f"{told[1]}.yaml: {ADVICE}"
