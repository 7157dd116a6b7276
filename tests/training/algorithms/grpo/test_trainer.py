"""GRPO: its settings reach the trainer, and its signals are logged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from trl.generation import vllm_client, vllm_generation

from daedalus.design.env import DesignEnv
from daedalus.design.search.space import random_mechanisms
from daedalus.training.algorithms.grpo.settings import GrpoSettings
from daedalus.training.algorithms.grpo.trainer import grpo_config, train_grpo
from daedalus.training.model import LanguageModel
from daedalus.training.sources.make_source import make_source
from tests.training.conftest import GRPO, answer_tokens, make_run
from tests.training.fake_vllm import serving


def test_settings_reach_the_trainer(tmp_path: Path) -> None:
    settings = GrpoSettings(
        steps=7, prompts_per_step=4, group_size=3, micro_batch=6, beta=0.2, entropy_bonus=0.3,
        scale_rewards="group", temperature=0.7, learning_rate=1e-3, loss_type="bnpo",
        save_every=4,
    )  # fmt: skip
    config = grpo_config(settings, tmp_path, seed=5)
    assert (config.max_steps, config.num_generations, config.num_iterations) == (7, 3, 1)
    assert config.per_device_train_batch_size * config.gradient_accumulation_steps == 12
    assert (config.beta, config.entropy_coef, config.temperature) == (0.2, 0.3, 0.7)
    assert (config.loss_type, config.importance_sampling_level) == ("bnpo", "token")
    assert (config.epsilon, config.epsilon_high, config.save_steps) == (0.2, 0.2, 4)
    assert not config.mask_truncated_completions and config.use_bias_correction_kl
    assert not config.use_vllm
    assert (config.scale_rewards, config.learning_rate, config.seed) == ("group", 1e-3, 5)


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> dict[str, torch.Tensor]:
    """Let TRL's client talk to a server by HTTP, without vLLM and NCCL; return the sent weights.

    TRL then takes the steps that it takes with the pinned version of vLLM. Only the weights stay
    here: NCCL would carry them from GPU to GPU.
    """
    sent: dict[str, torch.Tensor] = {}

    def keep(iterator: Iterator[tuple[str, torch.Tensor]], **options: Any) -> None:
        sent.update((name, weights.clone()) for name, weights in iterator)

    for module in (vllm_client, vllm_generation):
        monkeypatch.setattr(module, "is_vllm_available", lambda *versions: True)
    for name in (
        "STATEFUL_TRAINER_ENGINE",
        "WEIGHT_UPDATE_LIFECYCLE",
        "RESET_PREFIX_CACHE_SUCCESS",
    ):
        monkeypatch.setattr(vllm_client, f"_HAS_{name}", True)
    monkeypatch.setattr(vllm_client, "packed_nccl_broadcast_producer", keep, raising=False)
    monkeypatch.setattr(vllm_client.VLLMClient, "init_communicator", lambda self, device: None)
    return sent


def test_a_vllm_server_samples_if_it_is_named(
    env: DesignEnv, small: LanguageModel, wired: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    """The server is a fake, so this shows what TRL asks of a server, and not that vLLM answers."""
    mechanisms = random_mechanisms(2, np.random.default_rng(0))
    answers = [answer_tokens(small.tokenizer, mechanisms[row]) for row in range(2)]
    before = {name: weights.clone() for name, weights in small.model.named_parameters()}

    def score(prompt: Sequence[int], answer: Sequence[int]) -> list[float]:
        with torch.no_grad():
            logits = small.model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]
        scores = torch.log_softmax(logits / 0.7, dim=-1)
        return scores[range(len(answer)), list(answer)].tolist()

    with serving(answers, score) as server:
        settings = replace(GRPO, vllm_server=server.address, temperature=0.7, warmup_steps=0)
        run = make_run(env, tmp_path, settings)
        source = make_source(small, run, "grpo")
        train_grpo(small, source, run)
    update = ["/start_weight_update", "/update_weights", "/finish_weight_update"]
    step = [*update, "/reset_prefix_cache", "/v1/completions"]
    assert [path for path, _ in server.asked] == step * 2
    announced, asked = server.asked[1][1]["update_info"], server.asked[4][1]
    assert set(announced["names"]) == set(before) == set(wired)
    assert any(not torch.equal(wired[name], before[name]) for name in before)  # after a step
    assert (asked["model"], asked["n"], asked["temperature"]) == ("the-model", 2, 0.7)
    assert asked["max_tokens"] == settings.max_completion_tokens
    chats = {tuple(chat) for chat in small.tokenizer.apply_chat_template(
        [row["prompt"] for row in source.prompts], add_generation_prompt=True, return_dict=False
    )}  # fmt: skip
    assert len(asked["prompt"]) == 2 and {tuple(each) for each in asked["prompt"]} <= chats
    for record in run.tracker.history("grpo"):
        assert record["validity"] == 1 and record["reward"] > 0 and np.isfinite(record["loss"])
