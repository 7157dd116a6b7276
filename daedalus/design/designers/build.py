"""Building several designers from their settings."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from daedalus.checks import CannotRunError, doing
from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.env import Designer

logger = logging.getLogger(__name__)


def build_all(
    settings: Mapping[str, DesignerSettings], context: DesignerContext
) -> dict[str, Designer]:
    """Build designers. The keys are their names in tables.

    A designer that was trained for something else is built all the same, and a warning says so.

    Raises:
        CannotRunError: What was built is no designer.
    """
    built = {}
    for name, each in settings.items():
        with doing(f"designer {name} cannot be built"):
            built[name] = each.build(context)
        if not callable(getattr(built[name], "propose", None)):
            raise CannotRunError(
                f"designer {name}: build of {type(each).__name__} returned {built[name]!r}; return "
                "a designer, which has a method propose"
            )
        if told := instead(each, context):
            logger.warning("%s: %s", name, told)
    return built


def require_other_names(names: Collection[str], added: str, what: str) -> None:
    """Refuse designers of which one has the name of a designer that an experiment adds.

    Raises:
        CannotRunError: One has; the message says what the added designer is.
    """
    if added in names:
        raise CannotRunError(
            f"{added} is {what}; give the designer or baseline of that name another one"
        )


def instead(settings: DesignerSettings, context: DesignerContext) -> str:
    """Return what a designer was trained for, if the context asks for something else, or nothing.

    A context without a population is one in which the designer will meet several.
    """
    purpose, population = settings.purpose, context.population
    return purpose.instead(context.env, population, population is not None) if purpose else ""
