"""Code and settings of the user in a folder of its own, as docs/plugs.md shows them."""

from __future__ import annotations

import pickle
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.build import build_all
from daedalus.design.env import DesignEnv
from daedalus.evaluation.episodes import compare
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.task_parts import Task
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from tests.golden import run_apart
from tests.launch.config.composing import composed
from tests.launching import run_here
from tests.populations import population

ROOT = Path(__file__).parents[3]
PLUGS = (ROOT / "docs" / "plugs.md").read_text()
SECTION = PLUGS.partition("## Your own settings and code")[2].partition("\n## ")[0]
QUICK = "tracking=files evaluation.episodes=3 evaluation.resamples=100 hydra.run.dir=out"

WRONG = """
from dataclasses import dataclass
from daedalus.design.designers.base import DesignerSettings

class Undecorated(DesignerSettings):
    increment: float = 0.1
    def build(self, context):
        return None

@dataclass
class Unbuilt(DesignerSettings):
    pass

@dataclass
class Nothing(DesignerSettings):
    def build(self, context):
        return None

@dataclass
class Listing(DesignerSettings):
    def build(self, context):
        return self
    def propose(self, observations, rng):
        return [None]

class Plain:
    pass
"""


def write_shown(folder: Path) -> None:
    """Write the files of the section, each named in its first line."""
    for text in re.findall(r"^```\w+\n(# [\w/]+\.\w+\n.*?)^```$", SECTION, re.M | re.S):
        path = folder / text.splitlines()[0].removeprefix("# ")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of the user's, with a module of its own name."""
    write_shown(tmp_path)
    module = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / "mine.py").rename(tmp_path / f"{module}.py")
    with (tmp_path / f"{module}.py").open("a") as file:
        file.write(WRONG)
    for path in tmp_path.rglob("*.yaml"):
        path.write_text(path.read_text().replace("mine.", f"{module}."))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path])
    return tmp_path


def own(place: Path, *overrides: str) -> Task:
    module = next(place.glob("own_*.py")).stem
    words = [each.replace("MODULE", module) for each in ("+experiment=boxplot", *overrides)]
    return composed(f"hydra.searchpath=[file://{place}]", *words)


@pytest.mark.slow
def test_the_command_of_the_documents_plays_all_three(tmp_path: Path) -> None:
    write_shown(tmp_path)
    (line,) = re.findall(r"^daedalus (.*)$", SECTION, re.M)
    run_apart(tmp_path, *shlex.split(line), *QUICK.split())
    steps = pd.read_csv(tmp_path / "out" / "steps.csv")
    mine = steps[steps["designer"] == "cautious"].groupby("episode")["reserve_price"]
    assert (mine.diff().dropna().round(9).isin([0.0, 0.05])).all() and (mine.max() > 0.1).any()
    config = (tmp_path / "out" / "config.yaml").read_text()
    assert "name: patient" in config and "_target_: mine.CautiousSettings" in config


@pytest.mark.slow
def test_a_population_of_another_folder_plays_from_there(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    write_shown(tmp_path / "elsewhere")
    words = f"--config-dir elsewhere +experiment=boxplot population=patient {QUICK}"
    run_here(tmp_path, *words.split())
    assert "name: patient" in (tmp_path / "out" / "config.yaml").read_text()


@pytest.mark.slow
def test_settings_of_a_designer_are_checked_as_ours_are(place: Path) -> None:
    settings = own(place, "designer=cautious", "designer.increment=0.05").designer
    assert (settings.name, settings.increment) == ("cautious", 0.05)
    assert type(settings).__name__ == "CautiousSettings"
    baseline = own(place, "+designer@evaluation.baselines.mine=cautious").evaluation.baselines
    assert baseline["mine"].increment == 0.02
    other = own(place, "designer=cautious", "designer.increment=${evaluation.confidence}")
    assert other.designer.increment == other.evaluation.confidence
    with pytest.raises(ConfigError, match="increment: 'much'; give a number"):
        own(place, "designer=cautious", "designer.increment=much")
    with pytest.raises(ConfigError, match="increase: no such setting"):
        own(place, "designer=cautious", "+designer.increase=1")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("absent.Settings", r"'absent\.Settings'; there is no module absent in /.* installed"),
        ("MODULE.inner.Settings", r"there is no module own_\w+\.inner in"),
        ("MODULE.CautiousSetting", r"the module own_\w+ has no CautiousSetting, but CautiousSetti"),
        ("MODULE.Zzz", r"has no Zzz, but CautiousSettings, Cautious, sold, Undecorated, Unbuilt"),
        ("MODULE.sold", "is no settings of a designer; name a dataclass that inherits from"),
        ("MODULE.Plain", "is no settings of a designer; name a dataclass that inherits from"),
        ("MODULE.Undecorated", "is no dataclass; put @dataclass above it"),
        ("MODULE.Unbuilt", "has no method build; name a dataclass"),
        ("CautiousSettings", r"'CautiousSettings'; give MODULE\.NAME, such as"),
        ("MODULE.", r"give MODULE\.NAME, such as"),
        ("'a b.c'", r"give MODULE\.NAME, such as"),
        ("3", r"3; give MODULE\.CLASS, such as"),
    ],
)
def test_a_wrong_target_is_refused_in_a_sentence(target: str, said: str, place: Path) -> None:
    with pytest.raises(ConfigError, match=rf"^designer\._target_: .*{said}") as refused:
        own(place, "designer=cautious", f"designer._target_={target}")
    assert "\n" not in str(refused.value)


