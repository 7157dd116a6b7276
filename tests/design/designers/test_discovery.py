"""A designer is one Python file: it is found, registered and built without a list of designers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

import daedalus.design.designers
from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.discovery import designer_settings
from daedalus.launch.config.compose import register
from daedalus.launch.config.paths import CONF
from tests.design.designers.observations import observe, rng
from tests.design.search.markets import env_of
from tests.launch.config.composing import composed

MINE = """
from dataclasses import dataclass
from daedalus.design.designers.base import DesignerSettings
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomSettings
from daedalus.market.mechanism import Mechanism

@dataclass
class MySettings(DesignerSettings):
    reserve: float = 0.25

    def build(self, context):
        return FixedDesigner(Mechanism(reserve_price=self.reserve))
"""
SECOND = """
@dataclass
class OtherSettings(RandomSettings):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a second folder of the package ``daedalus.design.designers``."""
    paths = [*daedalus.design.designers.__path__, str(tmp_path)]
    monkeypatch.setattr(daedalus.design.designers, "__path__", paths)
    yield tmp_path
    sys.modules.pop("daedalus.design.designers.mine", None)
    vars(daedalus.design.designers).pop("mine", None)
    ConfigStore.instance().repo["designer"].pop("mine_schema.yaml", None)


def test_a_new_file_is_all_that_a_designer_needs(folder: Path) -> None:
    assert "mine" not in designer_settings()
    (folder / "mine.py").write_text(MINE)
    assert designer_settings()["mine"].__name__ == "MySettings"
    config = composed("task=compare", "designer=mine_schema", "designer.reserve=0.4")
    designer = config.designer.build(DesignerContext(env_of(), 0))
    assert (designer.propose(observe(3), rng()).reserve_price == 0.4).all()


def test_two_settings_classes_in_a_module_are_refused(folder: Path) -> None:
    (folder / "mine.py").write_text(MINE + SECOND)
    with pytest.raises(ValueError, match=r"mine\.py: MySettings, OtherSettings; define one"):
        designer_settings()


def test_the_schema_of_every_designer_is_registered() -> None:
    register()
    schemas = set(ConfigStore.instance().repo["designer"])
    modules = {path.stem for path in Path(daedalus.design.designers.__path__[0]).glob("*.py")}
    found = designer_settings()
    assert set(found) <= modules
    assert schemas >= {f"{name}_schema.yaml" for name in found}  # other tests may add their own
    assert {"random", "fixed", "heuristic", "search", "evolution", "planner"} <= set(found)
    assert {"distilled", "language_model", "endpoint"} <= set(found)


@pytest.mark.parametrize("path", sorted((CONF / "designer").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_yaml_is_of_a_designer_that_exists(path: Path) -> None:
    first = OmegaConf.load(path)["defaults"][0]
    files = {each.stem for each in path.parent.glob("*.yaml")}
    assert first.removesuffix("_schema") in {*designer_settings(), *files}
