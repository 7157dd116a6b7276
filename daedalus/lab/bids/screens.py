"""Statistics of log bids that assumptions rule out, and how often chance alone reaches them.

All are of log bids around what covariates and the number of bidders lead to expect. Permutations
take them as draws that are alike: bids of sales with one number of bidders change places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from daedalus.lab.bids.log import BidLog
from daedalus.lab.theory.distributions import Integers, Numbers

OFTEN = 10
"""Bids from which a bidder is compared with others."""

TOGETHER = 20
"""Sales from which a pair of bidders is compared with others."""

_FREQUENCIES = (0.7, 1.0)
_SKEWED = 2.0  # by simulation: scores of three bids are below 0 too often by this factor at most
_PERMUTATIONS = 399
_TRIPLE, _FOUR = 3, 4
_SALES = 5  # of one number of bids, from which they have a variance


@dataclass(frozen=True)
class Residuals:
    """Log bids of A sales around what covariates and the number of bidders lead to expect.

    Attributes:
        logs: Log bids, sale by sale, shape (L,).
        sale: The sale of each, from 0 to A - 1, shape (L,).
        sizes: Number of bidders of each sale, shape (A,).
        design: The columns of the regression, shape (A, P).
        bidder: Number of the bidder of each bid, -1 if unknown, shape (L,); None without names.
        names: Names of the bidders.
    """

    logs: Numbers
    sale: Integers
    sizes: Integers
    design: Numbers
    bidder: Integers | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, log: BidLog, design: Numbers) -> Residuals:
        """Return the residuals of a log.

        Args:
            log: The log, whose bids stand sale by sale.
            design: Columns of the covariates and of the number of bidders, shape (A, P).
        """
        names: tuple[str, ...] = ()
        numbers = None
        if log.bidder is not None:
            found = np.unique(log.bidder[log.bidder != ""])
            numbers = np.where(log.bidder == "", -1, np.searchsorted(found, log.bidder))
            names = tuple(map(str, found))
        return cls(np.log(log.bids), log.sale, log.bidders, design, numbers, names)

    @cached_property
    def left(self) -> Numbers:
        """Return the residuals of least squares, shape (L,)."""
        return self.logs - self.fitted(self.logs)[self.sale]

    @cached_property
    def _solver(self) -> Numbers:
        gram = self.design.T @ (self.sizes[:, None] * self.design)
        return np.asarray(np.linalg.pinv(gram, hermitian=True) @ self.design.T)

    def fitted(self, numbers: Numbers) -> Numbers:
        """Return what the regression of numbers of bids, shape (L,), gives each sale, (A,)."""
        sums = np.bincount(self.sale, numbers, len(self.sizes))
        return np.asarray(self.design @ (self._solver @ sums))

    @cached_property
    def rows(self) -> dict[int, Integers]:
        """Return the places of the bids by number of bidders, each of shape (sales, bidders)."""
        of_bids = self.sizes[self.sale]
        return {
            int(size): np.flatnonzero(of_bids == size).reshape(-1, size)
            for size in np.unique(self.sizes)
        }

    @cached_property
    def scores(self) -> Numbers:
        """Return the rank of each residual among sales of as many bidders, in (0, 1), shape (L,).

        Ranks are compared where the long lower tail of log bids would hide what most bids say.
        """
        scores = np.empty_like(self.left)
        for rows in self.rows.values():
            scores[rows.ravel()] = stats.rankdata(self.left[rows.ravel()]) / (rows.size + 1)
        return scores

    def around_sale(self, numbers: Numbers) -> Numbers:
        """Return numbers of bids around their mean in the sale, shape (L,)."""
        means = np.bincount(self.sale, numbers, len(self.sizes)) / self.sizes
        return np.asarray(numbers - means[self.sale])

    def across_sales(self, rng: np.random.Generator) -> Iterator[Integers]:
        """Yield places of bids that are changed among sales of one number of bidders."""
        for _ in range(_PERMUTATIONS):
            places = np.empty_like(self.sale)
            for rows in self.rows.values():
                places[rows.ravel()] = rng.permutation(rows.ravel())
            yield places

    def within_sales(self, rng: np.random.Generator) -> Iterator[Integers]:
        """Yield places of bids that are changed inside each sale."""
        for _ in range(_PERMUTATIONS):
            yield np.lexsort([rng.random(len(self.sale)), self.sale])


@dataclass(frozen=True)
class Screen:
    """A statistic and how often chance alone reaches it.

    Attributes:
        statistic: The statistic.
        p: Share of what is as far away from the usual, if the assumption holds; from 0 to 1.
        usual: What is usual if the assumption holds.
    """

    statistic: float
    p: float
    usual: float


@dataclass(frozen=True)
class Pair:
    """The two bidders whose bids move together the most.

    Attributes:
        names: Their names.
        sales: In how many sales they met.
        screen: Its score, and how often the highest of all pairs reaches it by chance.
    """

    names: tuple[str, str]
    sales: int
    screen: Screen


def screens_of(
    statistics: Callable[[Integers], Numbers], permuted: Iterator[Integers], bids: int,
    two_sided: bool = True,
) -> list[Screen]:  # fmt: skip
    """Return statistics beside those of permutations.

    Args:
        statistics: Returns K of them, shape (K,), of bids at places, shape (L,).
        permuted: Places of bids, changed.
        bids: Their number L.
        two_sided: Whether low statistics count as much as high ones.
    """
    drawn = np.array([statistics(each) for each in permuted])
    found = statistics(np.arange(bids))
    usual = np.median(drawn, axis=0)
    higher, lower = (
        (1 + side.sum(axis=0)) / (1 + len(drawn)) for side in (drawn >= found, drawn <= found)
    )
    p = np.minimum(1.0, 2.0 * np.minimum(higher, lower)) if two_sided else higher
    return [Screen(*map(float, each)) for each in zip(found, p, usual, strict=True)]


def alike_within_sales(residuals: Residuals, rng: np.random.Generator) -> list[Screen]:
    """Return three screens of how the bids of a sale lie together.

    They are the intraclass correlation of ranks (Fisher 1925), after the regression anew; and of
    sales with three bids or more the deviation over sales of the log of their spread, which is a
    variance screen (Abrantes-Metz, Froeb, Geweke & Taylor 2006), and the mean of the winner's lead
    over the second as a share of the range of bids, a bounded form of the relative distance
    (Imhof 2018). The last two are nan if no sale has three bids.
    """

    def statistics(places: Integers) -> Numbers:
        correlation = intraclass(residuals, residuals.scores[places])
        return np.array([correlation, *spread_and_lead(residuals, residuals.left[places])])

    return screens_of(statistics, residuals.across_sales(rng), len(residuals.left))


def intraclass(residuals: Residuals, numbers: Numbers) -> float:
    """Return the mean correlation of two bids of a sale, in numbers of bids, shape (L,)."""
    around = numbers - residuals.fitted(numbers)[residuals.sale]
    squares = float(around @ around)
    sums = np.bincount(residuals.sale, around)
    pairs = float((residuals.sizes * (residuals.sizes - 1)).sum())
    return (float(sums @ sums) - squares) / pairs / (squares / len(numbers))


def spread_and_lead(residuals: Residuals, left: Numbers) -> tuple[float, float]:
    """Return the deviation of the log spread of sales, and the winners' lead over the range."""
    spreads, leads = [], []
    for size, rows in residuals.rows.items():
        if size < _TRIPLE or len(rows) < _SALES:
            continue
        bids = np.sort(left[rows], axis=1)
        spans = bids[:, -1] - bids[:, 0]
        varied = spans > 0
        logs = np.log(bids[varied].std(axis=1))
        spreads.append(logs - logs.mean())
        leads.append((bids[varied, -1] - bids[varied, -2]) / spans[varied])
    if not spreads:
        return np.nan, np.nan
    return float(np.concatenate(spreads).std()), float(np.concatenate(leads).mean())


