"""An episode that a chat plays: each answer is the mechanism of one step."""

from __future__ import annotations

from daedalus.design.designers.endpoint import zero_shot_prompt
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.language.prompt import Message, prompts
from daedalus.design.language.reasoning import answered_mechanism
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import episode_seeds, generator

REFUSED = "Your last answer was refused and earned nothing: {reason}"


class ChatEpisode:
    """An episode that a chat plays, with the rules and the prompt of ``designer=endpoint``.

    An answer that holds no mechanism uses up its step and earns 0; no round is played.

    Args:
        env: The market, the shape of its episodes, and the reward.
        seed: Seed of the episode, 0 to 2**53 - 1, as ``daedalus.make`` means it.
    """

    def __init__(self, env: DesignEnv, seed: int) -> None:
        self._episode = env.reset(episode_seeds([seed]))
        self._prompt = zero_shot_prompt()
        self._rewards: list[float] = []
        self._valid: list[bool] = []

    @property
    def done(self) -> bool:
        """Return whether the episode has ended; further answers earn 0."""
        return bool(self._episode.done[0])

    @property
    def reward(self) -> float:
        """Return the mean reward of the episode's steps; a step not played earns 0."""
        return sum(self._rewards) / self._episode.env.settings.episode_length

    @property
    def valid(self) -> float:
        """Return the share of answers so far that held a mechanism, 0 before the first."""
        return sum(self._valid) / max(len(self._valid), 1)

    def opening(self) -> list[Message]:
        """Return the chat before the first answer: the task, and what the model sees."""
        return prompts(self._episode.observe(), self._prompt)[0]

    def answer(self, text: str) -> str:
        """Play a step under the mechanism in an answer; return what the model is told then."""
        parsed = answered_mechanism(text, goal=self._episode.env.goal)
        result = self._episode.step(Mechanisms.stack([parsed.mechanism]))
        self._rewards.append(float(result.reward[0]))
        self._valid.append(parsed.valid)
        told = self.opening()[-1]["content"]
        return told if parsed.valid else f"{REFUSED.format(reason=parsed.reason)}\n\n{told}"


def designer_reward(env: DesignEnv, designer: Designer, seed: int) -> float:
    """Return what a designer earns in the episode of a seed, as ``ChatEpisode.reward`` counts."""
    episode = env.reset(episode_seeds([seed]))
    played = episode.play(designer, generator(seed, "designer/baseline"))
    return sum(float(step.reward[0]) for *_, step in played) / env.settings.episode_length
