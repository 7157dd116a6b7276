"""Exact credit for one step of an episode, in plain TRL: answers of a group are played in forks.

An answer is one digit, the reserve price in tenths. The model is tiny and random at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import mkdtemp
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray
from tokenizers import Tokenizer, models
from transformers import (
    PreTrainedTokenizerFast,
    PrinterCallback,
    Qwen2Config,
    Qwen2ForCausalLM,
    set_seed,
)
from trl import GRPOConfig, GRPOTrainer

import daedalus
from daedalus import Mechanism
from daedalus.lab.studies.signal_to_noise import Rewards, signal_to_noise
from daedalus.market.mechanism import Mechanisms

DIGITS = [str(digit) for digit in range(10)]
STATES, FUTURES, DECISION = 64, 8, 5  # the decision is the sixth of ten
TABLE = Mechanisms.stack([*(Mechanism(reserve_price=digit / 10) for digit in range(10)), None])
env = daedalus.make("stage3").env
starts = np.arange(STATES, dtype=np.uint64)


def rules(answers: Sequence[str]) -> Mechanisms:
    """Return the mechanism of each answer; any other text than a digit earns 0."""
    return TABLE.take(np.array([DIGITS.index(each) if each in DIGITS else 10 for each in answers]))


def random_rules(count: int, rng: np.random.Generator) -> Mechanisms:
    """Return what a policy does that knows nothing."""
    return rules(rng.choice(DIGITS, count).tolist())


rng = np.random.default_rng(0)
states = env.reset(starts)  # paused episodes, which no fork moves
for _ in range(DECISION):
    states.step(random_rules(STATES, rng))


def forked(
    answers: Sequence[str], rows: NDArray[np.int64], step: int, horizon: int = 1
) -> NDArray[np.float64]:
    """Return what each answer earns in its state, in the same futures for all of a group.

    Beyond one step it is the mean reward, and the same random answers follow all of a group.
    """
    rng, count = np.random.default_rng(step), (STATES, FUTURES)
    seeds = rng.integers(2**63, size=count, dtype=np.uint64)
    copies = states.fork(rows.repeat(FUTURES), seeds[rows].ravel())
    total, played = np.zeros(len(copies)), np.repeat(answers, FUTURES)
    for _ in range(horizon):
        total += copies.step(rules(played.tolist())).reward
        played = rng.choice(DIGITS, count)[rows].ravel()
    mean: NDArray[np.float64] = total.reshape(-1, FUTURES).mean(axis=1) / horizon
    return mean


def returns(answers: Sequence[str], rows: NDArray[np.int64], step: int) -> NDArray[np.float64]:
    """Return what each answer's whole episode earns: one start for a group, then ways part."""
    rng, episodes, total = np.random.default_rng(step), env.reset(starts[rows]), np.zeros(len(rows))
    for number in range(env.settings.episode_length):
        played = rules(answers) if number == DECISION else random_rules(len(rows), rng)
        total += episodes.step(played).reward
    return total / env.settings.episode_length


def reward(
    completions: list[str], state: list[int], trainer_state: Any, **_: Any
) -> list[float | None]:
    """Return rewards as TRL wants them; ``state`` is a column of the dataset."""
    rewards: list[float | None]
    rewards = forked(completions, np.array(state), trainer_state.global_step).tolist()
    return rewards


def train(steps: int) -> list[float]:
    """Train by GRPO; return the mean reward of each step."""
    set_seed(0)
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*DIGITS, "<end>"])}))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<end>", pad_token="<end>", padding_side="left"
    )
    shape: dict[str, Any] = {"vocab_size": 11, "hidden_size": 32, "intermediate_size": 64}
    layers: dict[str, Any] = {
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
    }
    model = Qwen2ForCausalLM(Qwen2Config(**shape, **layers))
    seen = (10 * states.observe().proxy("bid_mean")).astype(int).clip(0, 9)
    rows = [{"prompt": str(digit), "state": row} for row, digit in enumerate(seen)]
    settings = GRPOConfig(
        mkdtemp(),
        max_steps=steps,
        learning_rate=1e-2,
        per_device_train_batch_size=64,  # 8 states with 8 answers each
        num_generations=8,
        max_completion_length=1,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = GRPOTrainer(
        model, reward, settings, Dataset.from_list(rows), processing_class=tokenizer
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


def main() -> None:
    """Measure both rewards on all ten digits in each state; then train by forks."""
    answers, rows = DIGITS * STATES, np.arange(STATES).repeat(len(DIGITS))
    left = env.settings.episode_length - DECISION
    recipes: dict[str, Rewards] = {
        "whole episodes": lambda draw: returns(answers, rows, draw).reshape(STATES, -1),
        "forks to the end": lambda draw: forked(answers, rows, draw, left).reshape(STATES, -1),
        "forks of one step": lambda draw: forked(answers, rows, draw).reshape(STATES, -1),
    }
    print(signal_to_noise(recipes, draws=16).to_string(index=False, float_format="{:.2g}".format))
    learnt = train(40)
    first, last = np.mean(learnt[:5]), np.mean(learnt[-5:])
    print(f"reward: {first:.3f} in the first five steps, {last:.3f} in the last five")


if __name__ == "__main__":
    main()
