"""A mechanism for the bidders of a log, and what it earns beside the one in force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.objective import episode_scores
from daedalus.lab.bids.estimated_population import population_of, scale_of
from daedalus.lab.bids.estimator import (
    RESERVE,
    Estimate,
    Estimator,
    over_classes,
    revenue_curve,
)
from daedalus.lab.bids.potential import binds
from daedalus.lab.bids.settings import ASCENDING, FIRST_PRICE, SECOND_PRICE
from daedalus.lab.theory.distributions import Numbers
from daedalus.lab.theory.formats import FORMATS_WITH_THEORY, pays_own_bid
from daedalus.market.interface import MarketSettings
from daedalus.market.literals import AuctionType
from daedalus.market.mechanism import (
    FIELDS,
    RANGES,
    Mechanism,
    Mechanisms,
    mechanism_from_mapping,
)

MULTIPLES = np.concatenate(
    [np.round(np.arange(0.0, 5.001, 0.02), 2), np.round(np.geomspace(5.0, 1000.0, 269)[1:], 1)]
)
"""Reserves that are compared, as multiples of the base, shape (M,): in hundredths, then in 2 %."""

INDIFFERENT = 0.001
"""Share of the reward that is not worth a change."""

PLAYED = 20
"""Most bootstrap samples in which a mechanism is played, if theory does not tell its reward."""

_IN_MARKET: dict[str, AuctionType] = {
    FIRST_PRICE: "first_price",
    SECOND_PRICE: "second_price",
    ASCENDING: "second_price",
}
_HIGHEST = RANGES["reserve_price"][1]
_RESERVES = 24
_RAISED = 1.2


@dataclass(frozen=True)
class EstimatedMarkets:
    """The markets of an estimate: one for each number of bidders that the log has.

    Attributes:
        estimate: Values and numbers of bidders.
        settings: The market, and the shape of an episode.
        reward: What is to be maximised.
        seed: Seed of the run.
    """

    estimate: Estimate
    settings: MarketSettings
    reward: RewardStack
    seed: int

    @cached_property
    def envs(self) -> dict[int, DesignEnv]:
        """Return the environment of each number of bidders."""
        values = self.estimate.values
        return {
            size: DesignEnv.of(self.settings, population_of(values, size), self.reward)
            for size in self.estimate.shares
        }

    @property
    def scale(self) -> float:
        """Return how many levels the market's 1 is."""
        return scale_of(self.estimate.values)

    @property
    def in_money(self) -> bool:
        """Return whether the reward is revenue alone, and so in the money of the log."""
        return self.reward.active == {"revenue": 1.0}

    @property
    def worth(self) -> Numbers:
        """Return what a reward of 1 in a sale of level 1 is worth in each class, shape (C,)."""
        return self.estimate.worth if self.in_money else np.ones(len(self.estimate.worth))

    def is_exact(self, mechanism: Mechanism) -> bool:
        """Return whether theory tells what a mechanism earns (Myerson 1981).

        It does so for all formats of ``FORMATS_WITH_THEORY``. A secret reserve matters in first
        price alone, and the market must be as in textbooks.
        """
        if mechanism.auction_type not in FORMATS_WITH_THEORY:
            return False
        told = mechanism.reveal_reserve or not pays_own_bid(mechanism.auction_type)
        return told and self.in_money and self.settings.strategic.shock_rate == 0

    def scores(self, mechanisms: Mechanisms, episodes: int, purpose: str) -> Numbers:
        """Return the mean reward of mechanisms in a sale of level 1, shape (B,).

        Args:
            mechanisms: B mechanisms. Their reserves are in units of the market.
            episodes: Episodes for each number of bidders.
            purpose: Keys the markets.
        """
        total = np.zeros(len(mechanisms))
        for size, env in self.envs.items():
            found = episode_scores(env, mechanisms, episodes, self.seed, f"{purpose}/{size}")
            total += self.estimate.shares[size] * found.mean(axis=1)
        return total * (self.scale if self.in_money else 1.0)

    def at(self, mechanism: Mechanism, reserves: Numbers) -> Mechanisms:
        """Return a mechanism at each of some reserves in levels, shape (R,)."""
        rows = Mechanisms.repeat(mechanism, len(reserves))
        return rows.with_columns(reserve_price=np.minimum(reserves / self.scale, _HIGHEST))

    def rewards(
        self, mechanism: Mechanism, episodes: int, purpose: str, by_theory: bool = True
    ) -> Numbers:
        """Return what a mechanism earns in a sale at each of ``MULTIPLES``, shape (M,).

        Args:
            mechanism: The mechanism; its reserve is not taken.
            episodes: Episodes for each number of bidders, if theory does not tell.
            purpose: Keys the markets.
            by_theory: Whether theory is asked before the market.
        """
        if by_theory and self.is_exact(mechanism):
            grid = self.estimate.values
            curve = revenue_curve(grid, self.estimate.shares)
        else:
            grid = self._grid()
            curve = self.scores(self.at(mechanism, grid), episodes, purpose)
        return over_classes(self.estimate.bases, self.worth, MULTIPLES, grid, curve)

    def _grid(self) -> Numbers:
        """Return reserves in levels, rising from 0, that are close where values are, shape (R,)."""
        highest, values = _HIGHEST * self.scale, self.estimate.values
        at = np.linspace(0, len(values) - 1, _RESERVES - 1).round().astype(int)
        return np.union1d([0.0], np.minimum(values[at], highest))


