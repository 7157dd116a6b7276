"""The guided tour: markets in which one sees an attack hurt, and a rule that mends it.

``python run.py +experiment=tour`` measures every stop; the texts say no more than it finds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from typing import Any

from daedalus.market.interface import MARKETS
from daedalus.market.mechanism import FIELDS, Mechanism

MOST_CHANGES = 2
LONGEST_TEXT = 480  # characters, about five lines of a page


@dataclass(frozen=True)
class Stop:
    """A market to watch under rules that invite an attack, then under rules that do not.

    Attributes:
        name: What addresses it, in lower case and underscores.
        title: What a reader calls it.
        population: Who bids: a name that the service has on offer.
        seed: Seed of the episode, a typical one: of 0 to 399 that whose rewards, with the rules
            changed half-way and without, run closest to the average, among those on which the
            change gains between the quartiles, over before and over staying.
        hurt: The rules that the attack feeds on.
        changes: One or two fields and their new values, which mend it.
        attack: What is done, and why it pays, for who has never heard of mechanism design.
        watch: What to look at, in terms of what a page shows.
        fix: Why the changed rules work, and what they cost.
        market: Which market is played, one of ``MARKETS``.
        n_agents: Number of bidders; None is as many as the population has.

    Raises:
        ValueError: A text is missing or too long, or the changes are not one or two.
        MechanismError: A change is to something out of range.
    """

    name: str
    title: str
    population: str
    seed: int
    hurt: Mechanism
    changes: dict[str, Any]
    attack: str
    watch: str
    fix: str
    market: str = "strategic"
    n_agents: int | None = None

    def __post_init__(self) -> None:
        for field in ("title", "attack", "watch", "fix"):
            length = len(getattr(self, field))
            if not 0 < length <= LONGEST_TEXT:
                raise ValueError(f"{field}: {length} characters; write 1 to {LONGEST_TEXT}")
        if self.market not in MARKETS:
            known = ", ".join(MARKETS)
            raise ValueError(f"market: {self.market!r}; choose one of {known}")
        if not 1 <= len(self.changed) == len(self.changes) <= MOST_CHANGES:
            raise ValueError(f"changes: {self.changes}; change one or two fields of {self.hurt}")

    @property
    def fixed(self) -> Mechanism:
        """Return the rules that mend it."""
        return replace(self.hurt, **self.changes)

    @property
    def changed(self) -> list[str]:
        """Return the fields in which the two differ, in schema order."""
        return [name for name in FIELDS if getattr(self.hurt, name) != getattr(self.fixed, name)]

    def to_dict(self) -> dict[str, Any]:
        """Return the stop as JSON has it, with both mechanisms in full."""
        told = asdict(self) | {"fixed": self.fixed.to_dict(), "changed": self.changed}
        del told["changes"]
        return told


def tour(populations: Collection[str] | None = None) -> list[Stop]:
    """Return the stops in order; given the populations on offer, only those that can be visited."""
    return [stop for stop in STOPS if populations is None or stop.population in populations]


STOPS = (
    Stop(
        name="bid_shading",
        title="Bid shading",
        population="stage1",
        seed=91,
        hurt=Mechanism(auction_type="first_price"),
        changes={"auction_type": "second_price"},
        attack="In a first-price auction winners pay what they bid, so whoever bids below its "
        "value keeps the difference. Six of these eight bidders bid just what a unit is worth to "
        "them, and gain nothing when they win. Two shade, and all that there is to gain goes to "
        "them.",
        watch="F, which sinks from step to step while W and the price hardly move: the units still "
        "reach nearly the right hands, but only the shaders gain. After the change F recovers and "
        "R with it. Revenue falls by an eighth, since winners no longer pay all that they bid.",
        fix="In a second-price auction everybody pays the highest losing bid. What you bid then "
        "decides whether you win and hardly ever what you pay, so the honest gain as much as the "
        "crafty, and shading stops paying.",
    ),
    Stop(
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
        attack="All eight bidders belong to one ring. In each round they draw lots for who may buy "
        "the two units, and the other six stand aside, so that the price falls to nothing. A "
        "member that bid against the lot could win, too, but winners are named, and it would "
        "likely be found out.",
        watch="The price and the revenue: within three steps both are 0, six bidders bid nothing, "
        "and P is 2 of 8. W falls as well, since a lot does not find who values a unit most. After "
        "the change rounds with eight real bids come back between those of the ring.",
        fix="Under restrict rings must declare themselves, and in this market that leaves a ring "
        "four rounds in ten. Nobody is fined, so nobody is fined by mistake; its cost is a form "
        "that every bidder fills in, which makes entering a little dearer.",
    ),
    Stop(
        name="strategic_dropout",
        title="Walking out",
        population="stage2",
        seed=295,
        hurt=Mechanism(),
        changes={"withdrawal_penalty": 1.0},
        attack="Two of the eight can buy elsewhere, which would gain them 0.15 a unit. They bid "
        "all the same, and after winning they walk away, at no cost, if the sale gains them less. "
        "The unit goes to nobody, though others had bid for it.",
        watch="Winning bids without a delivery, and W and S: W drops in every round in which a "
        "unit is wasted, and S measures how much W jumps. After the change deliveries are nearly "
        "complete, and W, S and revenue rise.",
        fix="At a penalty of 1.0 walking away costs 0.25 a unit, more than the 0.15 to be had "
        "elsewhere. A higher penalty does less good: one win in 25 proves worthless, and honest "
        "buyers who give it back are fined, too.",
    ),
    Stop(
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
        attack="Strict rules that look safe: no ring shows, and on average each step is only a "
        "little worse than the last. But winners are fined on mere suspicion, about one in 25, and "
        "while prices are secret those who have left hear nothing that could bring them back. So "
        "bidders leave one by one, too slowly for S, which looks back five rounds.",
        watch="P and R against S. The first steps show nothing wrong. Over ten, P loses two "
        "fifths and R three, averaged over markets. S goes up and down as it does everywhere, and "
        "loses one: each window of five rounds is much like the last. Look at the trend, and at "
        "who is missing.",
        fix="Here nobody colludes, so all those fines hit the innocent; without them entering pays "
        "again. And with the price shown, those outside see what they miss and return. Changed "
        "half-way, the price alone does two thirds of what both do, the policy alone one.",
    ),
    Stop(
        name="transparency_paradox",
        title="The transparency paradox",
        population="weak_ring",
        seed=137,
        hurt=Mechanism(reveal_winner_identity=True),
        changes={"reveal_winner_identity": False},
        attack="Openness makes entering easier: bidders come where they can judge the market. It "
        "also serves the ring of the second stop. If winners are named, its members see who broke "
        "the deal, so hardly anybody dares to; the ring is at its strongest where everything looks "
        "clean.",
        watch="The price and P, which fall within three steps: two bids are real and six are for "
        "show, far below. Hide the winner and deals break, so that bids compete again. Then hide "
        "the price, too: some of the gain is lost, since those outside hear nothing.",
        fix="Unseen, breaking the deal is worth the risk: a breach comes to light one time in ten "
        "instead of more than one in two, and a broken deal often stays off for ten rounds. So "
        "reveal prices, which draw bidders in, and hide winners, which serve the ring.",
    ),
    Stop(
        name="false_names",
        title="Beside the five: false names",
        population="exploiter_heavy",
        seed=46,
        hurt=Mechanism(reveal_competing_bids=True),
        changes={"auction_type": "first_price"},
        attack="Four of the eight also bid under a false name, just below the price that they "
        "expect or just above it, which published bids help to guess. That drives up what others "
        "pay, and the seller gives them a share. If a false name wins by mistake it walks away, "
        "and the unit is wasted.",
        watch="The bids under false names among the real ones, and the units that nobody gets: W "
        "and S are low. The cheats learn that it pays less than they hoped, so that R climbs "
        "slowly by itself; after the change there are no false names at all, and it jumps.",
        fix="In first price everybody pays its own bid, and a false one beside it moves nobody's "
        "price. Bidders shade instead. That hurt the honest at the first stop; here all who bid "
        "can shade, and none is robbed. No format is best against everybody.",
    ),
)
"""The five attacks, and one that this market has beside them."""
