"""Tests of the market's design: live fields, interior optima, adapting, and identification.

They ask four questions. Does each field matter? Does each setting have a cost? Does the best
mechanism depend on the population? Can a designer recognise the population?

Chance must not decide, so rows compare intervals. A number counts as above its bound if its whole
interval is. What adapting gains lies near its bound, so its interval must be above 0 and reach it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from daedalus.design.env import DesignEnv
from daedalus.design.search.best_fixed import best_fixed, best_of_candidates
from daedalus.design.search.budgets import SearchBudget
from daedalus.design.search.objective import EpisodeObjective, episode_scores
from daedalus.design.search.portfolio import best_responses, sampled_envs
from daedalus.design.search.space import LEVELS, variants
from daedalus.evaluation.statistics import mean_estimate, share_interval, t_interval
from daedalus.market.interface import types_of_bidders
from daedalus.market.mechanism import FIELDS, RANGES, Mechanism, Mechanisms
from daedalus.market.population import Population
from daedalus.market.seeds import generator, market_seeds

LEAST_EFFECT = 0.02
"""Effect on mean R above which a field counts as live."""

LEAST_ERRORS = 3.0
"""Number of paired standard errors above which a difference counts."""

LEAST_FLIPS = 6
LEAST_MARGIN = 0.03
IDENTIFICATION_ROUNDS = 20
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Responses:
    """Rewards of all levels of each field, around a population's best fixed mechanism.

    Levels are chosen on one set of markets and reported on another. Otherwise the best of many
    levels would look better than it is.

    Attributes:
        best: The best fixed mechanism, found on a third set of markets.
        chosen: Rewards of the ``LEVELS`` of each field on the markets for choices, shape (levels,
            episodes), paired.
        scores: The same on the markets of the report.
    """

    best: Mechanism
    chosen: dict[str, NDArray[np.float64]]
    scores: dict[str, NDArray[np.float64]]

    def ranked(self, name: str) -> list[int]:
        """Return a field's levels from best to worst, on the markets for choices."""
        order = np.argsort(-self.chosen[name].mean(axis=1), kind="stable")
        return [int(level) for level in order]

    def expected(self, name: str, level: int, other: int) -> tuple[float, float]:
        """Return the same as ``difference`` on the markets for choices."""
        return paired(self.chosen[name][level] - self.chosen[name][other])

    def difference(self, name: str, level: int, other: int) -> tuple[float, float]:
        """Return the mean reward of a level minus another's, and its paired standard error."""
        return paired(self.scores[name][level] - self.scores[name][other])

    def estimate(self, label: str, name: str, level: int, other: int) -> dict[str, float | str]:
        """Return the mean of ``difference`` as ``mean_estimate`` does, under a label."""
        differences = self.scores[name][level] - self.scores[name][other]
        return mean_estimate(label, differences, _CONFIDENCE, "episode")


