"""Exact credit for one step of an episode, in plain TRL: answers of a group are played in forks.

The example comes first, then what it is measured against. An answer is one digit, the reserve
price in tenths. The model is tiny and random at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from daedalus.design.env import Episodes
from daedalus.lab.studies.signal_to_noise import Rewards, signal_to_noise
from daedalus.market.mechanism import Mechanisms

# The example: states, forks of them, the reward of an answer, and TRL's trainer.

DIGITS = list("0123456789")
STATES, FUTURES, DECISION = 64, 8, 5  # the decision is the sixth of ten
TABLE = Mechanisms.stack([*(Mechanism(reserve_price=int(digit) / 10) for digit in DIGITS), None])


def rules(answers: Iterable[str]) -> Mechanisms:
    """Return the mechanism of each answer; any other text than a digit earns 0."""
    return TABLE.take(np.array([DIGITS.index(each) if each in DIGITS else 10 for each in answers]))


env, rng = daedalus.make("stage3").env, np.random.default_rng(0)
starts = np.arange(STATES, dtype=np.uint64)
states = env.reset(starts)  # paused episodes, which no fork moves
for _ in range(DECISION):
    states.step(rules(rng.choice(DIGITS, STATES)))


def forks(rows: NDArray[np.int64], rng: np.random.Generator) -> Episodes:
    """Return copies of the state of each answer, in the same futures for all of a group."""
    seeds = rng.integers(2**63, size=(STATES, FUTURES), dtype=np.uint64)
    return states.fork(rows.repeat(FUTURES), seeds[rows].ravel())


def forked(answers: Sequence[str], rows: NDArray[np.int64], step: int) -> NDArray[np.float64]:
    """Return what each answer earns in its state; each training step has other futures."""
    copies = forks(rows, np.random.default_rng(step))
    rewards = copies.step(rules(np.repeat(answers, FUTURES))).reward
    mean: NDArray[np.float64] = rewards.reshape(-1, FUTURES).mean(axis=1)
    return mean


def reward(
    completions: list[str], state: list[int], trainer_state: Any, **_: Any
) -> list[float | None]:
    """Return rewards as TRL wants them; ``state`` is a column of the dataset."""
    return [*forked(completions, np.array(state), trainer_state.global_step).tolist()]


def train(steps: int) -> list[float]:
    """Train by GRPO; return the mean reward of each step."""
    model, tokenizer = tiny_model()
    seen = (10 * states.observe().proxy("bid_mean")).astype(int).clip(0, 9)
    rows = Dataset.from_list([{"prompt": str(each), "state": row} for row, each in enumerate(seen)])
    settings = GRPOConfig(
        mkdtemp(), max_steps=steps, num_generations=8, max_completion_length=1, **OPTIONS
    )
    trainer = GRPOTrainer(model, reward, settings, rows, processing_class=tokenizer)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


# What the example needs besides, on a CPU and without a download.

OPTIONS: dict[str, Any] = {
    "per_device_train_batch_size": 64,  # 8 states with 8 answers each
    "learning_rate": 1e-2,
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "logging_steps": 1,
    "save_strategy": "no",
    "report_to": "none",
    "disable_tqdm": True,
}


def tiny_model() -> tuple[Any, Any]:
    """Return a random model that knows the digits, and its tokenizer."""
    set_seed(0)
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*DIGITS, "<end>"])}))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<end>", pad_token="<end>", padding_side="left"
    )
    shape: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads: dict[str, Any] = {"num_attention_heads": 2, "num_key_value_heads": 2}
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=11, **shape, **heads)), tokenizer


# The measurement: how much of such rewards is due to the answer.


def to_the_end(answers: Sequence[str], rows: NDArray[np.int64], step: int) -> NDArray[np.float64]:
    """Return the mean reward of the rest, with the same random answers after all of a group."""
    rng = np.random.default_rng(step)
    copies, played = forks(rows, rng), np.repeat(answers, FUTURES)
    total = np.zeros(len(copies))
    while not copies.done.all():
        total += copies.step(rules(played)).reward
        played = rng.choice(DIGITS, (STATES, FUTURES))[rows].ravel()
    mean: NDArray[np.float64] = total.reshape(-1, FUTURES).mean(axis=1)
    return mean / (env.settings.episode_length - DECISION)


def whole(answers: Sequence[str], rows: NDArray[np.int64], step: int) -> NDArray[np.float64]:
    """Return what each answer's whole episode earns: one start for a group, then ways part."""
    rng, episodes, total = np.random.default_rng(step), env.reset(starts[rows]), np.zeros(len(rows))
    for number in range(env.settings.episode_length):
        played = answers if number == DECISION else rng.choice(DIGITS, len(rows))
        total += episodes.step(rules(played)).reward
    return total / env.settings.episode_length


def main() -> None:
    """Measure each reward on all ten digits in each state; then train by forks."""
    answers, rows = DIGITS * STATES, np.arange(STATES).repeat(len(DIGITS))
    recipes: dict[str, Rewards] = {
        "whole episodes": lambda draw: whole(answers, rows, draw).reshape(STATES, -1),
        "forks to the end": lambda draw: to_the_end(answers, rows, draw).reshape(STATES, -1),
        "forks of one step": lambda draw: forked(answers, rows, draw).reshape(STATES, -1),
    }
    print(signal_to_noise(recipes, draws=16).to_string(index=False, float_format="{:.2g}".format))
    learnt = train(40)
    first, last = np.mean(learnt[:5]), np.mean(learnt[-5:])
    print(f"reward: {first:.3f} in the first five steps, {last:.3f} in the last five")


if __name__ == "__main__":
    main()
