"""The designer that the package ships is what its description says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.launch.config.paths import ROOT
from daedalus.runs.pretrained import ABOUT, FOLDER, WORD, described, read_pretrained
from daedalus.training.publishing.hub_folder import hashes
from daedalus.training.publishing.settings import HubSettings
from experiments.pretrained import RECIPE, recipe_changes
from tests.launch.config.composing import composed


def test_every_file_is_the_one_that_was_packed() -> None:
    found = hashes(FOLDER)
    del found[ABOUT]
    assert found == read_pretrained().sha256, "the files were changed; run make pretrained"
    assert {"model.safetensors", "README.md", "run/config.yaml"} <= set(found)


@pytest.mark.slow
def test_it_was_trained_by_the_recipe_of_make_designer() -> None:
    changed = recipe_changes(FOLDER / "run" / "config.yaml")
    first = ", ".join(changed[:5])
    assert not changed, f"the recipe of make designer has changed ({first}); run make pretrained"
    designer = re.search(r"^designer:.*\n(.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert designer and f" {' '.join(RECIPE)} " in designer[1]
    assert RECIPE == (f"+experiment={read_pretrained().recipe}",)


def test_its_scores_are_those_of_the_benchmark() -> None:
    found = read_pretrained()
    assert found.scores.keys() == composed("+experiment=leaderboard").populations.keys()
    assert 0.5 < sum(found.scores.values()) / len(found.scores) < 1.2
    assert re.fullmatch(
        rf"the pretrained one of {found.recipe}, {found.date}(, commit \w{{7}})?; it scores "
        r"\d\.\d\d in 14 populations that it never met, from 0 for random mechanisms to 1 for "
        r"designers that know the bidders",
        str(found),
    )


@pytest.mark.parametrize("named", [WORD, str(FOLDER)])
def test_settings_know_it_by_a_word(named: str) -> None:
    assert LanguageModelSettings(checkpoint=named).checkpoint == str(FOLDER)
    assert described(named) == str(read_pretrained())
    assert composed("task=compare", "designer=pretrained").designer.checkpoint == str(FOLDER)


def test_another_model_is_described_by_its_name() -> None:
    assert described("OWNER/NAME") == "OWNER/NAME"
    assert described("outputs/run/model") == "outputs/run/model"


def test_its_card_names_a_model_that_the_checkout_has() -> None:
    repo = FOLDER.relative_to(ROOT).as_posix()
    assert HubSettings(repo=repo).repo == repo
    card = (FOLDER / "README.md").read_text()
    assert f'name = "{repo}"' in card and f"--repo-id {repo} " in card
    links = re.findall(r"\]\((?!\w+:)([^)\s]+)\)", card)
    assert links and all((FOLDER / each).exists() for each in links)
    assert not re.search(r"/(root|home|tmp|work)/", card)


@pytest.mark.slow
def test_a_setting_that_the_recipe_gained_or_changed_is_named(tmp_path: Path) -> None:
    packed = (FOLDER / "run" / "config.yaml").read_text()
    for old, new, changed in (
        ("    own_states: true\n", "    own_states: false\n", ["training.grpo.own_states"]),
        ("    own_states: true\n", "", ["training.grpo.own_states"]),
        ("    neighbours: 0\n", "", []),  # today's default, so that the setting may be new
    ):
        assert packed.count(old) == 1, old
        (tmp_path / "config.yaml").write_text(packed.replace(old, new))
        assert recipe_changes(tmp_path / "config.yaml") == changed
    (tmp_path / "config.yaml").write_text(packed.replace("    siblings: 0\n", "    siblings: 1\n"))
    with pytest.raises(CannotRunError, match="siblings: it is gone"):
        recipe_changes(tmp_path / "config.yaml")