def test_a_module_that_fails_is_not_taken_for_an_absent_one(place: Path) -> None:
    (place / f"{place.name}_broken.py").write_text("import a_library_that_is_absent\n")
    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_absent"):
        own(place, "designer=cautious", f"designer._target_={place.name}_broken.Settings")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Nothing", "designer mine: build of Nothing returned None; return a designer, which has"),
        ("Listing", "propose returned list; return Mechanisms, one for each episode"),
    ],
)
def test_what_is_built_and_proposed_is_checked(name: str, said: str, place: Path) -> None:
    module = next(place.glob("own_*.py")).stem
    (place / "designer" / "wrong.yaml").write_text(f"_target_: {module}.{name}\nname: mine\n")
    env = DesignEnv.of(MarketSettings(), population(3))
    with pytest.raises(CannotRunError, match=said):
        designers = build_all(
            {"mine": own(place, "designer=wrong").designer}, DesignerContext(env, 0)
        )
        compare(env, designers, 2, 0)


def test_an_own_reward_term_counts(place: Path) -> None:
    stack = own(place, "reward=sold", "reward.weights.sold=2").reward
    assert stack.active == {"composite": 0.5, "sold": 2.0}
    assert stack.name == "0.5 composite + 2 sold"
    env = DesignEnv.of(MarketSettings(), population(3), stack)
    result = env.reset(np.arange(4, dtype=np.uint64)).step(Mechanisms.repeat(Mechanism(), 4))
    sold = (result.scored.field("clearing_price") > 0).mean(axis=1)
    np.testing.assert_allclose(result.reward, 0.5 * result.composite + 2.0 * sold)
    again = pickle.loads(pickle.dumps(env.reward))  # as workers get it
    np.testing.assert_array_equal(again.of_mechanisms(result.scored), result.reward)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "reward.own_terms.sold=MODULE.sell",
            r"own_terms.sold: .* has no sell, but ",
        ),
        ("reward.own_terms.sold=os.sep", "own_terms.sold: 'os.sep'; this is str; name a function"),
        ("reward.own_terms.sold=sold", r"own_terms.sold: 'sold'; give MODULE\.NAME, such as"),
        ("+reward.own_terms.welfare=MODULE.sold", "own_terms.welfare: a term has this name"),
        ("+reward.own_terms.other=MODULE.sold", "own_terms.other: no weight; give it one by"),
    ],
)
def test_a_wrong_term_is_refused_in_a_sentence(change: str, said: str, place: Path) -> None:
    with pytest.raises(ConfigError, match=rf"^reward\.{said}"):
        own(place, "reward=sold", change)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("None", r"returned object of shape \(\); return a number from 0 to 1 for each round"),
        ("outcome.field('revenue')[:, 0]", r"returned float64 of shape \(4,\); return a number"),
        ("outcome.field('revenue') + 1", r"returned [12]\.\d+; return numbers from 0 to 1"),
        ("outcome.field('revenue') * float('nan')", "returned nan; return numbers from 0 to 1"),
        ("0.5", r"returned float64 of shape \(\); return a number"),
    ],
)
def test_a_term_that_returns_something_wrong_is_refused(
    returned: str, said: str, place: Path
) -> None:
    module = f"terms_{abs(hash((returned, place)))}"
    (place / f"{module}.py").write_text(f"def sold(outcome):\n    return {returned}\n")
    stack = own(place, "reward=sold", f"reward.own_terms.sold={module}.sold").reward
    env = DesignEnv.of(MarketSettings(), population(3), stack)
    played = env.reset(np.arange(4, dtype=np.uint64)).step(Mechanisms.repeat(Mechanism(), 4))
    with pytest.raises(CannotRunError, match=rf"^{module}\.sold {said}"):
        _ = played.reward
