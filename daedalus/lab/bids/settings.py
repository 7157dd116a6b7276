"""What a log of bids looks like, and how values are estimated from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from daedalus.checks import Checked, above, at_least, bounded, one_of

if TYPE_CHECKING:
    Format = Literal["first_price", "second_price", "ascending"]
else:  # OmegaConf knows no Literal
    Format = str

FIRST_PRICE, SECOND_PRICE, ASCENDING = LOG_FORMATS = ("first_price", "second_price", "ascending")

TIMBER = "timber"
"""The name of the log of timber sales, in place of a file."""

SEPARATORS = (",", ";", "\t", "|")
DECIMALS = (".", ",")


@dataclass
class BidLogSettings(Checked):
    """How to read a log of bids, and how to estimate values.

    Names of columns are compared exactly first, and then without regard to case. An empty name of
    an optional column is none, even if the log has a column of the usual name.

    Attributes:
        format: How the sales were held, one of ``LOG_FORMATS``. ``first_price`` and
            ``second_price`` are sealed. In ``ascending`` sales a bid is the last that a bidder
            made.
        auction: Name of the column that tells the sales apart. Their names are texts: ``1`` and
            ``01`` are two.
        bid: Name of the column of bids, in any unit of money, above 0.
        bidder: Name of the column of bidders, if there is one. An empty one, or one such as ``NA``
            or ``unknown``, is an unknown bidder.
        reserve: Name of the column of reserve prices, if there is one, in the unit of the bids. A
            reserve is in force only if every sale has one above 0; up to a twentieth of the sales
            without one are left out.
        date: Name of the column of dates, if there is one; its year becomes a covariate.
        covariates: Columns that say what was sold; None takes all other columns that do. Numbers
            above 0 count in logarithms, other numbers as they are, and words as categories.
        words: Covariates that are words though they look like numbers, such as postal codes.
        separator: What stands between cells, one of ``SEPARATORS``; None tells it from the header.
        decimal: The decimal mark, one of ``DECIMALS``; None tells it from the numbers.
        encoding: Encoding of the file; None takes UTF-8, or UTF-16 with its mark, or Windows-1252.
        increment: Least step of an ascending sale, as a share of the bid. Bidders may raise by
            more, as in jump bids.
        bandwidth: Factor of the rule for the bandwidth; below 1 smooths less.
        potential_bidders: How many could have come to each sale, if the reserve kept some away.
            None takes the largest number of bids of a sale, if bids of first-price sales begin at
            the reserve and numbers of bids vary no more than that number explains.
        common_part: Whether what the bids of a sale have in common beyond the covariates was known
            to its bidders, so that it is taken out of bids (Krasnokutskaya 2011). None is true for
            sealed sales and false for ascending ones: there the format causes a part of it, because
            a winner stops at the second-highest value.
        outliers: A sale so many robust deviations above or below what is usual is left out as an
            error of the log; None keeps all.
        resamples: Number of bootstrap samples of auctions, at least 20.
    """

    format: Format = one_of(LOG_FORMATS, FIRST_PRICE)
    auction: str = "auction"
    bid: str = "bid"
    bidder: str = "bidder"
    reserve: str = "reserve"
    date: str = "date"
    covariates: list[str] | None = None
    words: list[str] = field(default_factory=list)
    separator: str | None = bounded(
        None, lambda mark: mark in SEPARATORS, "choose one of ',' ';' '|' or a tab"
    )
    decimal: str | None = bounded(None, lambda mark: mark in DECIMALS, "choose '.' or ','")
    encoding: str | None = None
    increment: float = at_least(0, 0.0)
    bandwidth: float = above(0, 1.0)
    potential_bidders: int | None = bounded(
        None, lambda count: count >= 2, "give an integer from 2 up"
    )
    common_part: bool | None = None
    outliers: float | None = above(0, 5.0)
    resamples: int = bounded(200, lambda count: count >= 20, "give an integer from 20 up")

    @property
    def removes_common_part(self) -> bool:
        """Return whether what bids of a sale have in common is taken out: as set, or by format."""
        return self.format != ASCENDING if self.common_part is None else self.common_part