@dataclass(frozen=True)
class Policy:
    """A mechanism whose reserve is a multiple of the base of each sale.

    Attributes:
        mechanism: All fields but the reserve.
        multiple: Reserve as a multiple of the base; 0 is none.
    """

    mechanism: Mechanism
    multiple: float


@dataclass(frozen=True)
class Mixture:
    """Mechanisms that a designer plays, with their shares; bidders do not learn, so they add up.

    Attributes:
        mechanisms: N mechanisms.
        shares: Their shares, shape (N,).
        reserves: Their reserves in levels, shape (N,).
    """

    mechanisms: Mechanisms
    shares: Numbers
    reserves: Numbers

    @classmethod
    def of_one(cls, mechanism: Mechanism, scale: float) -> Mixture:
        """Return a mechanism that was found in a market whose 1 is ``scale`` levels."""
        reserves = np.array([mechanism.reserve_price * scale])
        return cls(Mechanisms.stack([mechanism]), np.ones(1), reserves)

    @classmethod
    def of_steps(cls, steps: pd.DataFrame, scale: float) -> Mixture:
        """Return the well-formed proposals among the rows of ``play_episodes``, in hundredths."""
        valid = steps[steps["valid"]].round({"reserve_price": 2})
        counted = valid.groupby(list(FIELDS), sort=False).size().reset_index(name="count")
        rows = counted[list(FIELDS)].to_dict("records")
        chosen = [mechanism_from_mapping({str(k): v for k, v in row.items()}) for row in rows]
        shares = counted["count"].to_numpy(np.float64) / len(steps)
        reserves = counted["reserve_price"].to_numpy(np.float64) * scale
        return cls(Mechanisms.stack(chosen), shares, reserves)

    @property
    def words(self) -> str:
        """Return its most frequent mechanism in words, with the reserve in usual bids."""
        if not len(self.shares):
            return "no well-formed mechanism"
        first = int(np.argmax(self.shares))
        often = "" if len(self.shares) == 1 else f" in {100 * self.shares[first]:.0f} % of answers"
        name = str(self.mechanisms[first].auction_type)
        kind = "second price" if name == "vcg" else name.replace("_", " ")  # one good is sold
        return f"{kind}, reserve {self.reserves[first]:.2f} times the sale's level{often}"

    def reward(self, markets: EstimatedMarkets, episodes: int, purpose: str) -> float:
        """Return the mean reward in a sale whose level the designer knows."""
        rows = [self.mechanisms[row] for row in range(len(self.mechanisms))]
        if all(markets.is_exact(each) for each in rows):
            curve = revenue_curve(markets.estimate.values, markets.estimate.shares)
            scores = np.interp(self.reserves, markets.estimate.values, curve)
        else:
            reserves = np.minimum(self.reserves / markets.scale, _HIGHEST)
            mechanisms = self.mechanisms.with_columns(reserve_price=reserves)
            scores = markets.scores(mechanisms, episodes, purpose)
        return float(self.shares @ scores * markets.worth.mean())


