"""The formats whose theory is known, and what winners pay in each, as the formulas take it.

A format that the market has and this module has not is refused: no formula takes it for another.
"""

from __future__ import annotations

from daedalus.checks import CannotRunError
from daedalus.market.literals import AuctionType

_OWN_BID, _ONE_PRICE, _PERSONAL_PRICE = range(3)
_PAYMENTS: dict[AuctionType, int] = {
    "first_price": _OWN_BID,
    "second_price": _ONE_PRICE,
    "vcg": _PERSONAL_PRICE,
}

FORMATS_WITH_THEORY: tuple[AuctionType, ...] = tuple(_PAYMENTS)
"""The formats whose theory is known."""


def require_format(auction_type: str) -> None:
    """Refuse a format whose theory is not known.

    Raises:
        CannotRunError: Nothing tells what its bidders gain by other bids.
    """
    _payment(auction_type)


def _payment(auction_type: str) -> int:
    for known, payment in _PAYMENTS.items():
        if known == auction_type:
            return payment
    raise CannotRunError(
        f"auction_type: {auction_type!r} has no certificate, because theory does not know its "
        f"payments; choose one of {', '.join(FORMATS_WITH_THEORY)}, or derive its formulas and add "
        "it to daedalus/lab/theory/formats.py"
    )


def pays_own_bid(auction_type: str) -> bool:
    """Return whether winners pay their own bids."""
    return _payment(auction_type) == _OWN_BID


def pays_one_price(auction_type: str) -> bool:
    """Return whether all units have one price, the highest losing bid."""
    return _payment(auction_type) == _ONE_PRICE


def pays_personal_price(auction_type: str) -> bool:
    """Return whether winners pay the bids that they displace."""
    return _payment(auction_type) == _PERSONAL_PRICE
