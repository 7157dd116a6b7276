"""The article: its figures are those that it shows from the folder beside it."""

from __future__ import annotations

import re
from pathlib import Path

from daedalus.service.page.article import documents_of, figures_of, page_of


def test_an_article_has_the_figures_that_it_shows(tmp_path: Path) -> None:
    write_up = tmp_path / "blog.md"
    write_up.write_text(
        "![A curve](figures/one.png) and ![](figures/two-b.png), ![again](figures/one.png)\n"
        "![elsewhere](other/three.png) ![above](figures/../four.png) [a link](figures/five.png)\n"
        "![no picture](figures/six.svg) ![far](https://example.org/figures/seven.png)\n"
    )
    names = ("one.png", "two-b.png")
    assert figures_of(write_up) == {name: tmp_path / "figures" / name for name in names}


def test_an_article_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert figures_of(tmp_path / "blog.md") == figures_of(tmp_path) == {}


def test_a_document_is_a_page_whose_links_lead_somewhere(tmp_path: Path) -> None:
    article = tmp_path / "blog.md"
    article.write_text(
        "# A title: *plain*\n\n## What it costs, and why\n\n[there](other.md#a-part) "
        "[gone](gone.md) [up](../run.py) [far](https://example.org/) "
        "[here](#what-it-costs-and-why)\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    (tmp_path / "other.md").write_text("# Other")
    documents = documents_of(article)
    assert set(documents) == {"blog.md", "other.md"}
    page = page_of(article, documents)
    assert '<h2 id="what-it-costs-and-why">' in page and "<td>2</td>" in page
    assert "<title>A title" in page
    links = re.findall(r'href="([^"]+)"', page.split("<main>")[1])
    assert links == ["other.md#a-part", "https://example.org/", "#what-it-costs-and-why"]
    assert "gone" in page and "up" in page
