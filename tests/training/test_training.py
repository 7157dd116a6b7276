"""SFT, GRPO, export and resuming: the real trainers on a very small model."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.designers.prompt import PromptSettings
from daedalus.env import DesignEnv
from daedalus.market.seeds import market_seeds
from daedalus.rewards.stack import RewardStack
from daedalus.search.states import RandomWalkDesigner
from daedalus.tracking import Tracker, TrackingSettings
from daedalus.training.checkpoints import export, last_checkpoint
from daedalus.training.generation import make_generate
from daedalus.training.grpo import train_grpo
from daedalus.training.model import (
    LanguageModel,
    load_language_model,
    make_language_model,
    trained_prompt,
)
from daedalus.training.settings import GrpoSettings, LoraSettings, ModelSettings, SftSettings
from daedalus.training.sft import sampled_validity, synthetic_pairs, train_sft
from daedalus.training.sources import state_source
from daedalus.training.tokenizer import number_tokens
from tests.training.conftest import PROMPT, SMALL

NO_LORA, LORA = LoraSettings(), LoraSettings(rank=4, alpha=8)
SFT = SftSettings(steps=3, batch_size=4, examples=16, warmup_steps=1)
GRPO = GrpoSettings(
    steps=2, prompts_per_step=2, group_size=2, micro_batch=4, states=8, futures=4, save_every=1
)


def tracker(out: Path) -> Tracker:
    return Tracker(TrackingSettings("disabled"), out, "test", {})


def test_the_shipped_model_is_of_the_stated_size(env: DesignEnv) -> None:
    language_model = make_language_model(ModelSettings(), PROMPT, env, seed=0)
    assert 1e6 < language_model.model.num_parameters() < 5e6
    assert language_model.model.config.model_type == "qwen2"


def test_weights_depend_on_the_seed_alone(env: DesignEnv) -> None:
    one, same, other = (make_language_model(SMALL, PROMPT, env, seed).model for seed in (1, 1, 2))
    weights = [model.model.layers[0].mlp.up_proj.weight for model in (one, same, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize("lora", [NO_LORA, LORA], ids=["all weights", "adapters"])
def test_sft_changes_the_model_and_exports_plain_weights(
    env: DesignEnv, small: LanguageModel, tmp_path: Path, lora: LoraSettings
) -> None:
    base = tmp_path / "base"
    export(small, PROMPT, "", base)
    pairs = synthetic_pairs(env, PROMPT, SFT.examples, seed=0)
    log = tracker(tmp_path)
    trained = train_sft(small, pairs, SFT, lora, log, tmp_path / "checkpoints", seed=0)
    tokens = torch.arange(5)[None]
    expected = trained.model.eval()(tokens).logits
    export(trained, PROMPT, base, tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert not [name for name in names if "adapter" in name]
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    torch.testing.assert_close(loaded.eval()(tokens).logits, expected, atol=1e-4, rtol=1e-4)
    start = AutoModelForCausalLM.from_pretrained(base).eval()(tokens).logits
    assert (start - expected).abs().max() > 1e-3
    assert [record["step"] for record in log.history("sft")] == [1, 2, 3]


def test_numbers_stay_between_their_neighbours(env: DesignEnv, tmp_path: Path) -> None:
    compact = PromptSettings(averages=["welfare", "revenue"], compact=True)
    language_model = make_language_model(SMALL, compact, env, seed=0)
    before = language_model.model.get_input_embeddings().weight.detach().clone()
    pairs = synthetic_pairs(env, compact, SFT.examples, seed=0)
    log, folder = tracker(tmp_path), tmp_path / "checkpoints"
    trained = train_sft(language_model, pairs, SFT, NO_LORA, log, folder, seed=0)
    moved = (trained.model.get_input_embeddings().weight != before).any(dim=1)
    numbers = trained.tokenizer.convert_tokens_to_ids(number_tokens())
    assert moved.any() and not moved[numbers].any()


def test_grpo_logs_the_published_signals(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    log = tracker(tmp_path)
    source = state_source(env, RandomWalkDesigner(), RewardStack(), None, PROMPT, GRPO, seed=0)
    train_grpo(small, source, GRPO, NO_LORA, log, tmp_path / "checkpoints", seed=0)
    records = log.history("grpo")
    assert [record["step"] for record in records] == [1, 2]
    for name in ("grad_norm", "reward_std", "entropy", "completion_length", "validity"):
        assert np.isfinite(records[-1][name])
    assert "composite" in records[-1] and "frac_reward_zero_std" in records[-1]


def test_exported_model_designs_by_itself(
    env: DesignEnv, small: LanguageModel, tmp_path: Path
) -> None:
    prompt = PromptSettings(rounds=1, stage=True)
    export(small, prompt, "", tmp_path / "model")
    assert trained_prompt(tmp_path / "model") == prompt
    told = tmp_path / "model" / "prompt.json"
    told.write_text(told.read_text().replace('"version": 1', '"version": 0'))
    with pytest.raises(ValueError, match="prompts have changed since"):
        trained_prompt(tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    assert model.generation_config.eos_token_id == tokenizer.convert_tokens_to_ids("<|im_end|>")
    generate = make_generate(LanguageModel(model, tokenizer), 0.0, 16)
    designer = LanguageModelDesigner(generate, prompt)
    proposals = designer.propose(env.reset(market_seeds(0, "x", 3)), np.random.default_rng(0))
    assert len(proposals) == 3  # nonsense from random weights, so malformed, but never an exception
    assert proposals.malformed.all()


def test_sampling_depends_on_the_generator_alone(env: DesignEnv, small: LanguageModel) -> None:
    chats = [[{"role": "user", "content": "hello"}]] * 4
    generate = make_generate(small, 1.0, 8)
    torch.manual_seed(1)
    one = generate(chats, np.random.default_rng(0))
    torch.manual_seed(2)
    assert generate(chats, np.random.default_rng(0)) == one
    assert generate(chats, np.random.default_rng(1)) != one
    assert len(set(one)) > 1


def test_a_checkpoint_cut_short_is_not_resumed(tmp_path: Path) -> None:
    for step, complete in ((9, True), (10, True), (11, False)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if complete:
            (folder / "trainer_state.json").touch()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    assert last_checkpoint(tmp_path / "nothing") is None


def test_resuming_a_phase_ends_where_an_uninterrupted_one_does(
    env: DesignEnv, tmp_path: Path
) -> None:
    """Stop after one of two steps; the second run must give the weights of one whole run."""

    def run(folder: Path, steps: int) -> tuple[torch.Tensor, list[dict[str, float]]]:
        model = make_language_model(SMALL, PROMPT, env, seed=0)
        settings = GrpoSettings(**{**vars(GRPO), "steps": steps, "schedule": "constant"})
        folder.mkdir(exist_ok=True)
        log = tracker(folder)
        stack = RewardStack({"schema": 1.0, "composite": 1.0})
        source = state_source(env, RandomWalkDesigner(), stack, None, PROMPT, settings, seed=0)
        trained = train_grpo(model, source, settings, NO_LORA, log, folder / "checkpoints", 0)
        weights = torch.cat([each.flatten() for each in trained.model.parameters()])
        return weights.detach(), log.history("grpo")

    whole, history = run(tmp_path / "whole", 2)
    _, first_part = run(tmp_path / "parts", 1)
    resumed, resumed_history = run(tmp_path / "parts", 2)
    torch.testing.assert_close(resumed, whole)
    assert resumed_history[:1] == first_part  # its seconds too: the step was not played again
    assert (
        [each["step"] for each in resumed_history] == [each["step"] for each in history] == [1, 2]
    )


def launch(cwd: Path, root: Path, *overrides: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(root / "run.py"), "+experiment=smoke", *overrides]
    with (cwd / "log.txt").open("ab") as log:
        return subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log)


def wait_for(condition: object, process: subprocess.Popen[bytes], seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert process.poll() is None, "the run ended before it could be interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def grpo_records(run: Path) -> list[dict[str, float]]:
    lines = (run / "metrics.jsonl").read_text().splitlines(keepends=True)
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    return [record for record in records if record["phase"] == "grpo"]


@pytest.mark.slow
def test_a_killed_run_resumes_and_finishes(root: Path, tmp_path: Path) -> None:
    overrides = ["training.grpo.steps=12"]
    process = launch(tmp_path, root, *overrides)
    wait_for(lambda: list(tmp_path.glob("outputs/smoke/*/checkpoints/grpo/checkpoint-3")), process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (run,) = tmp_path.glob("outputs/smoke/*")
    assert not (run / "finished").exists() and not (run / "model").exists()
    before = grpo_records(run)[:2]  # checkpoint 3 may be cut short, 2 is whole
    assert launch(tmp_path, root, *overrides, "resume=true").wait() == 0
    assert [run] == list(tmp_path.glob("outputs/smoke/*"))
    history = json.loads((run / "training_history.json").read_text())
    assert [record["step"] for record in history] == list(range(1, 13))
    assert grpo_records(run)[:2] == before  # their seconds too: it went on and did not start over
    assert (run / "finished").exists()
    text = (tmp_path / "log.txt").read_text()
    assert "sampled at temperature 1" in text and text.count("sampled at temperature 1") == 1


@pytest.mark.slow
def test_resuming_with_other_settings_is_refused(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "outputs" / "smoke" / "2026-01-01_00-00-00"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("seed: 99\n")
    assert launch(tmp_path, root, "resume=true").wait() == 1
    assert "seed: 99" in (tmp_path / "log.txt").read_text()
    assert not (folder / "metrics.jsonl").exists()


@pytest.mark.slow
def test_same_seed_same_numbers(root: Path, tmp_path: Path) -> None:
    results = []
    for name, threads in (("one", "1"), ("two", "2")):
        cwd = tmp_path / name
        cwd.mkdir()
        environment = {"NUMBA_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        command = [sys.executable, str(root / "run.py"), "+experiment=smoke"]
        subprocess.run(command, cwd=cwd, env=os.environ | environment, check=True)
        (run,) = cwd.glob("outputs/smoke/*")
        records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        kept = [
            {key: value for key, value in record.items() if not key.endswith("seconds")}
            for record in records
        ]
        results.append((kept, (run / "episodes.csv").read_text()))
    assert results[0] == results[1]


@pytest.mark.slow
def test_sft_learns_to_write_mechanisms(env: DesignEnv, root: Path, tmp_path: Path) -> None:
    """A short run of the shipped model; the full one is measured in the README."""
    language_model = make_language_model(ModelSettings(), PROMPT, env, seed=0)
    settings = SftSettings(steps=200, examples=4096)
    pairs = synthetic_pairs(env, PROMPT, settings.examples, seed=0)
    trained = train_sft(
        language_model, pairs, settings, NO_LORA, tracker(tmp_path), tmp_path / "checkpoints", 0
    )
    assert sampled_validity(trained, env, PROMPT, 256, seed=0) > 0.7
    export(trained, PROMPT, "", tmp_path / "model")
    generate = make_generate(load_language_model(tmp_path / "model"), 0.0, 128)
    designer = LanguageModelDesigner(generate, PROMPT)
    proposals = designer.propose(env.reset(market_seeds(0, "x", 8)), np.random.default_rng(0))
    assert not proposals.malformed.any()
    shutil.rmtree(tmp_path / "checkpoints")


@pytest.mark.slow
def test_smoke_run_leaves_everything(root: Path, tmp_path: Path) -> None:
    assert launch(tmp_path, root, "tracking=wandb").wait() == 0, (tmp_path / "log.txt").read_text()
    (run,) = tmp_path.glob("outputs/smoke/*")
    for name in (
        "config.yaml provenance.json metrics.jsonl training_history.json training_history.csv "
        "steps.csv episodes.csv summary.csv differences.csv figures/boxplot.png "
        "figures/metrics.png figures/learning_curves.png model/model.safetensors finished"
    ).split():
        assert (run / name).exists(), name
    assert list(run.glob("wandb/offline-run-*"))
    (record,) = json.loads((run / "provenance.json").read_text())
    assert record["packages"]["trl"] and "smoke" in record["command"]
    assert set(pd.read_csv(run / "summary.csv")["designer"]) == {
        "random", "informed_greedy", "trained",
    }  # fmt: skip
