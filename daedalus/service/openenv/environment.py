"""The market as an OpenEnv environment: one episode for each session."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata

from daedalus.design.env import Episodes
from daedalus.design.search.lookahead import fork_rewards, steps_left
from daedalus.evaluation.scale import Scale, scale_of
from daedalus.market.allowed import written_allowed
from daedalus.market.mechanism import Mechanism, MechanismError, Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.seeds import episode_seeds
from daedalus.service.openenv.briefs_on_offer import OBJECTIVE as BRIEF
from daedalus.service.openenv.briefs_on_offer import Opened, written
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.errors import EpisodeError, FieldError, UnansweredError
from daedalus.service.openenv.messages import (
    LONGEST_BRIEF,
    MAX_SEED,
    DaedalusAction,
    DaedalusObservation,
    DaedalusState,
    ForkAnswer,
    ForkQuestion,
    MechanismFields,
)
from daedalus.service.openenv.observations import to_wire, wire_mechanism
from daedalus.service.openenv.rubric import COMPOSITE, OBJECTIVE, TERMS, ScoreRubric, scores

_ONLY = np.arange(1)  # the only episode of the batch

NAME, VERSION = "daedalus", "0.2.0"
DESCRIPTION = (
    "Design a repeated auction: set its format, reserve price, disclosure and penalties. Its "
    "bidders shade, collude, walk away from wins and bid under false names. The reward is welfare "
    "x fairness x participation x stability."
)


class DaedalusEnvironment(Environment[DaedalusAction, DaedalusObservation, DaedalusState]):
    """One episode of mechanism design at a time.

    The market's kernels must not run on two threads at once. So the asynchronous methods play on
    the event loop; a step takes about a millisecond. Language models that bid are asked elsewhere.

    Args:
        catalogue: The populations and markets that a reset may choose.
        max_fork_steps: Most steps that one fork plays; with 0 there are no forks.
        read_ahead: Reads the brief of a reset that follows at once, while others play.

    Attributes:
        has_played: Whether any step has been played, in this episode or an earlier one.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        catalogue: Catalogue,
        max_fork_steps: int = 0,
        read_ahead: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(rubric=ScoreRubric(COMPOSITE, TERMS))
        self._read_ahead = read_ahead
        self._max_fork_steps = max_fork_steps
        self._catalogue = catalogue
        self._episodes: Episodes | None = None
        self._before: Episodes | None = None
        self._scale: Scale | None = None
        self._opened: Opened | None = None
        self._closed = False
        self._state = DaedalusState()
        self.has_played = False

    rubric: ScoreRubric

    def reset(
        self, /, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> DaedalusObservation:
        """Begin an episode.

        Args:
            seed: The same seed gives the same episode; None draws one, which the state names.
            episode_id: A name for the episode.
            **options: ``population``, ``market``, ``objective``, ``n_agents``, ``episode_length``,
                ``allowed``, ``brief`` and ``briefs``, see ``ResetOptions``.

        Raises:
            ValidationError: An option is unknown, of the wrong type or out of range.
            FieldError: The market cannot play the population, ``allowed`` is no restriction, or a
                brief cannot be played.
            EpisodeError: The session has been closed.
        """
        self._check_open()
        named = {"seed": seed, "episode_id": episode_id, **options}
        chosen = self._catalogue.options.model_validate(named)
        if chosen.seed is None:
            chosen.seed = secrets.randbelow(MAX_SEED + 1)
        opened = self._catalogue.open(chosen)
        env = opened.env
        episodes = env.reset(episode_seeds([chosen.seed]))
        self._episodes, self._before, self._opened = episodes, None, opened
        self._scale = None if env.brief else scale_of(env)
        self._reset_rubric()
        self._state = DaedalusState(
            **chosen.model_dump(include={"seed", "episode_id", "objective"})
            | ({"objective": BRIEF, "brief": env.brief} if env.brief else {}),
            population=opened.population,
            market=opened.market,
            allowed=written_allowed(episodes.env.allowed),
            n_agents=int(episodes.state.sizes[0]),
            episode_length=episodes.env.settings.episode_length,
        )
        return self._told(episodes.observe(), {}, None)

    def step(
        self, action: DaedalusAction, timeout_s: float | None = None, **kwargs: Any
    ) -> DaedalusObservation:
        """Play one step under the action's mechanism; an ended episode does not change.

        Raises:
            EpisodeError: No episode has begun, or the session has been closed.
            FieldError: The episode's goal does not allow a value.
            UnrecordedError: Recorded answers of bidders do not allow the mechanism.
            UnansweredError: A model has to be asked for its bids first. No step has been played.
        """
        episodes = self.episode()
        if episodes.done[0]:
            return self._told(episodes.observe(), {}, 0.0)
        after, mechanism = episodes.fork(_ONLY), self._allowed(action)
        result = after.step(Mechanisms.stack([mechanism]))
        self._before, self._episodes, self.has_played = episodes, after, True
        scored = scores(result.scored, result.stack)
        told = self._told(after.observe(), scored, 0.0)
        told.reward = scored.get(OBJECTIVE, self._apply_rubric(action, told))
        if self._opened is not None and self._opened.judge is not None:
            verdict = self._opened.judge(mechanism)
            told.reward, told.metadata["verdict"] = verdict.reward, written(verdict)
        told.metadata["normalised"] = self._scale and self._scale.normalise(told.reward)
        self._state.rewards.append(told.reward)
        return told

    def fork(self, question: ForkQuestion) -> ForkAnswer:
        """Compare mechanisms in futures of the episode, which does not change.

        Raises:
            EpisodeError: No episode has begun or it has ended, the session has been closed, or
                there are no forks here.
            FieldError: The answer would play too many steps, or more than the episode has left, or
                the episode's goal does not allow a mechanism.
        """
        self.check_fork(question)
        mechanisms = Mechanisms.stack([each.to_mechanism() for each in question.mechanisms])
        rewards = fork_rewards(
            self.episode(), mechanisms, question.futures, question.horizon, question.seed
        )
        return ForkAnswer(rewards=rewards.tolist())

    def check_fork(self, question: ForkQuestion) -> None:
        """Refuse a fork that ``fork`` would refuse, before anything is played."""
        episode, most = self.episode(), self._max_fork_steps
        if not most:
            raise EpisodeError("this service has no forks; service.max_fork_steps=512 allows them")
        self.require_simulated()
        if not (left := steps_left(episode)):
            raise EpisodeError("the episode has ended; reset first")
        if question.steps > most:
            allowed = (
                f"mechanisms x futures x horizon may be {most} at most, and are {question.steps}"
            )
            raise FieldError("futures", question.futures, allowed)
        if question.horizon > left:
            raise FieldError(
                "horizon", question.horizon, f"give 1 to {left}, the steps that are left"
            )
        for each in question.mechanisms:
            self._allowed(each)

    def require_simulated(self) -> None:
        """Refuse what would play copies of an episode in which a language model bids.

        It also refuses that in one with a brief of the benchmark, whose reward no copy tells.

        Raises:
            EpisodeError: No episode has begun, the session has been closed, or the brief is of the
                benchmark.
            FieldError: A language model bids.
        """
        if self.episode().env.market.players:
            allowed = "forks, searches and planners would ask its language model; choose another"
            raise FieldError("population", self._state.population, allowed)
        if self._opened is not None and self._opened.judge is not None:
            raise EpisodeError(
                "a brief of the benchmark is read and answered once, without forks and searches"
            )

    async def reset_async(
        self, /, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> DaedalusObservation:
        """Begin an episode on the event loop, see ``reset``; ``read_ahead`` reads its brief."""
        brief = options.get("brief")
        if self._read_ahead and isinstance(brief, str) and 0 < len(brief) <= LONGEST_BRIEF:
            await self._read_ahead(brief)
        return self.reset(seed, episode_id, **options)

    async def step_async(
        self, action: DaedalusAction, timeout_s: float | None = None, **kwargs: Any
    ) -> DaedalusObservation:
        """Play one step on the event loop, see ``step``; meanwhile others play.

        Raises:
            BiddersError: A model that has to be asked for its bids gives no answers.
            EpisodeError: As in ``step``; or another step or reset came while it was asked.
        """
        episode = self.episode()
        while True:
            try:
                return self.step(action)
            except UnansweredError as question:
                await question.ask()
            if self.episode() is not episode:
                raise EpisodeError("the episode went on while its bidders were asked; step again")

    @property
    def state(self) -> DaedalusState:
        """Return where the episode stands; before the first reset there is none."""
        if self._episodes is not None:
            self._state.step_count = int(self._episodes.steps[0])
            self._state.done = bool(self._episodes.done[0])
            self._state.mechanism = wire_mechanism(self._episodes.mechanisms)
            self._state.scores = self.rubric.scores()
        return self._state

    def episode(self) -> Episodes:
        """Return the current episode.

        Raises:
            EpisodeError: No episode has begun, or the session has been closed.
        """
        self._check_open()
        if self._episodes is None:
            raise EpisodeError("there is no episode yet; reset first")
        return self._episodes

    def before_step(self) -> Episodes | None:
        """Return a copy of the episode before its last step; None if no step has been played."""
        self.episode()
        return None if self._before is None else self._before.fork(_ONLY)

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the name and the purpose."""
        return EnvironmentMetadata(name=NAME, description=DESCRIPTION, version=VERSION)

    def close(self) -> None:
        """End the session; a second call changes nothing."""
        self._closed = True
        self._episodes = self._before = None

    def _allowed(self, fields: MechanismFields) -> Mechanism:
        """Return a mechanism that the episode's goal allows; refuse another one."""
        mechanism = fields.to_mechanism()
        try:
            self.episode().env.goal.require(mechanism)
        except MechanismError as error:
            raise FieldError(error.field, error.value, error.allowed) from error
        return mechanism

    def _told(
        self, observation: Observation, scored: dict[str, float], reward: float | None
    ) -> DaedalusObservation:
        told = to_wire(observation)
        told.metadata = {
            "seed": self._state.seed,
            "population": self._state.population,
            "market": self._state.market,
            "objective": self._state.objective,
        }
        if self._opened is not None:
            told.brief = self._opened.env.brief
            told.metadata = told.metadata | dict(self._opened.told)
        if self._state.allowed:
            told.metadata["allowed"] = self._state.allowed
        if scored:
            told.metadata = told.metadata | {"scores": scored}
        told.reward = reward
        told.done = bool(self.episode().done[0])
        return told

    def _check_open(self) -> None:
        if self._closed:
            raise EpisodeError("the session was closed, or it was idle for too long; connect again")
