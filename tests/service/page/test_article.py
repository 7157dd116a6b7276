"""The article: its figures are those that it shows from the folder beside it."""

from __future__ import annotations

from pathlib import Path

from daedalus.service.page.article import figures_of


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
