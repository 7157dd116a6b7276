"""GRPO: its settings reach the trainer, and its signals are logged."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from daedalus.env import DesignEnv
from daedalus.rewards.stack import RewardStack
from daedalus.search.states import RandomWalkDesigner
from daedalus.training.grpo import grpo_config, train_grpo
from daedalus.training.model import LanguageModel
from daedalus.training.settings import GrpoSettings
from daedalus.training.sources import state_source
from tests.training.conftest import ALL_WEIGHTS, GRPO, PROMPT, make_tracker


def test_grpo_logs_the_published_signals(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    log = make_tracker(tmp_path)
    source = state_source(env, RandomWalkDesigner(), RewardStack(), None, PROMPT, GRPO, seed=0)
    train_grpo(small, source, GRPO, ALL_WEIGHTS, log, tmp_path / "checkpoints", seed=0)
    records = log.history("grpo")
    assert [record["step"] for record in records] == [1, 2]
    for name in ("grad_norm", "reward_std", "entropy", "completion_length", "validity"):
        assert np.isfinite(records[-1][name])
    assert "composite" in records[-1] and "frac_reward_zero_std" in records[-1]


def test_settings_reach_the_trainer(tmp_path: Path) -> None:
    settings = GrpoSettings(
        steps=7, prompts_per_step=4, group_size=3, micro_batch=6, beta=0.2, entropy_bonus=0.3,
        iterations=2, scale_rewards="group", temperature=0.7, learning_rate=1e-3,
        loss_type="luspo", importance_sampling_level="sequence", epsilon=0.1, epsilon_high=0.3,
        mask_truncated_completions=True, use_bias_correction_kl=False,
    )  # fmt: skip
    config = grpo_config(settings, tmp_path, seed=5)
    assert (config.max_steps, config.num_generations, config.num_iterations) == (7, 3, 2)
    assert config.per_device_train_batch_size * config.gradient_accumulation_steps == 12
    assert (config.beta, config.entropy_coef, config.temperature) == (0.2, 0.3, 0.7)
    assert (config.loss_type, config.importance_sampling_level) == ("luspo", "sequence")
    assert (config.epsilon, config.epsilon_high) == (0.1, 0.3)
    assert config.mask_truncated_completions and not config.use_bias_correction_kl
    assert not config.use_vllm and grpo_config(GrpoSettings(), tmp_path, 0).epsilon_high == 0.2
    assert (config.scale_rewards, config.learning_rate, config.seed) == ("group", 1e-3, 5)


def test_a_vllm_server_samples_if_it_is_named(tmp_path: Path) -> None:
    config = grpo_config(GrpoSettings(vllm_server="http://localhost:8000"), tmp_path, seed=0)
    assert config.use_vllm and config.vllm_mode == "server"
    assert config.vllm_server_base_url == "http://localhost:8000"