def bidder_means(residuals: Residuals, rng: np.random.Generator) -> Screen | None:
    """Return how far means of bidders lie apart, beside the same with names changed in the sale.

    The statistic is the deviation of means of bidders with ``OFTEN`` bids or more around their
    sales, less what chance gives, as a share of the deviation of a bid; it is 0 if it is less. None
    without two such bidders. Names that change places inside the sale keep what the sale has in
    common (exchangeability: Bajari & Ye 2003).
    """
    if residuals.bidder is None:
        return None
    counts = np.bincount(residuals.bidder[residuals.bidder >= 0])
    if (counts >= OFTEN).sum() < 2:
        return None
    known = (residuals.bidder >= 0) & (counts[residuals.bidder] >= OFTEN)
    who = np.unique(residuals.bidder[known], return_inverse=True)[1]
    often = np.bincount(who)

    own = residuals.around_sale(residuals.scores)

    def statistics(places: Integers) -> Numbers:
        return np.array([np.sum(np.bincount(who, own[places][known]) ** 2 / often)])

    (found,) = screens_of(statistics, residuals.within_sales(rng), len(own), False)
    apart = max(found.statistic - found.usual, 0.0) / len(who) / float(np.mean(own**2))
    return Screen(float(np.sqrt(apart / often.mean())), found.p, 0.0)


