"""Practice: prompts of market states, and the mechanisms with which a teacher answers them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from datasets import Dataset

from daedalus.design.env import DesignEnv, Designer
from daedalus.design.language.prompt import Message, prompts
from daedalus.design.search.features import observed_features
from daedalus.design.search.states import EpsilonGreedyExplorer, mid_episode_states
from daedalus.design.search.trees import TreeDesigner
from daedalus.market.observation import Observation
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import generator, market_seeds
from daedalus.runs.phases import LESSONS, phase
from daedalus.runs.processes import once
from daedalus.training.settings import TrainingSettings

_AT_ONCE = 16_384  # states that are played side by side


def pairs_of(chats: Sequence[list[Message]], answers: Sequence[str]) -> Dataset:
    """Return chats and their answers as TRL's SFT takes them."""
    completions = [[{"role": "assistant", "content": each}] for each in answers]
    return Dataset.from_dict({"prompt": chats, "completion": completions})


@dataclass(frozen=True)
class Practice:
    """Makes the pairs of SFT in some markets: a prompt, and the teacher's answer.

    The teacher predicts an advantage A for each of its candidates and draws one in proportion to
    exp(A / temperature). It may be wrong in populations that it was not trained on. The model then
    learns the teacher's errors and not random ones.

    Attributes:
        envs: Environments of the states: half are from the first, equal shares from the others.
        teacher: The designer that answers.
        settings: Number of pairs, temperature of the answers, the prompt.
        seed: Seed of the pairs.
    """

    envs: Sequence[DesignEnv]
    teacher: TreeDesigner
    settings: TrainingSettings
    seed: int

    @once
    @phase(LESSONS)
    def lessons(self) -> Dataset:
        """Return pairs of states up to which the teacher plays, with some random mechanisms.

        Each state is used once. A share of them are first decisions.
        """
        sft = self.settings.sft
        first = round(sft.first_decisions * sft.examples)
        states = [*self._mid_episode(sft.examples - first), *self._first_decisions(first)]
        return self._answered(states, "targets")

    @once
    @phase(LESSONS)
    def corrections(self, model: Designer, number: int) -> Dataset:
        """Return pairs of all states of episodes that the model plays.

        It may be led to states that the teacher avoids (DAgger: Ross, Gordon & Bagnell 2011). The
        number of the round keys the markets.
        """
        length = self.envs[0].settings.episode_length
        count = -(-self.settings.sft.corrections.examples // length)
        states = [
            observed
            for place, env, size in self._places(count)
            for observed in self._played(env, model, size, f"corrections/{number}/{place}")
        ]
        return self._answered(states, f"corrections/{number}")

    def _mid_episode(self, count: int) -> Iterator[Observation]:
        exploration = self.settings.sft.exploration
        player = EpsilonGreedyExplorer(self.teacher, self.teacher.candidates, exploration)
        for place, env, size in self._places(count):
            for start in range(0, size, _AT_ONCE):
                part, purpose = min(_AT_ONCE, size - start), f"practice/{place}/{start}"
                yield mid_episode_states(env, part, self.seed, purpose, designer=player).observe()

    def _first_decisions(self, count: int) -> Iterator[Observation]:
        for place, env, size in self._places(count):
            yield env.reset(market_seeds(self.seed, f"practice/first/{place}", size)).observe()

    def _played(
        self, env: DesignEnv, designer: Designer, count: int, purpose: str
    ) -> Iterator[Observation]:
        """Yield what a designer sees at each step of ``count`` episodes that it plays."""
        episodes = env.reset(market_seeds(self.seed, purpose, count))
        for observation, _, _ in episodes.play(designer, generator(self.seed, purpose)):
            yield observation

    def _places(self, count: int) -> Iterator[tuple[int, DesignEnv, int]]:
        """Yield number, environment and share of each place that gets any of ``count`` states."""
        if len(self.envs) == 1:
            sizes = [count]
        else:
            others = np.diff(np.linspace(0, count // 2, len(self.envs)).astype(int))
            sizes = [count - count // 2, *others.tolist()]
        for place, (env, size) in enumerate(zip(self.envs, sizes, strict=True)):
            if size:
                yield place, env, size

    def _answered(self, states: Sequence[Observation], purpose: str) -> Dataset:
        """Return the pairs of observed states; the purpose keys the draws of the answers."""
        features = [observed_features(each) for each in states]
        advantages = np.concatenate([self.teacher.advantages(each) for each in features])
        gumbel_noise = generator(self.seed, purpose).gumbel(size=advantages.shape)
        chosen = (advantages / self.settings.sft.temperature + gumbel_noise).argmax(axis=1)
        candidates = self.teacher.candidates
        answers = [format_mechanism(candidates[row]) for row in range(len(candidates))]
        chats = [chat for each in states for chat in prompts(each, self.settings.prompt)]
        return pairs_of(chats, [answers[each] for each in chosen])
