"""Write the table of endpoints into the documentation, from the OpenAPI document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from daedalus.market.interface import MarketSettings
from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.service.http.api_page import inputs_of
from daedalus.service.http.app import create_app
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.settings import ServiceSettings

BEGIN, END = "<!-- endpoints -->", "<!-- end of endpoints -->"


def endpoint_table(openapi: dict[str, Any]) -> str:
    """Return every endpoint with its fields, answers and purpose, as a Markdown table."""
    lines = ["| endpoint | takes | answers | for |", "|---|---|---|---|"]
    for path, operations in sorted(openapi["paths"].items()):
        for method, operation in operations.items():
            takes = (
                ", ".join(f"`{name}`" for name, *_ in inputs_of(operation, openapi)) or "nothing"
            )
            statuses = ", ".join(sorted(operation["responses"]))
            purpose = operation.get("summary", "")
            lines.append(f"| {method.upper()} `{path}` | {takes} | {statuses} | {purpose} |")
    return "\n".join(lines)


def with_table(text: str, table: str) -> str:
    """Return a document in which the table stands between the two marks.

    Raises:
        ValueError: The document has no marks.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no {BEGIN} and {END}; write them where the table goes")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> None:
    """Write the table into docs/service.md."""
    any_population = PopulationSettings("any", Population())
    market = MarketSettings()
    catalogue = Catalogue({"any": any_population}, "any", market.name, {market.name: market}, 1)
    app = create_app(ServiceSettings(), catalogue, None)
    path = Path(__file__).parents[3] / "docs" / "service.md"
    path.write_text(with_table(path.read_text(), endpoint_table(app.openapi())))


if __name__ == "__main__":
    main()
