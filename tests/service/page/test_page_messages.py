"""Messages of the page: unknown fields and kinds are refused, and a default keeps its type."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from daedalus.service.page.page_messages import Meaning, MechanismField

FIELD = {"name": "reserve_price", "kind": "number", "meaning": "lowest price"}


@pytest.mark.parametrize("default", [True, 0.5, "allow"])
def test_a_default_keeps_its_type(default: bool | float | str) -> None:
    told = MechanismField.model_validate(FIELD | {"default": default})
    assert type(MechanismField.model_validate_json(told.model_dump_json()).default) is type(default)


def test_an_unknown_kind_or_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="'choice', 'flag' or 'number'"):
        MechanismField.model_validate(FIELD | {"default": 0.1, "kind": "text"})
    with pytest.raises(ValidationError, match="menaing"):
        Meaning.model_validate({"name": "a", "meaning": "b", "menaing": "c"})
