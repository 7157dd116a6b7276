"""Types of bounded numbers, whose errors name what is allowed."""

import math
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

_ROUNDING = 1e-6  # by which sums of floats may leave their range
_RANGE_WORDS = (
    "a finite number",
    "a finite number of at least {low}",
    "a number from {low} to {high}",
)


class Strict(BaseModel):
    """A message in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


def bounded(kind: type, low: float, high: float) -> Any:
    """Return the type of a number from ``low`` to ``high``, whose errors name both."""
    allowed = f"give {'an integer' if kind is int else 'a number'} from {low} to {high}"

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError("range", "{allowed}", {"allowed": allowed}) from None

    finite = {} if kind is int else {"allow_inf_nan": False}
    return Annotated[kind, Field(ge=low, le=high, strict=True, **finite), WrapValidator(check)]


def signal(low: float = -math.inf, high: float = math.inf) -> Any:
    """Return the type of a measured number, or of its absence, whose errors name the range."""
    ends = {"minimum": low, "maximum": high}
    schema = {name: end for name, end in ends.items() if math.isfinite(end)}
    allowed = f"give {_RANGE_WORDS[len(schema)].format(low=low, high=high)}, or null"

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            number = handler(value)
        except ValidationError:
            number = math.nan
        if not low - _ROUNDING <= number <= high + _ROUNDING:
            raise PydanticCustomError("range", "{allowed}", {"allowed": allowed})
        return number

    field = Field(strict=True, allow_inf_nan=False, json_schema_extra=schema)
    return Annotated[float, field, WrapValidator(check)] | None
