"""Settings of the study of coverage; this module imports fast, because ``--help`` needs it."""

from __future__ import annotations

from dataclasses import dataclass, field

from daedalus.checks import Checked, at_least

KINDS = (
    "clean", "clean_from_zero", "common_small", "common_middle", "common_large", "covariate",
    "reserve", "jumps", "rounded", "entry", "asymmetric", "ring",
)  # fmt: skip
"""Kinds of simulated logs, see ``daedalus.lab.studies.bid_logs``."""


@dataclass
class CoverageSettings(Checked):
    """Which logs are simulated, and how many.

    Attributes:
        kinds: Kinds of logs, of ``KINDS``.
        sales: Numbers of sales of a log, each at least 50.
        logs: Logs of each kind and number of sales.
        resamples: Bootstrap samples of the sales of a log, at least 20.

    Raises:
        ValueError: A kind is unknown, or a number is out of range.
    """

    kinds: list[str] = field(default_factory=lambda: list(KINDS))
    sales: list[int] = field(default_factory=lambda: [60, 400])
    logs: int = at_least(1, 20, "an integer")
    resamples: int = at_least(20, 100, "an integer")

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.kinds if name not in KINDS]
        if unknown or not self.kinds:
            raise ValueError(f"coverage.kinds: {unknown}; choose some of {', '.join(KINDS)}")
        if not self.sales or min(self.sales) < 50:
            raise ValueError(f"coverage.sales: {self.sales}; give integers from 50 up")