def policy_in_force(estimator: Estimator) -> Policy:
    """Return the policy of the log: its format, with a reserve that is told if it has one."""
    mechanism = Mechanism(
        auction_type=_IN_MARKET[estimator.settings.format], reserve_price=0.0, reveal_reserve=True
    )
    return Policy(mechanism, float(estimator.base == RESERVE))


def without_idle_changes(
    mechanism: Mechanism, in_force: Mechanism, markets: EstimatedMarkets, episodes: int
) -> Mechanism:
    """Return a mechanism without its changes that gain next to nothing.

    The reserve stays; other fields go back to those of ``in_force``.
    """

    def score(tried: Mechanism) -> float:
        return Mixture.of_one(tried, markets.scale).reward(markets, episodes, "settle")

    least, kept = score(mechanism) * (1.0 - INDIFFERENT), mechanism
    unchanged = replace(in_force, reserve_price=mechanism.reserve_price)
    if score(unchanged) >= least:
        return unchanged
    for name in FIELDS[::-1]:  # what is told before the format, which may depend on it
        tried = replace(kept, **{name: getattr(unchanged, name)})
        if tried != kept and score(tried) >= least:
            kept = tried
    return kept


@dataclass(frozen=True)
class Judgement:
    """What mechanisms earn in a sale under one estimate.

    Attributes:
        in_force: Reward of the mechanism in force at each of ``MULTIPLES``, shape (M,).
        designed: The same of the mechanism that was designed.
        others: Reward of other designers, by name.
        ends: The same for the lowest and the highest values that bids allow, if they tell bounds.
    """

    in_force: Numbers
    designed: Numbers
    others: dict[str, float]
    ends: tuple[Judgement, ...] = ()

    @classmethod
    def of(
        cls, markets: EstimatedMarkets, in_force: Mechanism, designed: Mechanism,
        others: dict[str, Mixture], episodes: int, purpose: str,
    ) -> Judgement:  # fmt: skip
        """Return what mechanisms earn; see ``EstimatedMarkets.rewards``.

        If theory does not tell one of them, both are played, in the same markets.
        """
        exact = all(markets.is_exact(each) for each in (in_force, designed))
        first = second = markets.rewards(in_force, episodes, purpose, exact)
        if designed != in_force:
            second = markets.rewards(designed, episodes, purpose, exact)
        found = {name: each.reward(markets, episodes, purpose) for name, each in others.items()}
        estimate = markets.estimate
        bounds = (estimate.low, estimate.high) if estimate.has_bounds else ()
        worlds = [replace(markets, estimate=estimate.with_values(each)) for each in bounds]
        ends = [cls.of(each, in_force, designed, others, episodes, purpose) for each in worlds]
        return cls(first, second, found, tuple(ends))


def judgements_in(
    sampled: Sequence[EstimatedMarkets],
    in_force: Mechanism,
    designed: Mechanism,
    others: dict[str, Mixture],
) -> list[Judgement]:
    """Judge mechanisms under several estimates; under ``PLAYED``, if they have to be played."""
    exact = all(sampled[0].is_exact(each) for each in (in_force, designed))
    chosen = sampled if exact else sampled[:PLAYED]
    progress = tqdm(chosen, "judging", leave=False, disable=None)
    return [
        Judgement.of(markets, in_force, designed, others, 1, f"judge/{number}")
        for number, markets in enumerate(progress)
    ]


