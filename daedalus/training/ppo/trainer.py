"""PPO on markets side by side: a baseline that is no language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gymnasium.vector import VectorEnv
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize
from tqdm import tqdm

from daedalus.designers.ppo import PpoDesigner
from daedalus.market.mechanism import FIELDS
from daedalus.runs.phases import PPO as PPO_PHASE
from daedalus.runs.phases import phase
from daedalus.training.ppo.markets import SideBySide
from daedalus.training.ppo.settings import PpoTraining

PHASE = "ppo"
"""Name under which the rollouts are logged."""

Log = Callable[[str, int, Mapping[str, float]], None]


@phase(PPO_PHASE)
def train_ppo(
    markets: VectorEnv[Any, Any, Any], settings: PpoTraining, seed: int, log: Log
) -> PpoDesigner:
    """Return the designer after its training.

    Stable-Baselines3 draws from the global generators of Python, numpy and torch, and sets their
    seeds at the start.

    Args:
        markets: ``settings.markets`` markets of ``daedalus.gym``, with autoreset in the same step.
        settings: Size of the training, and the update.
        seed: Seed of all draws.
        log: Takes the name of the phase, the number of the rollout and its metrics: the mean
            reward, and the entropy of a field's level in nats.
    """
    scaled = VecNormalize(SideBySide(markets, seed), norm_reward=False)
    model = PPO(
        "MlpPolicy",
        scaled,
        learning_rate=lambda left: settings.learning_rate * left,
        n_steps=settings.rollout_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=settings.discount,
        gae_lambda=settings.trace,
        clip_range=settings.clip,
        ent_coef=settings.entropy_bonus,
        policy_kwargs={"net_arch": [settings.width] * 2},
        seed=seed,
        device="cpu",
    )
    model.learn(settings.decisions, _Rollouts(log, settings.decisions))
    return _designer(model, scaled)


class _Rollouts(BaseCallback):
    """Logs the mean reward and the entropy of each rollout, and shows a bar."""

    def __init__(self, log: Log, decisions: int) -> None:
        super().__init__()
        self._log = log
        self._bar = tqdm(total=decisions, desc="PPO, decisions", leave=False, disable=None)
        self._number = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self._number += 1
        buffer = self.locals["rollout_buffer"]
        entropy = -float(buffer.log_probs.mean()) / len(FIELDS)
        reward = float(buffer.rewards.mean())
        self._log(PHASE, self._number, {"reward": reward, "entropy": entropy})
        self._bar.update(self.num_timesteps - self._bar.n)

    def _on_training_end(self) -> None:
        self._bar.close()


def _designer(model: PPO, scaled: VecNormalize) -> PpoDesigner:
    """Return the network of the policy, which needs neither torch nor Stable-Baselines3."""
    statistics: Any = scaled.obs_rms
    policy: Any = model.policy
    inner = policy.mlp_extractor.policy_net
    layers = tuple(
        (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
        for layer in (inner[0], inner[2], policy.action_net)
    )
    return PpoDesigner(statistics.mean, statistics.var, layers)
