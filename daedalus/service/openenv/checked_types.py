"""Numbers within a range: types whose errors say what is allowed."""

from __future__ import annotations

import math
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

_ROUNDING = 1e-6  # a sum of floats may leave its range by this much
_RANGE_WORDS = (
    "a finite number",
    "a finite number of at least {low}",
    "a number from {low} to {high}",
)


class Strict(BaseModel):
    """A message in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


def integer(low: int, high: int) -> tuple[Any, ...]:
    """Return what ``Annotated`` needs for an integer from ``low`` to ``high``."""
    return _explained(f"give an integer from {low} to {high}", ge=low, le=high)


def number(low: float, high: float) -> tuple[Any, ...]:
    """Return what ``Annotated`` needs for a number from ``low`` to ``high``."""
    allowed = f"give a number from {low} to {high}"
    return _explained(allowed, ge=low, le=high, allow_inf_nan=False)


def text(most: int) -> tuple[Any, ...]:
    """Return what ``Annotated`` needs for a text of at most ``most`` characters."""
    return _explained(f"give a text of at most {most} characters", max_length=most)


def measured(low: float = -math.inf, high: float = math.inf) -> tuple[Any, ...]:
    """Return what ``Annotated`` needs for a measured number, which may miss its range by rounding.

    The field's type should be this or None: an unknown number is null.
    """
    ends = {"minimum": low, "maximum": high}
    schema: dict[str, Any] = {name: end for name, end in ends.items() if math.isfinite(end)}
    allowed = f"give {_RANGE_WORDS[len(schema)].format(low=low, high=high)}, or null"

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> float:
        try:
            given: float = handler(value)
        except ValidationError:
            given = math.nan
        if not low - _ROUNDING <= given <= high + _ROUNDING:
            raise _refusal(allowed)
        return given

    field = Field(strict=True, allow_inf_nan=False, json_schema_extra=schema)
    return field, WrapValidator(check)


def _explained(allowed: str, **limits: Any) -> tuple[Any, ...]:
    """Return limits, and a validator whose error says what is allowed."""

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise _refusal(allowed) from None

    return Field(strict=True, **limits), WrapValidator(check)


def _refusal(allowed: str) -> PydanticCustomError:
    return PydanticCustomError("range", "{allowed}", {"allowed": allowed})
