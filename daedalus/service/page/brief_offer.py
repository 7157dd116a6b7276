"""What a sentence of a brief may mean, in words for the page."""

from __future__ import annotations

from daedalus.design.briefs.meanings import MEANINGS
from daedalus.market.mechanism import RANGES
from daedalus.service.openenv.messages import LONGEST_BRIEF
from daedalus.service.page.page_messages import BriefMeaning, BriefOffer

_BY_KIND = {
    "aim": "Most of all: {}",
    "also": "Counts too: {}",
    "payment": "Format: {}",
    "ban": "Any format but {}",
    "reserve_told": "Buyers know the reserve: {}",
    "winner_told": "Buyers learn who won: {}",
    "price_told": "Buyers learn the price: {}",
    "bids_told": "Buyers learn the bids: {}",
    "statistics_told": "Buyers learn statistics of bids: {}",
    "floor": "Mean {} at least",
}
_MEANINGS = {
    "reserve_least/x": "Reserve price at least",
    "reserve_most/x": "Reserve price at most",
    "reserve_exact/x": "Reserve price exactly",
    "shill_fine/least": "Fine for false names at least",
    "shill_fine/none": "No fine for false names",
    "withdrawal_fine/least": "Fine for walking away at least",
    "withdrawal_fine/most": "Fine for walking away at most",
    "no_fines/all": "No fines at all",
    "ring_policy/no_suspicion": "Joint bidding: nobody punished on suspicion",
    "ring_policy/declared": "Joint bidding: restricted",
    "ring_policy/proof": "Joint bidding: fined on proof alone",
    "ring_policy/tolerated": "Joint bidding: allowed",
    "conditional/ring": "With a ring, a fine at least",
    "nothing_told/all": "Buyers are told nothing",
    "fact/ring": "Fact: most buyers are a ring",
    "fact/walkers": "Fact: buyers walk away",
    "fact/budgets": "Fact: buyers have small budgets",
    "fact/honest": "Fact: buyers are honest",
    "fact/false_names": "Fact: buyers use false names",
    "nothing/all": "Asks for nothing",
    "other/all": "A wish that cannot be set",
}


def make_brief_offer() -> BriefOffer:
    """Return every meaning, in the order of ``MEANINGS``."""
    return BriefOffer(longest=LONGEST_BRIEF, meanings=[_meaning(name) for name in MEANINGS])


def _meaning(name: str) -> BriefMeaning:
    meaning, (kind, _, value) = MEANINGS[name], name.partition("/")
    words = value.replace("_", " ").replace("vcg", "VCG")
    text = _MEANINGS[name] if name in _MEANINGS else _BY_KIND[kind].format(words)
    low, high = RANGES[meaning.bounded] if meaning.bounded else (0.0, 1.0)
    takes = meaning.takes_amount
    return BriefMeaning(
        name=name, meaning=text, low=low if takes else None, high=high if takes else None
    )
