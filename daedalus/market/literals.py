"""The words of enumerated fields as types, so that mypy refuses a wrong word before a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    AuctionType = Literal["first_price", "second_price", "vcg"]
    CoalitionPolicy = Literal["allow", "restrict", "penalize_suspected", "penalize_confirmed"]
    MarketName = Literal["strategic", "classic"]
    BidderKind = Literal["truthful", "shader", "dropout", "colluder", "exploiter"]
    Strategy = Literal["opt_out", "shade", "withdraw", "collude", "shill"]
    Learner = Literal["gradient", "hedge", "q"]
    Family = Literal["uniform", "exponential", "beta", "mixture", "quantiles"]
else:  # OmegaConf makes configurations of the classes with these fields, and knows no Literal
    AuctionType = CoalitionPolicy = MarketName = BidderKind = Strategy = Learner = Family = str
