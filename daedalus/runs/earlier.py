"""Settings that are gone: what a command line is told of them, and how runs that had them read."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from omegaconf import DictConfig, OmegaConf

from daedalus.checks import CannotRunError

_OFF: dict[str, object] = {
    "training.grpo.siblings": 0,
    "training.grpo.regret_pool": 1,
    "training.grpo.rollouts": "state",
    "training.curriculum": {"stages": {}},
    "training.grpo.epsilon": 0.2,
    "training.grpo.epsilon_high": None,
    "training.grpo.importance_sampling_level": "token",
    "training.grpo.mask_truncated_completions": False,
    "training.grpo.use_bias_correction_kl": True,
    "training.grpo.iterations": 1,
    "hub.adapter_only": False,
    "model.double_quantisation": False,
}
"""Settings that are gone, and the value that turned each off."""
_OPTIONS = ("training.grpo_episode",)
_GOAL = "prompt.objective"  # prompts tell the goal of the market that they show


def gone(key: str) -> str | None:
    """Return what to say of a key, or of GROUP/OPTION, that is gone; None of any other."""
    dotted = f"{key.replace('/', '.')}."
    if f"{_GOAL}." in dotted:
        return f"{key}: prompts tell reward.weights, so set these, and leave it out"
    if any(dotted.startswith(f"{each}.") for each in (*_OFF, *_OPTIONS)):
        return f"{key}: it is gone (docs/log.md says why, and which commit has it); leave it out"
    return None


def load_run_config(path: Path) -> DictConfig:
    """Return the config.yaml of a run, without the settings that are gone and changed nothing.

    Raises:
        CannotRunError: The run had one of them on.
    """
    config = cast(DictConfig, OmegaConf.load(path))
    for key, off in _OFF.items():
        above, _, name = key.rpartition(".")
        node = OmegaConf.select(config, above)
        if isinstance(node, DictConfig) and name in node and node.pop(name) != off:
            raise CannotRunError(gone(key))
    if isinstance(prompt := OmegaConf.select(config, "training.prompt"), DictConfig):
        prompt.pop("objective", None)
    return config
