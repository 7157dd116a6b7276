"""Briefs one by one: what a designer sees of each, and what the mechanism that it sets comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.scoring import NO_MECHANISM, Verdict, judge
from daedalus.design.env import DesignEnv
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism
from daedalus.market.observation import Observation
from daedalus.market.seeds import episode_seeds, generator


@dataclass(frozen=True)
class Benchmark:
    """Briefs, each of which is answered by one mechanism for a whole episode.

    Attributes:
        briefs: The briefs.
        market: Returns the market of bidders by the name of their population.
    """

    briefs: Sequence[Brief]
    market: Callable[[str], DesignEnv]

    def drawn(self, seed: int) -> Brief:
        """Return the brief of an episode's seed; all are equally likely."""
        place = generator(seed, "briefs/drawn").integers(len(self.briefs))
        return self.briefs[int(place)]

    def observe(self, brief: Brief, seed: int) -> Observation:
        """Return what a designer sees: the words, and first records of the bidders it expects.

        It sees neither weights nor rules.

        Args:
            brief: The brief.
            seed: Seed of the records, 0 to 2**53 - 1.
        """
        episodes = self.market(brief.known_population).reset(episode_seeds([seed]))
        episodes.goals = np.array([Goal(brief=brief.text)], object)
        return episodes.observe()

    def judge(self, brief: Brief, mechanism: Mechanism | None) -> Verdict:
        """Return what an answer comes to in the futures of ``scoring``; None is no mechanism."""
        if mechanism is None:
            return NO_MECHANISM
        return judge(brief, mechanism, self.market(brief.population))