def closest_pair(residuals: Residuals, rng: np.random.Generator) -> Pair | None:
    """Return the pair whose bids move together the most, of those that met ``TOGETHER`` times.

    The score of a pair is the mean product of both bids around the sale's mean and the bidders'
    means, over its standard error (conditional independence: Bajari & Ye 2003). The highest of all
    pairs is compared with the highest of each permutation of names inside the sales, so their
    number does not matter. None if no two pairs met so often.
    """
    if residuals.bidder is None:
        return None
    first, second = _pairs(residuals)
    code = residuals.bidder[first] * len(residuals.names) + residuals.bidder[second]
    codes, place, met = np.unique(code, return_inverse=True, return_counts=True)
    often = met >= TOGETHER
    if often.sum() < 2:
        return None
    who = np.maximum(residuals.bidder, 0)
    counts = np.maximum(np.bincount(who), 1)

    own = residuals.around_sale(residuals.left)  # covers follow far below, which ranks would hide

    def scores(places: Integers) -> Numbers:
        bids = own[places]
        bids = bids - (np.bincount(who, bids) / counts)[who]
        products = bids[first] * bids[second]
        sums, squares = (np.bincount(place, each)[often] for each in (products, products**2))
        return np.asarray(sums / np.sqrt(squares))

    def highest(places: Integers) -> Numbers:
        return np.array([scores(places).max()])

    (screen,) = screens_of(highest, residuals.within_sales(rng), len(own), False)
    best = np.flatnonzero(often)[np.argmax(scores(np.arange(len(own))))]
    one, other = divmod(int(codes[best]), len(residuals.names))
    return Pair((residuals.names[one], residuals.names[other]), int(met[best]), screen)


def _pairs(residuals: Residuals) -> tuple[Integers, Integers]:
    """Return the places of both bids of all pairs of known bidders; the lower number is first."""
    assert residuals.bidder is not None
    ones, others = [], []
    for size, rows in residuals.rows.items():
        upper = np.triu_indices(size, 1)
        ones.append(rows[:, upper[0]].ravel())
        others.append(rows[:, upper[1]].ravel())
    one, other = np.concatenate(ones), np.concatenate(others)
    known = (residuals.bidder[one] >= 0) & (residuals.bidder[other] >= 0)
    one, other = one[known], other[known]
    swapped = residuals.bidder[one] > residuals.bidder[other]
    return np.where(swapped, other, one), np.where(swapped, one, other)


def independent_parts(residuals: Residuals) -> tuple[Screen | None, Screen | None]:
    """Return whether bids are a part that the sale shares, plus parts that are independent.

    With the characteristic function phi of the own parts, differences of bids have
    E exp(i s (b1 - b2)) = |phi(s)|^2, whatever the shared part is (Li & Vuong 1998; Krasnokutskaya
    2011). Three bids have |E exp(i s (b1 + b2 - 2 b3))|^2 = |phi(s)|^4 |phi(2 s)|^2, and four have
    E exp(i s (b1 - b2 + b3 - b4)) = |phi(s)|^4. Both are tested in each number of bidders, by the
    jackknife over sales, and the sales are put together. A ring whose others only cover its bid
    breaks them: some pairs lie close, and then others do not, so that four bids have less. They
    have more if parts lie further apart in some sales than in others.

    Returns:
        The score that is furthest from 0, with its p for all scores (Bonferroni), of which that of
        four bids counts if it is negative; None if no sale has three bids. And the score of four
        bids, with its p if a positive one counts; None if no sale has four.
    """
    scores = _scores(residuals)
    if not scores:
        return None, None
    tails = {key: _tail(key[0], *score) for key, score in scores.items()}
    worst = min(tails, key=lambda key: tails[key])
    alone = Screen(scores[worst][0], min(1.0, len(tails) * tails[worst]), 0.0)
    four = (_FOUR, _FREQUENCIES[0])
    if four not in scores:
        return alone, None
    above = float(stats.t.sf(scores[four][0], scores[four][1] - 1))
    return alone, Screen(scores[four][0], above, 0.0)


