"""The rules of the auction formats, in plain Python."""

from __future__ import annotations

ONE_PRICE = ("second_price",)
"""Formats in which all units have one price."""


def forgone(
    auction_type: str,
    values: tuple[float, float],
    bids: tuple[float, float],
    lowest: float,
    above: float,
) -> float:
    """What bids gain if ``lowest`` wins one unit, and ``above`` with it a second."""
    won = 0
    if bids[0] > 0 and bids[0] >= lowest:
        won = 2 if bids[1] > 0 and bids[1] >= above else 1
    paid = {
        "first_price": sum(bids[:won]),
        "second_price": [0.0, max(bids[1], lowest), 2 * above][won],
        "vcg": sum((lowest, above)[:won]),
    }
    return sum(values[:won]) - paid[auction_type]


def payment(
    auction_type: str, mine: list[float], losing: list[float], displaced: list[float]
) -> float:
    """What a winner's bids cost: themselves, the best losing bid for each, or what they displace.

    Reserves follow the bids in ``losing`` and in ``displaced``.
    """
    return {
        "first_price": sum(mine),
        "second_price": len(mine) * losing[0],
        "vcg": sum(displaced[: len(mine)]),
    }[auction_type]


def clearing_price(auction_type: str, winning: list[float], losing: list[float]) -> float:
    return {"first_price": winning[-1]}.get(auction_type, losing[0])
