"""What a brief rules of the sales of a log, what each rule costs, and what a log cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.clauses import Clause, Understanding, rules_of, understand
from daedalus.design.briefs.named import BESIDE
from daedalus.lab.bids.verdict import MULTIPLES, EstimatedMarkets, Policy, place_of
from daedalus.market.allowed import Allowed, Between
from daedalus.market.goal import Goal

TOLD = ("auction_type", "reserve_price", "reveal_reserve")
"""Fields of which a log of single sales tells what they bring."""
_OF_BIDDERS = "the log itself says who bids"
_OF_MEANS = "a log does not show this mean"
_OF_OTHERS = "bids of single sales do not tell what follows from it"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class BriefRules:
    """The rules of a brief that hold for the sales of a log.

    A reserve is named as a share of the top value. In a log this is the highest value of the
    estimate in a typical sale.

    Attributes:
        understood: What was understood of the brief; nothing if there is none.
        aim: What is maximised, by term, whatever the brief says.
    """

    understood: Understanding
    aim: Mapping[str, float]

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Return the sentences that rule a field of which a log tells."""
        return tuple(each for each in self.understood.clauses if self._rules(each))

    @cached_property
    def goal(self) -> Goal:
        """Return what may be set."""
        allowed = self.understood.allowed
        return Goal(allowed={name: allowed[name] for name in TOLD if name in allowed})

    @property
    def unused(self) -> list[tuple[str, str]]:
        """Return the sentences that rule nothing here, each with the reason."""
        others = (each for each in self.understood.clauses if each not in self.clauses)
        reasons = [(each.sentence, self._reason(each)) for each in others]
        unread = [(each.sentence, self._why(each, why)) for each, why in self.understood.unread]
        excluded = [
            (each.second.sentence, f"it contradicts “{each.first.sentence}”")
            for each in self.understood.contradictions
        ]
        return [pair for pair in (*reasons, *unread, *excluded) if pair[1]]

    def without(self, clause: Clause) -> BriefRules:
        """Return the rules without one sentence."""
        rest = [each for each in self.understood.clauses if each is not clause]
        return BriefRules(understand(rest), self.aim)

    def keeps(self, clause: Clause, policy: Policy, markets: EstimatedMarkets) -> bool:
        """Return whether a policy keeps the rule of a sentence, in a typical sale.

        Without a reserve there is none to tell or to keep secret.
        """
        rules = self._rules(clause)
        reserve = rules.pop("reserve_price", None)
        if not policy.multiple:
            rules.pop("reveal_reserve", None)
        told = reserve is None or bool(_within(reserve, markets)[place_of(policy.multiple)])
        return told and Goal(allowed=rules).admits(policy.mechanism)

    def permitted(self, markets: EstimatedMarkets) -> NDArray[np.bool_]:
        """Return which of ``MULTIPLES`` are allowed, shape (M,): at least the nearest one."""
        reserve = self.goal.allowed.get("reserve_price")
        return np.ones(len(MULTIPLES), np.bool_) if reserve is None else _within(reserve, markets)

    def _rules(self, clause: Clause) -> dict[str, Allowed]:
        rules = rules_of(clause, self.understood.population)
        return {name: each for name, each in rules.items() if name in TOLD}

    def _why(self, clause: Clause, unread: str) -> str:
        """Return why a clause that was not understood rules nothing, or would not if it were."""
        return unread if unread != BESIDE or self._rules(clause) else self._reason(clause)

    def _reason(self, clause: Clause) -> str:
        parts = clause.parts
        if parts.population:
            return _OF_BIDDERS
        if parts.floor:
            return _OF_MEANS
        if aim := parts.aim or parts.also:
            told = f"reward= says what counts here; choose reward={aim} for it"
            return "" if dict(self.aim) == {aim: 1.0} else told
        return _OF_OTHERS


@dataclass(frozen=True)
class RuleCost:
    """A rule of a brief in the sales of a log.

    Attributes:
        sentence: The sentence.
        says: What it rules.
        today: Whether the policy in force keeps it: ``kept`` or ``broken``.
        cost: What the best policy without it brings more in a sale; below 0 it is chance.
        low, high: Interval of the cost over the bootstrap samples.
    """

    sentence: str
    says: str
    today: Literal["kept", "broken"]
    cost: float
    low: float
    high: float


@dataclass(frozen=True)
class BriefFindings:
    """What a report tells of a brief: its rules, and sentences that rule nothing, with reasons."""

    costs: Sequence[RuleCost]
    unused: Sequence[tuple[str, str]]


def _within(reserve: Allowed, markets: EstimatedMarkets) -> NDArray[np.bool_]:
    """Return which of ``MULTIPLES`` are allowed reserves in a typical sale, shape (M,)."""
    shares = MULTIPLES * float(np.median(markets.estimate.bases)) / markets.scale
    if isinstance(reserve, Between):
        allowed = (shares >= reserve.low - _ROUNDING) & (shares <= reserve.high + _ROUNDING)
    else:
        allowed = np.isin(np.round(shares, 9), np.round(np.array(reserve, np.float64), 9))
    if not allowed.any():
        middle = float(np.mean([float(each) for each in reserve]))
        allowed[np.argmin(abs(shares - middle))] = True
    return np.asarray(allowed, np.bool_)