@dataclass(frozen=True)
class Verdict:
    """What to set, and what it gains.

    Attributes:
        policy: The policy that was designed.
        in_force: The policy in force.
        reward: Mean reward of a sale under the policy in force.
        gain: What the designed policy gains on it.
        interval: Interval of this gain over the bootstrap samples; see ``ends_of``.
        best: Interval of the best multiple over the bootstrap samples.
        at_best: Mean reward of a sale at both ends of that interval.
        as_good: Lowest and highest multiple around the designed one between which all bring as
            much, but for ``INDIFFERENT``.
        raised: Change of the reward, with its interval, if the reserve in force is raised by a
            fifth; 0 if there is none.
        unseen: Whether the designed reserve is below those in force, where the log has no bids.
        change: Whether the change is recommended.
        samples: Number of the bootstrap samples behind the intervals.
        required: Whether the policy in force is not allowed, so that the change is due.
    """

    policy: Policy
    in_force: Policy
    reward: float
    gain: float
    interval: tuple[float, float]
    best: tuple[float, float]
    at_best: tuple[float, float]
    as_good: tuple[float, float]
    raised: tuple[float, float, float]
    unseen: bool
    change: bool
    samples: int
    required: bool = False

    @classmethod
    def of(
        cls, in_force: Policy, designed: Mechanism, judgement: Judgement,
        samples: Sequence[Judgement], estimator: Estimator, confidence: float,
        permitted: NDArray[np.bool_] | None = None, required: bool = False,
    ) -> Verdict:  # fmt: skip
        """Return what to set: the best reserve of the designed mechanism, if it surely gains.

        Args:
            in_force: The policy in force.
            designed: The mechanism that was designed.
            judgement: Rewards under the estimate.
            samples: Rewards under the estimates of bootstrap samples.
            estimator: The log.
            confidence: Confidence of the intervals.
            permitted: Which of ``MULTIPLES`` may be set, shape (M,); None if all may.
            required: Whether a change is due whatever it brings, as the policy in force is not
                allowed.
        """

        def of_permitted(rewards: Numbers) -> Numbers:
            return rewards if permitted is None else np.where(permitted, rewards, -np.inf)

        designs = of_permitted(judgement.designed)
        at, now = int(np.argmax(designs)), place_of(in_force.multiple)
        more = place_of(_RAISED * in_force.multiple)

        def told(each: Judgement) -> Numbers:
            """Return the gain, the best multiple, and what a raised reserve changes."""
            best = MULTIPLES[np.argmax(of_permitted(each.designed))]
            today = each.in_force[now]
            return np.array([each.designed[at] - today, best, each.in_force[more] - today])

        gain, _, raised = told(judgement).tolist()
        reward = float(judgement.in_force[now])
        (low, high), best, around = map(tuple, ends_of(samples, told, confidence).T.tolist())
        worst, most = (float(judgement.designed[place_of(each)]) for each in best)
        unseen = estimator.base == RESERVE and at < now and is_binding(estimator)
        surely = low > 0 and not unseen and gain > INDIFFERENT * abs(reward)
        policy = Policy(designed, float(MULTIPLES[at]))
        return cls(
            policy, in_force, reward, gain, (low, high), best, (worst, most),
            _as_good(designs, at), (raised, *around), unseen, bool(surely or required),
            len(samples), required,
        )  # fmt: skip


def _as_good(rewards: Numbers, at: int) -> tuple[float, float]:
    """Return the ends of the multiples around one between which all bring as much as it."""
    worse = np.flatnonzero(rewards < rewards[at] - INDIFFERENT * abs(rewards[at]))
    low, high = worse[worse < at], worse[worse > at]
    first = int(low[-1]) + 1 if len(low) else 0
    last = int(high[0]) - 1 if len(high) else len(MULTIPLES) - 1
    return float(MULTIPLES[first]), float(MULTIPLES[last])


def interval_of(numbers: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the percentile interval of bootstrap samples."""
    low, high = np.quantile(np.array(numbers), tails(confidence))
    return float(low), float(high)


def tails(confidence: float) -> list[float]:
    """Return the levels of both ends of an interval."""
    return [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]


def ends_of(
    samples: Sequence[Judgement], of: Callable[[Judgement], float | Numbers], confidence: float
) -> Numbers:
    """Return both ends of the percentile interval of numbers over bootstrap samples, (2, ...).

    Where bids tell bounds of values, it reaches over their lowest, middle and highest values.
    """
    drawn = np.array([[of(each) for each in (sample, *sample.ends)] for sample in samples])
    low, high = np.quantile(drawn, tails(confidence), axis=0)
    return np.array([low.min(axis=0), high.max(axis=0)])


def place_of(multiple: float) -> int:
    """Return where a multiple stands in ``MULTIPLES``."""
    return int(np.argmin(abs(MULTIPLES - multiple)))


def is_binding(estimator: Estimator) -> bool:
    """Return whether next to no bid is below its reserve, so that such bids did not count."""
    log = estimator.log
    return log.reserves is not None and binds(log.bids, log.reserves[log.sale])
