"""Values behind sealed bids when bidders know more of a sale than the log shows.

Values of a sale are exp(y) times private values, where y is normal and known to its bidders, so
bids are exp(y) times the bids at y = 0 (Krasnokutskaya 2011). She separates the two parts by
characteristic functions. Here they are estimated together by maximum likelihood: the quantile
function of private values is a monotone cubic through a number of knots that grows with the log (a
sieve, Chen 2007), and the equilibrium of each number of bidders gives the bids that it leads to.
Samples of sales are estimated by one Newton step from the estimate (the score bootstrap of Kline &
Santos 2012).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize, stats
from scipy.interpolate import PchipInterpolator

from daedalus.lab.bids.likelihood import CELLS, SealedBids, log_likelihoods
from daedalus.lab.bids.value_quantiles import LEVELS, Tables
from daedalus.lab.theory.distributions import Numbers

_FINE = np.concatenate([[1e-5, 1e-4, 1e-3], np.linspace(0.0, 1.0, 401)[1:]])
_TAIL = 0.05  # levels of the outermost pieces
_DEEPEST = 8.0  # logs from the highest bid down to where the table ends
_ROUGH = 1.5  # deviation of the log density from one piece to the next, before the log is seen
_VAGUE = 4.0  # deviation of the other parameters, in logs
_KNOWN = 0.02  # that of the common part's deviation, once all sales have told it
_USUAL = 0.2  # deviation of the common part, before the log is seen
_STEP = 1e-3  # of a parameter, for slopes
_FIRST = 1000  # sales of a long log that lead near the estimate
_ITERATIONS = 60
_GAIN = 1e-3  # of the log likelihood; less ends the search
_FARTHEST = 2.0  # most that a bootstrap sample moves a parameter
_LOWEST = 1e-4  # least height and rise of such a sample
_PARTS = 49
_ENDS = stats.norm.pdf(stats.norm.ppf(np.linspace(0.0, 1.0, _PARTS + 1)))
_NORMAL = _PARTS * -np.diff(_ENDS)  # mean of each of equally likely parts of a normal number


def knots(bids: int, factor: float = 1.0) -> Numbers:
    """Return the levels of the knots of the quantile function of values, rising from 0 to 1.

    Args:
        bids: Number of bids; pieces grow with its fifth root.
        factor: Factor of the smoothing: 2 halves the number of pieces.
    """
    pieces = max(round(1.2 * bids**0.2 / factor), 2)
    inner = np.linspace(_TAIL, 1.0 - _TAIL, pieces + 1)
    return np.concatenate([[0.0], inner, [1.0]])


@dataclass(frozen=True)
class Sieve:
    """The bids that parameters lead to, for one log.

    Values v are smooth in log(1 + v / unit), as tails may be long and values may begin at 0.
    Parameters are logarithms: of its lowest height, of its rises from knot to knot, and of the
    deviation of the common part, P in all.

    Attributes:
        bids: The bids.
        own_bid: Whether a winner pays its own bid; else bids are values.
        more_rivals: How many rivals more than came bidders expected, or fewer, but at least one.
        levels: Levels of the knots.
        unit: A typical bid.
        usual: Deviation of the common part before the log is seen.
        vague: Deviation of its logarithm around that, before the log is seen.
    """

    bids: SealedBids
    own_bid: bool
    more_rivals: int
    levels: Numbers
    unit: float
    usual: float = _USUAL
    vague: float = _VAGUE

    def values(self, parameters: Numbers, at: Numbers = LEVELS) -> Numbers:
        """Return quantiles of private values at L levels, shape (..., L).

        Args:
            parameters: One or more of them, shape (..., P).
            at: The levels.
        """
        heights = np.cumsum(np.exp(parameters[..., :-1]), axis=-1)
        curves = PchipInterpolator(self.levels, heights, axis=-1)  # slow to make, one or many
        return np.asarray(self.unit * np.expm1(curves(at)))

    def bid_quantiles(self, values: Numbers, bidders: int) -> Numbers:
        """Return quantiles of private bids at ``_FINE``: the expected highest of lower values."""
        if not self.own_bid:
            return values
        power = max(bidders + self.more_rivals, 2) - 1
        weights = _FINE**power
        pieces = 0.5 * (values[1:] + values[:-1]) * np.diff(weights)
        sums = np.concatenate([[0.0], np.cumsum(pieces)])
        return np.asarray((weights[0] * values[0] + sums) / weights)

    def log_likelihoods(self, parameters: Numbers) -> Numbers:
        """Return the log likelihood of each sale at each of M parameters, shape (M, A)."""
        values = self.values(parameters, _FINE)
        deviations = [float(np.exp(each[-1])) for each in parameters]
        return np.array([self._of_values(*each) for each in zip(values, deviations, strict=True)])

    def _of_values(self, values: Numbers, deviation: float) -> Numbers:
        """Return the log likelihood of each sale, from quantiles at ``_FINE``, shape (A,)."""
        tables, ends = [], []
        for size in self.bids.sizes.tolist():
            logs = np.log(self.bid_quantiles(values, size))
            low = max(logs[0], logs[-1] - _DEEPEST)
            places = np.linspace(low, logs[-1], CELLS + 1)
            table = np.interp(places, logs, _FINE)
            table[0], table[-1] = 0.0, 1.0
            tables.append(table)
            ends.append([low, logs[-1]])
        return log_likelihoods(self.bids, np.array(tables), np.array(ends), deviation)

    def surprises(self, parameters: Numbers) -> Numbers:
        """Return how far parameters are from what is usual, in deviations: a weak prior."""
        densities = parameters[1:-1] - np.log(np.diff(self.levels))
        lowest = (parameters[0] - parameters[1]) / _VAGUE
        common = (parameters[-1] - np.log(self.usual)) / self.vague
        return np.concatenate([np.diff(densities) / _ROUGH, [lowest, common]])

    def start(self) -> Numbers:
        """Return parameters to begin with: common parts by moments, quantiles by a straight line.

        If a bid is a straight line in the value from the lowest one, as with uniform values, then
        (n - 1) / n is its slope.
        """
        bids = self.bids
        means = np.add.reduceat(bids.logs, bids.first[:-1]) / bids.bidders
        away = bids.logs - np.repeat(means, bids.bidders)
        own = float((away**2).sum() / (bids.bidders - 1).sum())
        common = max(float(means.var()) - own / float(bids.bidders.mean()), 0.02 * own)
        kept = 1.0 - np.sqrt(own / (own + bids.bidders * common))
        private = np.exp(bids.logs - np.repeat(kept * (means - means.mean()), bids.bidders))
        values = np.quantile(private, self.levels.clip(0.01, 0.99))
        if self.own_bid:
            size = float(bids.bidders.mean())
            values = values[0] + (values - values[0]) * size / (size - 1.0)
        heights = np.log1p(values / self.unit)
        rises = np.maximum(np.diff(heights), 1e-3 * heights[-1])
        return np.asarray(np.log(np.concatenate([heights[:1], rises, [np.sqrt(common)]])))


@dataclass(frozen=True)
class Deconvolution:
    """Private values and common parts of the sales of a log, apart.

    Attributes:
        sieve: The bids that parameters lead to.
        parameters: The estimate, shape (P,).
        scores: Slope of the log likelihood of each sale at the estimate, shape (A, P).
        information: Their outer product and that of the prior, shape (P, P).
    """

    sieve: Sieve
    parameters: Numbers
    scores: Numbers
    information: Numbers

    @classmethod
    def of(
        cls, bids: SealedBids, own_bid: bool, more_rivals: int = 0, smoothing: float = 1.0
    ) -> Deconvolution:
        """Return the estimate of a log.

        Args:
            bids: The bids.
            own_bid: Whether a winner pays its own bid; else bids are values.
            more_rivals: How many rivals more than came bidders expected, or fewer.
            smoothing: Factor of the smoothing, see ``knots``.
        """
        unit = float(np.exp(bids.logs.mean()))
        sieve = Sieve(bids, own_bid, more_rivals, knots(len(bids.logs), smoothing), unit)
        every = -(-len(bids.bidders) // _FIRST)
        few = replace(sieve, bids=bids.only(np.arange(len(bids.bidders)) % every == 0))
        start = _maximised(few, few.start()).parameters if every > 1 else sieve.start()
        return _maximised(sieve, start)

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the common part, in logs."""
        return float(np.exp(self.parameters[-1]))

    @cached_property
    def values(self) -> Numbers:
        """Return the quantiles of private values at ``LEVELS``, shape (K,)."""
        return self.sieve.values(self.parameters)

    def bids_of(self, bidders: int) -> Numbers:
        """Return the quantiles of private bids at ``LEVELS``, shape (K,)."""
        values = self.sieve.values(self.parameters, _FINE)
        return np.interp(LEVELS, _FINE, self.sieve.bid_quantiles(values, bidders))

    @cached_property
    def by_size(self) -> dict[int, Deconvolution]:
        """Return the estimate of each number of bidders alone, with the common part of all."""
        sizes = self.sieve.bids.sizes.tolist()
        if len(sizes) == 1:
            return {sizes[0]: self}
        return {size: self._of_size(size) for size in sizes}

    def _of_size(self, bidders: int) -> Deconvolution:
        bids = self.sieve.bids.only(self.sieve.bids.bidders == bidders)
        sieve = replace(self.sieve, bids=bids, usual=self.deviation, vague=_KNOWN)
        return _maximised(sieve, self.parameters)

    def tables(self, weights: Numbers | None, apart: bool) -> Tables:
        """Return what bids tell of private values, apart from what bids of a sale have in common.

        Args:
            weights: How often each sale of a sample counts, shape (A,); None is the log itself.
            apart: Whether values are also estimated for each number of bidders alone.
        """
        bids = self.sieve.bids
        counts = np.ones(len(bids.bidders)) if weights is None else weights
        usual = np.exp(np.average(bids.logs, weights=np.repeat(counts, bids.bidders)))
        sizes = np.unique(bids.bidders[counts > 0]).tolist()
        every, by_size = self, {n: self.by_size[n] for n in sizes} if apart else {}
        if weights is not None:
            every = self.resampled(weights)
            by_size = {n: each.resampled(weights[bids.bidders == n]) for n, each in by_size.items()}
        return Tables.told(
            every.values / usual,
            {n: each.values / usual for n, each in by_size.items()},
            {n: by_size.get(n, every).bids_of(n) / usual for n in sizes},
            np.exp(every.deviation * _NORMAL),
        )

    def resampled(self, weights: Numbers) -> Deconvolution:
        """Return the estimate of a sample in which each sale counts so often, shape (A,)."""
        slope = (weights - 1.0) @ self.scores
        moved = np.linalg.solve(self.information, slope).clip(-_FARTHEST, _FARTHEST)
        return replace(self, parameters=_moved(self.parameters, moved))


