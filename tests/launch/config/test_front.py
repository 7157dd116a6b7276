"""Whatever the command line asks for is in the resolved configuration, or is refused in a message.

Hypothesis draws the overrides from the schema itself: its keys, misspelt and right, with values of
right and wrong types, after each of Hydra's signs, and groups with and without a package.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from omegaconf import DictConfig, OmegaConf

from daedalus.launch.config.compose import compose_both
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.paths import groups, option_names
from daedalus.launch.config.reading import may_read
from daedalus.launch.config.task_options import class_of, task_classes

LINES = 8
"""Most lines of a message."""


def keys(node: object, key: str = "") -> Iterator[tuple[str, object]]:
    """Yield the keys of settings with their values, at all depths."""
    named = vars(node) if is_dataclass(node) else node
    for name, each in named.items() if isinstance(named, dict) else ():
        full = f"{key}.{name}" if key else str(name)
        yield full, each
        yield from keys(each, full)


SCALARS = {
    key: each
    for task in task_classes().values()
    for key, each in keys(task())
    if not isinstance(each, bool)
}
KEYS = [
    *sorted(SCALARS),
    "population.strategic.types.shader.share",
    "population.classic.groups.shader.value_low",
    "evaluation.baselines.random.sampling",
    "evaluation.baselines.informed_greedy.mechanism",
    "market.incumbents.robust.reserve_price",
]
VALUES = ["0", "1", "7", "-1", "0.5", "1e-4", "nan", "inf", "4294967296", "true", "null", "abc"]
VALUES += [
    "[]",
    "[1,2]",
    "{}",
    "{a:1}",
    "''",
    "first_price",
    "a/b",
    "docs",
    "${seed}",
    "${no}",
    "???",
]
PACKAGES = ["evaluation.baselines.mine", "evaluation.baselines.classic", "populations.p", "x.y"]

KEY = st.sampled_from(KEYS) | st.sampled_from(KEYS).map(lambda key: key[:-2] + key[-1:])
SIGN = st.sampled_from(["", "", "+", "++"])
GROUP = st.sampled_from([group for group in groups() if group != "experiment"])
OPTION = GROUP.flatmap(
    lambda group: st.sampled_from([*option_names(group), "nope", "null"])
    .map(lambda option: (group, option))
)  # fmt: skip
OVERRIDE = (
    st.builds("{}{}={}".format, SIGN, KEY, st.sampled_from(VALUES))
    | st.builds("~{}".format, KEY)
    | st.builds("{}={}".format, KEY, st.just("1,2"))
    | st.builds(lambda sign, pair: f"{sign}{pair[0]}={pair[1]}", SIGN, OPTION)
    | st.builds(
        lambda sign, pair, package: f"{sign}{pair[0]}@{package}={pair[1]}",
        SIGN, OPTION, st.sampled_from(PACKAGES),
    )
)  # fmt: skip
READ = {
    task: [
        key
        for key, each in SCALARS.items()
        if may_read(class_of(task), key) and isinstance(each, int | float)
    ]
    for task in ("compare", "grpo")
}
RIGHT = st.sampled_from(sorted(READ)).flatmap(
    lambda task: st.tuples(
        st.just(task),
        st.lists(
            st.builds(
                lambda sign, key, factor: f"{sign}{key}={SCALARS[key] * factor}",
                st.sampled_from(["", "++"]), st.sampled_from(READ[task]), st.sampled_from([1, 2]),
            ),
            min_size=1, max_size=3, unique=True,
        ),
    )
)  # fmt: skip
COMMAND = RIGHT | st.tuples(
    st.sampled_from(["compare", "grpo", *task_classes()]),
    st.lists(OVERRIDE, min_size=1, max_size=2, unique=True),
)


def check(task: str, overrides: list[str]) -> None:
    """Compose a command; check that it holds what was asked for, or that it is refused."""
    try:
        composed, config = compose_both(f"task={task}", *overrides)
    except ConfigError as error:
        message = str(error)
        assert message and "Traceback" not in message
        assert len(message.splitlines()) <= LINES, message
        return
    resolved = OmegaConf.to_container(composed, resolve=True)
    assert set(map(str, resolved)) == {each.name for each in fields(config)}
    asked = OverridesParser.create().parse_overrides(overrides)
    for number, each in enumerate(asked):
        later = [other.key_or_group for other in asked[number + 1 :]]
        if each.is_delete() or each.key_or_group in groups() or later:
            continue
        held = OmegaConf.select(composed, each.key_or_group)
        value = OmegaConf.create({"seed": config.seed, "value": each.value()}).value
        if isinstance(held, DictConfig):  # mappings merge
            assert value is None or all(held[name] == value[name] for name in value)
        else:
            assert held == value or str(held) == str(value) or float(held) == float(value)


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder in which nothing may be written."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(COMMAND)
@example(("grpo", ["+training.grpo.lr=1e-4"]))
@example(("compare", ["evaluation.baselines.random=fixed"]))
@example(("theory", ["market=classic"]))
def test_a_command_is_composed_as_asked_or_refused(command: tuple[str, list[str]]) -> None:
    check(*command)
