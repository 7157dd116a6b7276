"""Names that a careless program takes for markup, a number or a missing value; not a test."""

from __future__ import annotations

ODD_NAMES = (
    "null", "NA", "nan", "None", "007", "1e3", "True", "-",
    "lr=[a,b]", "a[/b]c", "[red]x[/red]", "[link=x]", ":smile:", r"$\x$", "$x^2$", r"\frac{",
    "a_b_", "_a", "a, b", "it's", 'so "so"', "a|b", "`code`", "*bold*", "<b>", "&amp;", "ä ü 価格",
    "two\nlines", " space ", "{x}", "%s", "#1",
)  # fmt: skip
