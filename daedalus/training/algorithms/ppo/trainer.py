"""PPO on markets side by side: a baseline that is no language model."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gymnasium.vector import VectorEnv
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize
from tqdm import tqdm

from daedalus.design.designers.ppo import PpoDesigner
from daedalus.market.mechanism import FIELDS
from daedalus.runs.phases import PPO as PPO_PHASE
from daedalus.runs.phases import phase
from daedalus.training.algorithms.ppo.checkpoint import Checkpoint
from daedalus.training.algorithms.ppo.settings import PpoTraining
from daedalus.training.algorithms.ppo.side_by_side import SideBySide

PHASE = "ppo"
"""Name under which the rollouts are logged."""

SAVE_SECONDS = 60.0
"""Age of the last checkpoint at which training saves another."""

Log = Callable[[str, int, Mapping[str, float]], None]


@phase(PPO_PHASE)
def train_ppo(
    markets: VectorEnv[Any, Any, Any],
    settings: PpoTraining,
    seed: int,
    log: Log,
    checkpoint: Path | None = None,
) -> PpoDesigner:
    """Return the designer after its training, which goes on from its checkpoint if there is one.

    Stable-Baselines3 draws from the global generators of Python, numpy and torch, and sets their
    seeds at the start.

    Args:
        markets: ``settings.markets`` markets of ``doors.gym``, with autoreset in the same step.
        settings: Size of the training, and the update.
        seed: Seed of all draws.
        log: Takes the name of the phase, the number of the rollout and its metrics: the mean
            reward, and the entropy of a field's level in nats.
        checkpoint: File of the checkpoint, which is saved every ``SAVE_SECONDS``; None saves none.
    """
    start = checkpoint and Checkpoint.read(checkpoint)
    model = start.restored() if start else _begun(markets, settings, seed)
    rollouts = _Rollouts(log, settings.decisions, checkpoint, start.rollouts if start else 0)
    left = settings.decisions - model.num_timesteps
    model.learn(left, rollouts, reset_num_timesteps=False)
    return _designer(model)


def rollouts_of(checkpoint: Path) -> int:
    """Return the number of rollouts before a checkpoint, 0 if there is none."""
    start = Checkpoint.read(checkpoint)
    return start.rollouts if start else 0


def _begun(markets: VectorEnv[Any, Any, Any], settings: PpoTraining, seed: int) -> PPO:
    """Return a model before its first rollout."""
    scaled = VecNormalize(SideBySide(markets, seed), norm_reward=False)
    return PPO(
        "MlpPolicy",
        scaled,
        learning_rate=_rate(settings),
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


def _rate(settings: PpoTraining) -> Callable[[float], float]:
    """Return the learning rate by the share of decisions that is left.

    The last rollout is played past ``decisions``, so Stable-Baselines3 lets the share fall below 0.
    """
    rollouts = math.ceil(settings.decisions / (settings.markets * settings.rollout_steps))
    return lambda left: settings.learning_rate * max(left, 1 / rollouts)


class _Rollouts(BaseCallback):
    """Logs the mean reward and the entropy of each rollout, shows a bar, and saves checkpoints."""

    def __init__(self, log: Log, decisions: int, checkpoint: Path | None, number: int) -> None:
        super().__init__()
        self._log = log
        self._bar = tqdm(total=decisions, desc="PPO, decisions", leave=False, disable=None)
        self._checkpoint = checkpoint
        self._number = number
        self._saved = time.monotonic()

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        """Save a checkpoint: only now the update by the last rollout is complete."""
        if self._checkpoint and time.monotonic() - self._saved >= SAVE_SECONDS:
            assert isinstance(self.model, PPO)
            Checkpoint.of(self.model, self._number).write(self._checkpoint)
            self._saved = time.monotonic()

    def _on_rollout_end(self) -> None:
        self._number += 1
        buffer = self.locals["rollout_buffer"]
        entropy = -float(buffer.log_probs.mean()) / len(FIELDS)
        reward = float(buffer.rewards.mean())
        self._log(PHASE, self._number, {"reward": reward, "entropy": entropy})
        self._bar.update(self.num_timesteps - self._bar.n)

    def _on_training_end(self) -> None:
        self._bar.close()


def _designer(model: PPO) -> PpoDesigner:
    """Return the network of the policy, which needs neither torch nor Stable-Baselines3."""
    scaled = model.get_vec_normalize_env()
    statistics: Any = scaled and scaled.obs_rms
    policy: Any = model.policy
    inner = policy.mlp_extractor.policy_net
    layers = tuple(
        (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
        for layer in (inner[0], inner[2], policy.action_net)
    )
    return PpoDesigner(statistics.mean, statistics.var, layers)
