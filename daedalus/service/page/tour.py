"""The guided tour: at each stop one sees an attack hurt, and a change of the mechanism stop it.

``python run.py +experiment=tour`` measures every stop; the texts state only its findings.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.service.openenv.messages import WireMechanism
from daedalus.service.page.page_messages import TourStop

_USUAL: dict[str, Any] = {"market": "fresh", "n_agents": None, "shown": 4, "compared": 4}
"""Fields that a stop may leave out; the bidders of the market ``fresh`` are unspoilt."""


def stop_of(hurt: Mechanism, changes: dict[str, Any], **told: Any) -> TourStop:
    """Return a stop: first the mechanism invites an attack, then a changed one stops it.

    Args:
        hurt: The mechanism that invites the attack.
        changes: One or two fields and their new values, which stop the attack.
        **told: The other fields of ``TourStop``.

    Raises:
        MechanismError: A change is to something out of range.
    """
    rules = WireMechanism(**hurt.to_dict())
    fixed = WireMechanism(**replace(hurt, **changes).to_dict())
    changed = [name for name in FIELDS if name in changes]
    return TourStop(hurt=rules, fixed=fixed, changed=changed, **(_USUAL | told))


def tour(
    populations: Collection[str], markets: Collection[str], goal: Goal = ANYTHING
) -> list[TourStop]:
    """Return the stops in order whose population and market are on offer, and rules allowed."""
    return [
        stop
        for stop in STOPS
        if stop.population in populations
        and stop.market in markets
        and goal.admits(stop.hurt.to_mechanism())
        and goal.admits(stop.fixed.to_mechanism())
    ]


STOPS = (
    stop_of(
        name="bid_shading",
        title="Bid shading",
        population="stage1",
        seed=91,
        hurt=Mechanism(auction_type="first_price"),
        changes={"auction_type": "second_price"},
        attack="In a first-price auction winners pay what they bid. A bidder who bids below its "
        "value keeps the difference; this is called shading. Six of these eight bidders bid "
        "exactly their value, so they gain nothing when they win. The other two shade, and they "
        "take all the gains.",
        watch="F sinks from step to step, while W and the price hardly move. The units still go "
        "to nearly the right bidders, but only the shaders gain. Look at the outlines, too: they "
        "are the values.",
        seen="Bidder 7 bids less than its value and wins. The other two winners pay all that a "
        "unit is worth to them.",
        shown=1,
        compared=2,
        contrast="With the new rules F recovers, and R rises with it. Winners no longer pay their "
        "full bid, but the highest bid that lost.",
        fix="In a second-price auction everybody pays the highest losing bid. Your bid decides "
        "whether you win, but hardly ever what you pay. So honest bidders gain as much as "
        "shaders, and shading stops paying. The cost is an eighth of the revenue.",
        lesson="Where winners pay what they bid, bidders hide their values and honest ones gain "
        "nothing. Let winners pay the highest losing bid; the cost is some revenue.",
    ),
    stop_of(
        name="collusion",
        title="Collusion: a ring",
        population="weak_ring",
        seed=183,
        hurt=Mechanism(
            reserve_price=0.0,
            reveal_reserve=True,
            reveal_winner_identity=True,
            reveal_bid_distribution=True,
        ),
        changes={"coalition_policy": "restrict"},
        attack="All eight bidders belong to one ring. In each round they draw lots for the two "
        "members who may buy the two units. The other six do not compete, so the price falls to "
        "nothing. A member could break the deal and win too. But winners are named, so the ring "
        "would probably notice.",
        watch="Watch the price and the revenue. Within three steps both are 0, six bidders bid "
        "nothing, and P is 2 of 8. W falls as well, because a lot does not find the highest "
        "values.",
        seen="Only the two members on whom the lot fell bid, and they pay nothing. Some of the "
        "others value a unit more.",
        contrast="With the new rules, rounds with eight real bids come back between the rounds of "
        "the ring.",
        fix="Under restrict, rings must declare themselves, and a declared ring bids like "
        "everybody else. The market assumes that in four rounds of ten the ring stays secret "
        "and works on. Nobody is fined, so nobody is fined by mistake. The cost: every bidder "
        "must name its partners, which makes entry a little dearer, so now and then one who "
        "expects little stays away.",
        lesson="A ring shares the goods and keeps the price at nothing. Make rings declare "
        "themselves; the cost is a form for every bidder.",
    ),
    stop_of(
        name="strategic_dropout",
        title="Walking away",
        population="stage2",
        seed=295,
        hurt=Mechanism(),
        changes={"withdrawal_penalty": 1.0},
        attack="Two of the eight bidders can buy elsewhere, which would gain them 0.15 a unit. "
        "Still they bid here, too. If they win and would gain less here, they walk away, at no "
        "cost. The unit goes to nobody, although others had bid for it.",
        watch="Look for winning bids without a delivery, and watch W and S. W drops in every "
        "round with a wasted unit, and S measures how much W jumps.",
        seen="Bidder 7 has won and walked away, so W is 0.68. At this price a unit would gain "
        "it 0.10 here; elsewhere it gains 0.15.",
        shown=2,
        contrast="With the new rules nearly every unit is delivered, and W, S and revenue rise. "
        "In this round the old rules waste two of the three units, and the new rules none.",
        compared=3,
        fix="A fine is a quarter of the penalty, so walking away now costs 0.25. That is more "
        "than the 0.15 to gain elsewhere. The cost: one win in 25 proves worthless, and an "
        "honest buyer who gives it back is fined as well. A higher penalty does less good, "
        "because it makes winning a risk for everybody.",
        lesson="Winners who walk away waste what others would have bought. Fine them; the cost is "
        "that some honest buyers are fined as well.",
    ),
    stop_of(
        name="false_stability",
        title="False stability",
        population="exploiter_heavy",
        seed=238,
        hurt=Mechanism(
            reserve_price=0.18,
            reveal_winner_identity=True,
            reveal_clearing_price=False,
            shill_penalty=1.2,
            withdrawal_penalty=0.6,
            collusion_penalty=1.9,
            coalition_policy="penalize_suspected",
        ),
        changes={"reveal_clearing_price": True, "coalition_policy": "allow"},
        attack="Here nobody attacks; the rules do the harm. They look safe: no ring shows, and on "
        "average each step is only a little worse than the last. But about one winner in 25 is "
        "fined on mere suspicion. Prices are secret, so bidders who left hear nothing that could "
        "bring them back. They leave one by one, too slowly for S, which looks back five rounds.",
        watch="Compare P and R with S. The first steps show nothing wrong. Over ten steps P loses "
        "two fifths and R three fifths, averaged over markets. S goes up and down as in every "
        "market, and loses one fifth. Each window of five rounds is much like the last. So look "
        "at the trend, and at the missing bidders.",
        seen="Four of the eight seats are empty. To one of the absent bidders a unit was worth "
        "more than the price.",
        compared=2,
        contrast="With the old rules about half of the seats stay empty. With the new rules "
        "bidders return, and P and R rise.",
        fix="Nobody colludes here, so all fines hit innocent bidders. Without fines, entry pays "
        "again. With the price shown, the bidders outside see what they miss and return. The price "
        "alone does two thirds of what both changes do, the policy alone one third. The cost: "
        "where a ring did collude, it would now go free.",
        lesson="Fines on suspicion hit honest bidders, and they leave one by one. Fine nobody and "
        "show the price; the cost is that a real ring would go free.",
    ),
    stop_of(
        name="transparency_paradox",
        title="The transparency paradox",
        population="weak_ring",
        seed=137,
        hurt=Mechanism(reveal_winner_identity=True),
        changes={"reveal_winner_identity": False},
        attack="Disclosure makes entry easier, because bidders come where they can judge the "
        "market. It also serves the ring of the second stop. If winners are named, the members "
        "see which of them broke the deal, so hardly any member dares to. The ring is strongest "
        "where everything looks clean.",
        watch="Watch the price and P, which fall within three steps. Two bids are real. Six "
        "are for show, far below, and do not count as participation.",
        seen="Bidders 1 and 3 bid what a unit is worth to them, and win. The others bid for show, "
        "far below their values, so the price is 0.14.",
        shown=1,
        contrast="With the new rules members break the deal, and bids compete again. After the "
        "tour, hide the price as well: some of the gain is lost, because the bidders outside hear "
        "nothing.",
        fix="With hidden winners, breaking the deal is worth the risk. A breach comes to light "
        "one time in ten, instead of more than one in two. A broken deal often stays broken for "
        "ten rounds. The cost: bidders come where they can judge a market, so hiding the "
        "winners keeps some away. Here more come back than stay away, because the ring ends.",
        lesson="Named winners show a ring which member broke its deal. Hide the winners; the cost "
        "is that a market which tells less attracts fewer bidders.",
    ),
    stop_of(
        name="false_names",
        title="One more: false names",
        population="exploiter_heavy",
        seed=275,
        hurt=Mechanism(reveal_competing_bids=True),
        changes={"auction_type": "first_price"},
        attack="Four of the eight are exploiters. They also bid under a false name, just below "
        "or just above the price that they expect. Published bids help them to guess it. A "
        "false bid that just loses raises the price that the winners pay. The seller earns more "
        "by it and pays the exploiter a part. If a false name wins by mistake it walks away, "
        "and the unit is wasted.",
        watch="Look at the bids under false names among the real ones, and at the units that "
        "nobody gets. W and S are low. The exploiters learn that it pays less than expected, so R "
        "climbs slowly by itself.",
        seen="Bidder 5 wins nothing, but its false name sets the price, 0.67; the next bid drawn "
        "is 0.62. In round 5 of this step a false name wins by mistake, and its unit goes to "
        "nobody.",
        shown=1,
        compared=1,
        contrast="With the new rules there are no false names at all, and R rises.",
        fix="In first price everybody pays its own bid, so a false bid changes nobody's price. "
        "The cost: every bidder must now guess how far below its value to bid, and who guesses "
        "wrongly loses a unit that it valued more. At the first stop only two could shade; here "
        "all can, so none is robbed. No format is best against every attack.",
        lesson="False bids raise the price that others pay. Let winners pay their own bid; the "
        "cost is that bidders shade.",
    ),
)
"""The five attacks of the published system, and one more of the strategic market."""
