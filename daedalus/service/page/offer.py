"""Everything that a visitor may choose, each with its meaning."""

from __future__ import annotations

from collections.abc import Sequence

from daedalus.design.briefs.meanings import MEANINGS
from daedalus.lab.bids.text_table import USUAL_NAMES
from daedalus.market.allowed import Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import (
    CHOICES,
    EFFECTS,
    FIELDS,
    RANGES,
    Mechanism,
    Mechanisms,
)
from daedalus.market.ranges import SIZES, TRAITS
from daedalus.service.openenv.catalogue import (
    ASKED_MARKET,
    ASKED_POPULATION,
    AskedMarket,
    Catalogue,
)
from daedalus.service.openenv.messages import LONGEST_BRIEF, WireMechanism
from daedalus.service.page.page_messages import (
    AskedBidders,
    BriefMeaning,
    BriefOffer,
    Meaning,
    MechanismField,
    NamedRules,
    Offer,
    PopulationOnOffer,
    Start,
    TypeOnOffer,
)
from daedalus.service.sessions.session_messages import TRAINED

_MARKETS = {
    "strategic": "bidders who learn, form rings, walk away and bid under false names; "
    "you take over after 20 rounds under one of four mechanisms",
    "fresh": "the same bidders, who have not learnt yet; you take over after three rounds",
    "classic": "the market of the published system, in which only three of the fields matter",
    ASKED_MARKET: "before a step, each bidder says its bids at five values; a step has ten rounds",
}
_OBJECTIVES = {
    "composite": "R, the product of welfare, fairness, participation and stability",
    "revenue": "what the seller takes for each unit for sale",
    "welfare": "the value delivered, over the highest possible",
    "surplus": "what the bidders gain",
    "balanced": "half revenue per unit for sale, a quarter fairness and a quarter participation",
}
_DESIGNERS = {
    TRAINED: "the language model that was trained here",
    "heuristic": "three hand-written reactions: to rings, to falling prices and to absent bidders",
    "informed_greedy": "one mechanism, made by hand, at every step",
    "random": "a random mechanism at every step",
    "search": "one mechanism, searched for this market and the objective that you chose; the "
    "first step waits for it",
    "planner": "what is best in copies of the market as it stands, which no designer may see",
}
_BRIEF_KINDS = {
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
_BRIEF_MEANINGS = {
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


def make_offer(
    catalogue: Catalogue,
    designers: Sequence[str],
    upload_bytes: int = 0,
    briefs: bool = False,
) -> Offer:
    """Return the choices; ``designers`` are those beside the trained one."""
    names = (TRAINED, *designers)
    return Offer(
        fields=[_field(name, Goal(allowed=catalogue.allowed)) for name in FIELDS],
        populations=[_population(name, catalogue) for name in catalogue.populations],
        markets=[
            Meaning(name=each, meaning=_MARKETS.get(each, each)) for each in catalogue.markets
        ],
        objectives=[
            Meaning(name=name, meaning=_OBJECTIVES.get(name, each.name))
            for name, each in catalogue.objectives.items()
        ],
        designers=[Meaning(name=name, meaning=_DESIGNERS.get(name, name)) for name in names],
        default=Start(
            population=catalogue.default, market=catalogue.market, objective=catalogue.objective
        ),
        episode_length=catalogue.markets[catalogue.market].episode_length,
        max_episode_length=catalogue.max_episode_length,
        upload_bytes=upload_bytes,
        bid_columns=USUAL_NAMES,
        brief=make_brief_offer() if briefs else None,
    )


def _field(name: str, goal: Goal) -> MechanismField:
    """Return a field with what a goal allows of it."""
    allowed, number = goal.values(name), name in RANGES
    some = not isinstance(allowed, Between) and (name in CHOICES or name in goal.allowed)
    default = goal.nearest(Mechanisms.stack([Mechanism()]))[0]
    return MechanismField(
        name=name,
        kind="choice" if name in CHOICES else "number" if number else "flag",
        choices=list(allowed) if some else None,
        low=min(allowed) if number else None,
        high=max(allowed) if number else None,
        default=getattr(default, name),
        meaning=EFFECTS[name],
    )


def _population(name: str, catalogue: Catalogue) -> PopulationOnOffer:
    settings = catalogue.populations[name]
    population = settings.in_market(settings.markets[0])
    strategic = settings.strategic
    asked = catalogue.asked_market if name == ASKED_POPULATION else None
    types = [
        TypeOnOffer(name=kind, share=each.share, menu=list(each.menu))
        for kind, each in (strategic.types.items() if strategic and not asked else ())
    ]
    return PopulationOnOffer(
        name=name,
        stage=population.stage,
        bidders=population.bidders,
        units=strategic.units if strategic else 1,
        ranges=strategic.ranges.of(SIZES + TRAITS) if strategic else {},
        types=types,
        markets=[each for each in catalogue.markets if name in catalogue.playable(each)],
        asked=None if asked is None else _bidders(asked),
    )


def _bidders(asked: AskedMarket) -> AskedBidders:
    rules = [
        NamedRules(name=name, mechanism=WireMechanism(**each.to_dict()))
        for name, each in asked.rules.items()
    ]
    return AskedBidders(model=asked.model, recorded=asked.recorded, rules=rules)


def make_brief_offer() -> BriefOffer:
    """Return every meaning that a sentence of a brief may have, in words for the page."""
    return BriefOffer(longest=LONGEST_BRIEF, meanings=[_meaning(name) for name in MEANINGS])


def _meaning(name: str) -> BriefMeaning:
    meaning, (kind, _, value) = MEANINGS[name], name.partition("/")
    words = value.replace("_", " ").replace("vcg", "VCG")
    text = _BRIEF_MEANINGS.get(name) or _BRIEF_KINDS[kind].format(words)
    low, high = RANGES[meaning.bounded] if meaning.bounded else (0.0, 1.0)
    takes = meaning.takes_amount
    return BriefMeaning(
        name=name, meaning=text, low=low if takes else None, high=high if takes else None
    )