def _tail(count: int, score: float, sales: float) -> float:
    """Return how often chance leads to such a score of three bids, or to one below, of four."""
    if count == _FOUR:
        return float(stats.t.cdf(score, sales - 1))
    return min(1.0, _SKEWED * 2.0 * float(stats.t.sf(abs(score), sales - 1)))


def _scores(residuals: Residuals) -> dict[tuple[int, float], tuple[float, float]]:
    """Return normal scores and their numbers of sales, by number of bids and frequency."""
    totals: dict[tuple[int, float], Numbers] = {}
    for size, rows in residuals.rows.items():
        bids = residuals.left[rows]
        deviation = np.sqrt(np.mean(bids.var(axis=1, ddof=1)))
        sales = len(bids)
        if size < _TRIPLE or sales < _SALES or deviation == 0:
            continue
        for key, gap, variance in _gaps(bids / deviation):
            part = np.array([sales * gap, sales**2 * variance, sales])
            totals[key] = totals.get(key, np.zeros(3)) + part
    return {
        key: (float(gap / np.sqrt(variance)), float(sales))
        for key, (gap, variance, sales) in totals.items()
    }


def _gaps(bids: Numbers) -> Iterator[tuple[tuple[int, float], float, float]]:
    """Yield what should be 0 with its variance, by number of bids and frequency.

    Args:
        bids: Log bids of sales, in deviations inside a sale, shape (A, n).
    """
    size = bids.shape[1]
    for frequency in _FREQUENCIES:
        once, twice = (np.exp(1j * step * bids).sum(axis=1) for step in (frequency, 2 * frequency))
        near, far = abs(once) ** 2, abs(twice) ** 2
        pair, wide = ((each - size) / (size * (size - 1)) for each in (near, far))
        three = once * once * twice.conj() - 2 * near - far + 2 * size
        three = three / (size * (size - 1) * (size - 2))
        yield (_TRIPLE, frequency), *_jackknife(_gap_of_three, three, pair, wide)
        if size >= _FOUR and frequency == _FREQUENCIES[0]:
            mixed = (twice * once.conj() ** 2).real
            four = near**2 - 4 * (size - 2) * near - 2 * mixed + 2 * size**2 + far - 6 * size
            four = four / (size * (size - 1) * (size - 2) * (size - 3))
            yield (_FOUR, frequency), *_jackknife(_gap_of_four, four, pair)


def _gap_of_three(three: Numbers, pair: Numbers, wide: Numbers) -> Numbers:
    return np.asarray(abs(three) ** 2 - pair**2 * wide)


def _gap_of_four(four: Numbers, pair: Numbers) -> Numbers:
    return np.asarray(four - pair**2)


def _jackknife(function: Callable[..., Numbers], *columns: Numbers) -> tuple[float, float]:
    """Return a function of means without its bias of first order, and its variance."""
    count = len(columns[0])
    full = function(*(column.mean(keepdims=True) for column in columns))
    without = function(*((column.sum() - column) / (count - 1) for column in columns))
    pseudo = count * full - (count - 1) * without
    return float(pseudo.mean()), float(pseudo.var(ddof=1) / count)


def slope_on_bidders(residuals: Residuals) -> tuple[float, float]:
    """Return how log bids rise with each bidder more, and its standard error over sales.

    Covariates stay in the regression, in which one column of numbers of bidders takes the place of
    those for each, the last ones of the design (the variance is White's, clustered by sale).
    """
    sizes = residuals.sizes.astype(np.float64)
    columns = residuals.design[:, : residuals.design.shape[1] - len(residuals.rows)]
    design = np.column_stack([columns, np.ones(len(sizes)), sizes])
    sums = np.bincount(residuals.sale, residuals.logs)
    inverse = np.linalg.pinv(design.T @ (sizes[:, None] * design), hermitian=True)
    slopes = inverse @ (design.T @ sums)
    scores = design * (sums - sizes * (design @ slopes))[:, None]
    variance = inverse @ (scores.T @ scores) @ inverse
    return float(slopes[-1]), float(np.sqrt(variance[-1, -1]))
