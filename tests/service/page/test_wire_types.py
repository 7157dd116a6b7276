"""The types that the page's JavaScript is checked against are those of the API."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from daedalus.service.http import api_messages
from daedalus.service.openenv import messages as openenv
from daedalus.service.page import page_messages
from daedalus.service.sessions import session_messages

TYPES = Path(__file__).parent / "static" / "wire.d.ts"
MODELS = vars(openenv) | vars(session_messages) | vars(page_messages) | vars(api_messages)
KINDS = {"ChoiceField", "FlagField", "NumberField"}  # one model in Python
ASKED = {"EpisodeOptions"}  # made from the catalogue, see Catalogue.options


def interfaces() -> dict[str, set[str]]:
    """Return the fields of every interface, by name."""
    found = re.findall(r"^  interface (\w+) {\n(.*?)^  }", TYPES.read_text(), re.M | re.S)
    return {name: set(re.findall(r"^    (\w+)\??:", body, re.M)) for name, body in found}


@pytest.mark.parametrize("name", sorted(interfaces().keys() - ASKED))
def test_an_interface_has_the_fields_of_its_model(name: str) -> None:
    model = page_messages.MechanismField if name in KINDS else MODELS[name]
    assert interfaces()[name] == set(model.model_fields)


def test_every_interface_was_found() -> None:
    assert len(interfaces()) == len(re.findall(r"^ +interface ", TYPES.read_text(), re.M)) > 15