def _moved(parameters: Numbers, moved: Numbers) -> Numbers:
    """Return parameters after a step that is straight in the heights of the knots.

    The log tells heights better than the rises between them. A step that is straight in the
    logarithms of the rises would lift all heights, by their noise.
    """
    rises = np.exp(parameters[:-1])
    heights = optimize.isotonic_regression(np.cumsum(rises * (1.0 + moved[:-1]))).x
    heights = np.maximum(heights, _LOWEST * rises[0])
    steps = np.maximum(np.diff(heights, prepend=0.0), _LOWEST * heights[-1])
    return np.append(np.log(steps), parameters[-1] + moved[-1])


def _maximised(sieve: Sieve, parameters: Numbers) -> Deconvolution:
    """Return the estimate, by Newton steps with the outer product of scores (Berndt et al. 1974).

    Steps are damped where one would lower the likelihood, as by Levenberg and Marquardt.
    """
    damping, height = 1e-2, _height(sieve, parameters)
    scores, slope, information = _slopes(sieve, parameters)
    for _ in range(_ITERATIONS):
        while damping < 1e6:
            damped = information + damping * np.diag(np.diag(information))
            tried = parameters + np.linalg.solve(damped, slope).clip(-1.0, 1.0)
            reached = _height(sieve, tried)
            if reached > height:
                break
            damping *= 4.0
        else:
            break
        gain, height, parameters = reached - height, reached, tried
        damping /= 5.0
        scores, slope, information = _slopes(sieve, parameters)
        if gain < _GAIN:
            break
    return Deconvolution(sieve, parameters, scores, information)


def _height(sieve: Sieve, parameters: Numbers) -> float:
    prior = sieve.surprises(parameters)
    return float(sieve.log_likelihoods(parameters[None])[0].sum() - 0.5 * prior @ prior)


def _slopes(sieve: Sieve, parameters: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the scores of the sales, the slope of the height, and the information."""
    usual, moved = sieve.surprises(parameters), parameters + _STEP * np.eye(len(parameters))
    here, *there = sieve.log_likelihoods(np.vstack([parameters, moved]))
    of_sales = np.array([each - here for each in there]).T / _STEP
    of_prior = np.array([sieve.surprises(each) - usual for each in moved]).T / _STEP
    slope = of_sales.sum(axis=0) - of_prior.T @ usual
    return of_sales, slope, of_sales.T @ of_sales + of_prior.T @ of_prior
