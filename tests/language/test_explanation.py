"""The explanation tells all that a model needs that has never seen the task."""

from __future__ import annotations

from daedalus.language.explanation import MEANINGS, explanation
from daedalus.language.prompt import OUTCOME_FIELDS
from daedalus.market.mechanism import FIELDS
from daedalus.market.observation import PROXIES
from daedalus.market.parsing import parse_mechanism


def test_every_field_comes_with_what_it_may_be():
    text = explanation([])
    for name in FIELDS:
        assert f'- "{name}": ' in text
    for words in ('"second_price" or "vcg"', "from 0.0 to 0.9", "from 0.0 to 3.0", "true or false"):
        assert words in text
    assert parse_mechanism(text.splitlines()[-1]).valid


def test_every_name_that_a_prompt_can_show_has_a_meaning():
    assert set(MEANINGS) == {*OUTCOME_FIELDS, *PROXIES}
    text = explanation([*OUTCOME_FIELDS, *PROXIES, "welfare"])
    for name, meaning in MEANINGS.items():
        assert text.count(f"- {name}: {meaning}") == 1


def test_names_that_are_not_shown_are_not_explained():
    assert "rotation_entropy" not in explanation(["welfare"])
    assert "You are shown" not in explanation([])
