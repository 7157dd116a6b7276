"""Bounds of settings: what they refuse, in which words, and also in a subclass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from math import inf, nan

import pytest

from daedalus.checks import Checked, above, at_least, one_of, within
from daedalus.design.search.budgets import DistillationBudget, SearchBudget
from daedalus.evaluation.settings import AdversarySettings, EvaluationSettings
from daedalus.launch.config.compose import register


@dataclass
class Settings(Checked):
    steps: float | None = at_least(1, 5)
    rate: float | None = above(0, None)
    share: float = within(0, 1, 0.5)
    seats: int = within(2, 64, 8, "an integer")
    rounds: int = at_least(1, 5)
    word: str = one_of(("state", "episode"), "state")
    free: float = -7.0


@dataclass
class OfAnotherDefault(Settings):
    steps: float | None = 2


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 1, "rate": 1e-9, "share": 0, "seats": 2},
        {"steps": 2.5, "rate": None, "share": 1.0, "seats": 64},
        {"steps": None, "word": "episode", "free": nan},
    ],
)
def test_what_is_in_bounds_passes(changes: dict[str, object]) -> None:
    assert vars(Settings(**changes)) == vars(Settings()) | changes


@pytest.mark.parametrize(
    ("name", "values", "hint"),
    [
        ("steps", [0, 0.99, -1, nan, inf, -inf], "give a finite number from 1 up"),
        ("rate", [0, -0.1, nan, inf, -inf], "give a finite number above 0"),
        ("share", [-0.1, 1.1, nan, inf, -inf, None], "give a number from 0 to 1"),
        ("seats", [1, 65, 2.5, inf, None], "give an integer from 2 to 64"),
        ("rounds", [2.5], "give an integer"),
        ("word", ["", "State", None], "choose one of state, episode"),
    ],
)
@pytest.mark.parametrize("settings", [Settings, OfAnotherDefault])
def test_what_is_out_of_bounds_is_refused(
    settings: type, name: str, values: list[object], hint: str
) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"^{name}: {value!r}; {hint}$"):
            settings(**{name: value})


@pytest.mark.parametrize(
    ("settings", "changes", "said"),
    [
        (EvaluationSettings, {"episodes": 1}, "episodes: 1; give an integer from 2 up"),
        (EvaluationSettings, {"resamples": 99}, "resamples: 99; give an integer from 100 up"),
        (EvaluationSettings, {"confidence": 1.0}, "confidence: 1.0; give a number between 0 and 1"),
        (AdversarySettings, {"concentration": 0.0}, "concentration: 0.0; .* above 0"),
        (SearchBudget, {"keep": 1}, "keep: 1; .* from 2 up"),
        (DistillationBudget, {"exploration": 1.5}, "exploration: 1.5; give a number from 0 to 1"),
    ],
)
def test_bounds_of_the_package_end_where_they_say(
    settings: type, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        settings(**changes)


def below(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def refused(holds: Callable[[object], object]) -> object:
    """Return a value of the right type that is out of a bound."""
    for value in (-1.0, nan, "no:such/word!"):
        try:
            if not holds(value):
                return value
        except (TypeError, AttributeError):
            continue
    raise AssertionError("the bound allows everything")


def test_every_setting_of_the_package_checks_its_bounds() -> None:
    register()  # imports all settings
    checked = 0
    for kind in {*below(Checked)}:
        if any(each.default is MISSING is each.default_factory for each in fields(kind)):
            continue
        for each in fields(kind):
            if "holds" in each.metadata:
                with pytest.raises(ValueError, match=f"^{each.name}: "):
                    kind(**{each.name: refused(each.metadata["holds"])})
                checked += 1
    assert checked > 100
