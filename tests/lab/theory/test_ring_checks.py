"""What rings do is measured from the seed alone."""

from __future__ import annotations

from daedalus.lab.theory.ring_checks import ring_welfare


def test_same_seed_same_rows_and_other_seed_others() -> None:
    rows = [ring_welfare(2, seed) for seed in (0, 0, 1)]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]
