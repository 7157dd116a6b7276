"""The figures of the article: those that it shows, and no others."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = "figures"
_FIGURE = re.compile(rf"!\[[^\]]*\]\({FOLDER}/([\w-]+\.png)\)")


def figures_of(write_up: Path) -> dict[str, Path]:
    """Return the figures that a Markdown file shows from the folder ``figures`` beside it.

    Args:
        write_up: The file; it need not exist.

    Returns:
        The paths of the figures by file name; none if the file does not exist.
    """
    if not write_up.is_file():
        return {}
    names = _FIGURE.findall(write_up.read_text(encoding="utf-8"))
    return {name: write_up.parent / FOLDER / name for name in names}