def paired(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of paired differences and its standard error."""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean()), float(error)


def _errors(mean: float, error: float) -> float:
    """Return a difference in standard errors; 0 if the standard error is 0."""
    return mean / error if error > 0 else 0.0


def respond(env: DesignEnv, search: SearchBudget, episodes: int, seed: int, name: str) -> Responses:
    """Find a population's best fixed mechanism, then score all levels of each field around it.

    Args:
        env: Environment of the population.
        search: Budget of the search. Its markets differ from those of the scores.
        episodes: Episodes of each level, half of them for choices.
        seed: Seed of the run.
        name: Name of the population, which keys the random candidates of the search.
    """
    score = EpisodeObjective([env], seed)
    best, _ = best_fixed(search, score, generator(seed, f"search/{name}"))
    chosen, scores = (
        {
            field: episode_scores(
                env, Mechanisms.stack(variants(best, field)), episodes // 2, seed, purpose
            )
            for field in FIELDS
        }
        for purpose in ("sensitivity/choice", "sensitivity")
    )
    return Responses(best, chosen, scores)


def response_table(responses: Mapping[str, Responses]) -> pd.DataFrame:
    """Return a row for each population, field and level.

    Returns:
        ``population``, ``field``, ``setting``, mean ``reward``, whether the level was chosen as
        ``best``, and ``difference`` from the best level with its t interval over episodes
        (``difference_low``, ``difference_high``, and ``difference_interval``, see ``basis``).
    """
    rows = []
    for population, each in responses.items():
        for field, scores in each.scores.items():
            top = each.ranked(field)[0]
            for level, setting in enumerate(LEVELS[field]):
                row = {"population": population, "field": field, "setting": setting}
                row |= {"reward": float(scores[level].mean()), "best": level == top}
                rows.append(row | each.estimate("difference", field, level, top))
    return pd.DataFrame(rows)


def live_fields(responses: Mapping[str, Responses]) -> pd.DataFrame:
    """Return, for each field, the population with the largest gap from best to worst level."""
    rows = []
    for field in FIELDS:
        ends = {name: each.ranked(field) for name, each in responses.items()}
        population = max(
            ends,
            key=lambda name: responses[name].expected(field, ends[name][0], ends[name][-1])[0],
        )
        best, worst = ends[population][0], ends[population][-1]
        row = {"field": field, "population": population, "best": LEVELS[field][best]}
        row |= {"worst": LEVELS[field][worst]}
        row |= responses[population].estimate("effect", field, best, worst)
        rows.append(row | {"passes": float(row["effect_low"]) > LEAST_EFFECT})
    return pd.DataFrame(rows)


def interior_fields(responses: Mapping[str, Responses]) -> pd.DataFrame:
    """Return, for the reserve and each penalty, the population with the clearest interior optimum.

    This is the population in which the best level beats both ends of the range most clearly.
    """
    rows = []
    for field in RANGES:
        last = len(LEVELS[field]) - 1
        tops = {name: each.ranked(field)[0] for name, each in responses.items()}
        population = max(
            tops,
            key=lambda name: min(
                _errors(*responses[name].expected(field, tops[name], end)) for end in (0, last)
            ),
        )
        top = tops[population]
        ends = [responses[population].difference(field, top, end) for end in (0, last)]
        least = min(_errors(*end) for end in ends)
        row = {"field": field, "population": population, "best": LEVELS[field][top]}
        row |= {"over_lowest": ends[0][0], "over_highest": ends[1][0], "errors": least}
        rows.append(row | {"passes": 0 < top < last and least >= LEAST_ERRORS})
    return pd.DataFrame(rows)


def sign_flips(responses: Mapping[str, Responses]) -> pd.DataFrame:
    """Return, for each field, the two populations whose best levels disagree most clearly.

    Returns:
        ``field``; the population ``one`` and its ``best`` level; the population ``other`` and its
        ``other_best``; each population's gain with its own best level over the other's, ``gain``
        and ``other_gain``; the smaller of the two gains in standard errors, ``errors``; and whether
        this is at least ``LEAST_ERRORS``, ``passes``.
    """
    rows = []
    for field in FIELDS:
        tops = {name: each.ranked(field)[0] for name, each in responses.items()}
        clearness = {}
        for one, other in itertools.combinations(responses, 2):
            here = responses[one].expected(field, tops[one], tops[other])
            there = responses[other].expected(field, tops[other], tops[one])
            clearness[one, other] = min(_errors(*here), _errors(*there))
        one, other = max(clearness, key=lambda pair: clearness[pair])
        here = responses[one].difference(field, tops[one], tops[other])
        there = responses[other].difference(field, tops[other], tops[one])
        least = min(_errors(*here), _errors(*there))
        row = {"field": field, "one": one, "best": LEVELS[field][tops[one]], "gain": here[0]}
        row |= {"other": other, "other_best": LEVELS[field][tops[other]], "other_gain": there[0]}
        rows.append(row | {"errors": least, "passes": least >= LEAST_ERRORS})
    return pd.DataFrame(rows)


def best_formats(responses: Mapping[str, Responses]) -> pd.DataFrame:
    """Return each population's best auction format, and its margin over the next best."""
    rows = []
    for population, each in responses.items():
        best, second = each.ranked("auction_type")[:2]
        mean, error = each.difference("auction_type", best, second)
        row = {"population": population, "best": LEVELS["auction_type"][best]}
        row |= {"next": LEVELS["auction_type"][second], "margin": mean}
        rows.append(row | {"errors": _errors(mean, error)})
    return pd.DataFrame(rows)


def tables_of(responses: Mapping[str, Responses]) -> dict[str, pd.DataFrame]:
    """Return the frames of what responses show, by name."""
    return {
        "responses": response_table(responses),
        "live": live_fields(responses),
        "interior": interior_fields(responses),
        "flips": sign_flips(responses),
        "formats": best_formats(responses),
    }


def adapting_pays(
    env: DesignEnv, starts: list[Mechanism], count: int, episodes: int, seed: int
) -> pd.DataFrame:
    """Compare the best mechanism for all sampled populations with the best for each.

    Both are chosen from the same candidates: ``starts``; the result of a search in each population;
    and the result of a search in all populations together. They are chosen on one set of markets
    and scored on another.

    Args:
        env: Environment of the mixture.
        starts: Good mechanisms.
        count: Number of populations M.
        episodes: Episodes of each score.
        seed: Seed of the run.

    Returns:
        A row for each of ``count`` sampled populations: the bidders of the ``population``, and the
        rewards there of the best mechanism for all, ``fixed``, and of the best for it, ``adapted``.
    """
    envs = sampled_envs(env, count, seed, "adapting")
    finalists = [*starts, *best_responses(envs, starts, episodes, seed, "adapting")]
    everywhere = EpisodeObjective(envs, seed, "adapting/choice")
    finalists.append(best_of_candidates(finalists, everywhere, 2, episodes))
    pool = Mechanisms.stack(finalists)
    chosen, scored = (
        np.array([EpisodeObjective([each], seed, purpose)(pool, episodes) for each in envs])
        for purpose in ("adapting/choice", "adapting/score")
    )
    own, rows = chosen.argmax(axis=1), np.arange(count)
    names = [_composition(types_of_bidders(each.market)) for each in envs]
    return pd.DataFrame({"population": names, "fixed": scored[:, -1], "adapted": scored[rows, own]})


def _composition(population: Population) -> str:
    shares = {name: each.share for name, each in population.types.items() if each.share}
    return ", ".join(f"{int(share)} {name}" for name, share in shares.items())


@dataclass(frozen=True)
class Identification:
    """Accuracy with which the proxies identify populations.

    Attributes:
        confusion: Share of markets of each population (row) that are classified as each (column).
        populations: Names of the populations.
        markets: Number of markets of each population.
    """

    confusion: NDArray[np.float64]
    populations: list[str]
    markets: int

    @property
    def accuracy(self) -> float:
        """Return the share of markets that were classified correctly."""
        return float(np.diag(self.confusion).mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Return the ends of the accuracy's interval."""
        markets = self.markets * len(self.populations)
        return share_interval(self.accuracy, markets, _CONFIDENCE)


def identify(envs: Mapping[str, DesignEnv], episodes: int, seed: int) -> Identification:
    """Fit a logistic regression on the ten proxies after 20 rounds; test it on fresh markets."""
    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    train, test = (
        [_proxies(env, episodes, seed, f"identify/{part}") for env in envs.values()]
        for part in ("train", "test")
    )
    labels = np.repeat(np.arange(len(envs)), episodes)
    fitted.fit(np.concatenate(train), labels)
    confusion = np.zeros((len(envs), len(envs)))
    np.add.at(confusion, (labels, fitted.predict(np.concatenate(test))), 1.0 / episodes)
    return Identification(confusion, list(envs), episodes)


def _proxies(env: DesignEnv, episodes: int, seed: int, purpose: str) -> NDArray[np.float64]:
    state = env.market.reset(market_seeds(seed, purpose, episodes))
    mechanisms = Mechanisms.repeat(Mechanism(), episodes)
    env.market.play(state, mechanisms, IDENTIFICATION_ROUNDS)
    return env.market.observe(state).proxies


def verdicts(
    tables: Mapping[str, pd.DataFrame], adapting: pd.DataFrame, identification: Identification
) -> pd.DataFrame:
    """Return the requirements, from the frames of ``tables_of`` and ``adapting_pays``.

    Rows have ``requirement``, ``measured``, ``needed`` and ``passes``.
    """
    formats = tables["formats"]
    clear = int(formats[formats["errors"] >= LEAST_ERRORS]["best"].nunique())
    flipped = int(tables["flips"]["passes"].sum())
    gains = adapting["adapted"] - adapting["fixed"]
    told = (identification.accuracy, *identification.interval)
    effects = tables["live"].set_index("field")[["effect", "effect_low", "effect_high"]]
    rows: list[tuple[str, str, str, Any]] = [
        _above(f"{field} is live", (effect, low, high), LEAST_EFFECT)
        for field, effect, low, high in effects.itertuples()
    ]
    rows += [
        (f"best {row.field} is interior", f"{row.best} in {row.population}", "", row.passes)
        for row in tables["interior"].itertuples()
    ]
    rows.append(("best auction type differs", f"{clear} formats", "2", clear >= 2))
    rows.append(("fields whose best flips", str(flipped), str(LEAST_FLIPS), flipped >= LEAST_FLIPS))
    low, high = t_interval(gains, _CONFIDENCE)
    reaches = low > 0.0 and high >= LEAST_MARGIN
    measured = _with_interval(float(gains.mean()), low, high)
    rows.append(("adapting pays", measured, f"above 0, reaches {LEAST_MARGIN:g}", reaches))
    chance = 1.0 / len(identification.populations)
    rows.append(_above("proxies identify populations", told, 2 * chance))
    return pd.DataFrame(rows, columns=["requirement", "measured", "needed", "passes"])


def _above(
    requirement: str, measured: tuple[float, float, float], bound: float
) -> tuple[str, str, str, bool]:
    """Return the row of a number with its interval, which passes if all of it is above a bound."""
    number, low, high = measured
    return requirement, _with_interval(number, low, high), f"> {bound:g}", low > bound


def _with_interval(number: float, low: float, high: float) -> str:
    return f"{number:.3f} [{low:.3f}, {high:.3f}]"
