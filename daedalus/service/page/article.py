"""The article, the documents beside it as web pages, and their figures."""

from __future__ import annotations

import re
from collections.abc import Collection
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER = "figures"
_FIGURE = re.compile(rf"!\[[^\]]*\]\({FOLDER}/([\w-]+\.png)\)")


def figures_of(write_up: Path) -> dict[str, Path]:
    """Return the figures that a Markdown file shows from the folder beside it, by file name."""
    if not write_up.is_file():
        return {}
    names = _FIGURE.findall(write_up.read_text(encoding="utf-8"))
    return {name: write_up.parent / FOLDER / name for name in names}


def documents_of(write_up: Path) -> dict[str, Path]:
    """Return the Markdown files beside the article, and the article itself, by file name."""
    if not write_up.is_file():
        return {}
    return {path.name: path for path in sorted(write_up.parent.glob("*.md"))}


def page_of(document: Path, documents: Collection[str]) -> str:
    """Return a Markdown file as a web page.

    Links to files that are not among ``documents`` become plain text: the server lacks them.
    """
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(document.read_text(encoding="utf-8"))
    headings = [each for each in pairwise(tokens) if each[0].type == "heading_open"]
    for heading, text in headings:
        heading.attrSet("id", _anchor(text.content))
    for token in tokens:
        token.children = token.children and _with_served_links(token.children, documents)
    title = next((text.content for _, text in headings), document.stem)
    body = parser.renderer.render(tokens, parser.options, {})
    return plain_page(title, f"<main>{body}</main>")


def plain_page(title: str, body: str) -> str:
    """Return a web page that has no script; ``body`` is HTML, ``title`` is text."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}, Daedalus</title>"
        '<link rel="icon" href="/page/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/page/plots.css"></head>'
        '<body><nav aria-label="Site"><a href="/">Daedalus</a></nav>'
        f"{body}</body></html>"
    )


def _anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def _with_served_links(tokens: list[Token], documents: Collection[str]) -> list[Token]:
    """Return inline tokens without the links that lead to files the server does not have."""
    kept, leads_nowhere = [], False
    for token in tokens:
        if token.type == "link_open":
            leads_nowhere = not _is_served(str(token.attrGet("href")), documents)
        if not (leads_nowhere and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


def _is_served(link: str, documents: Collection[str]) -> bool:
    return link.startswith(("https://", "http://", "#")) or link.partition("#")[0] in documents
