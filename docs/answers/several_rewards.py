"""Several rewards in one GRPO, in plain TRL: their sum, or each normalised alone (GDPO).

An answer has three words: a format, the reserve in tenths, and whether winners are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from tempfile import mkdtemp
from typing import Any

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    PrinterCallback,
    Qwen2Config,
    Qwen2ForCausalLM,
    set_seed,
)
from trl import GRPOConfig, GRPOTrainer

from daedalus import Mechanism
from daedalus.market.mechanism import Mechanisms
from docs.answers.forks import DIGITS, FUTURES, STATES, states

FORMATS = ["first_price", "second_price", "vcg"]
NAMED = ["named", "secret"]
ANSWERS = [" ".join(words) for words in product(FORMATS, DIGITS, NAMED)]
WORDS = [*FORMATS, *DIGITS, *NAMED, "<end>"]
MECHANISMS = [
    Mechanism(auction_type=kind, reserve_price=int(digit) / 10, reveal_winner_identity=name == NAMED[0])
    for kind, digit, name in map(str.split, ANSWERS)
]
TABLE = Mechanisms.stack([*MECHANISMS, None])
UPDATES = {
    "sum, scaled by the batch": {"scale_rewards": "batch"},
    "sum, scaled by the group": {"scale_rewards": "group"},
    "each normalised alone": {"multi_objective_aggregation": "normalize_then_sum"},
}
STEPS, SEEDS, LAST = 80, range(3), 10


def market(
    completions: list[str], state: list[int], trainer_state: Any, **_: Any
) -> list[float]:
    """Return R of each answer in its state, in the same futures for all of a group."""
    rng, rows = np.random.default_rng(trainer_state.global_step), np.array(state)
    seeds = rng.integers(2**63, size=(STATES, FUTURES), dtype=np.uint64)
    played = [ANSWERS.index(each) if each in ANSWERS else len(ANSWERS) for each in completions]
    copies = states.fork(rows.repeat(FUTURES), seeds[rows].ravel())
    earned = copies.step(TABLE.take(np.repeat(played, FUTURES))).reward
    means: list[float] = earned.reshape(-1, FUTURES).mean(axis=1).tolist()
    return means


def pays_its_bid(completions: list[str], **_: Any) -> list[float]:
    """Return 1 where winners pay their own bids."""
    return [float(each in ANSWERS and each.startswith("first_price")) for each in completions]


def keeps_a_reserve(completions: list[str], **_: Any) -> list[float]:
    """Return 1 where the reserve is 0.2 or more."""
    return [float(each in ANSWERS and each.split()[1] >= "2") for each in completions]


def hides_winners(completions: list[str], **_: Any) -> list[float]:
    """Return 1 where winners are not named."""
    return [float(each in ANSWERS and each.endswith("secret")) for each in completions]


RULES = [pays_its_bid, keeps_a_reserve, hides_winners]


def train(update: dict[str, Any], seed: int) -> tuple[float, float]:
    """Train by GRPO; return R and the share of rules kept in the last steps."""
    set_seed(seed)
    words = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<end>", pad_token="<end>", padding_side="left"
    )
    shape: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads: dict[str, Any] = {"num_attention_heads": 2, "num_key_value_heads": 2}
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(WORDS), **shape, **heads))
    seen = (10 * states.observe().proxy("bid_mean")).astype(int).clip(0, 9)
    trainer = GRPOTrainer(
        model,
        [market, *RULES],
        GRPOConfig(
            mkdtemp(),
            seed=seed,
            max_steps=STEPS,
            learning_rate=1e-2,
            per_device_train_batch_size=64,  # 8 states with 8 answers each
            num_generations=8,
            max_completion_length=3,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            **update,
        ),
        Dataset.from_list([{"prompt": str(digit), "state": row} for row, digit in enumerate(seen)]),
        processing_class=tokenizer,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return last_of(trainer.state.log_history, ["market"]), last_of(
        trainer.state.log_history, [each.__name__ for each in RULES]
    )


def last_of(history: Sequence[dict[str, float]], names: Sequence[str]) -> float:
    """Return the mean of some rewards in the last steps, as TRL logged them."""
    logged = [[entry[f"rewards/{name}/mean"] for name in names] for entry in history[-1 - LAST : -1]]
    return float(np.mean(logged))


def rows() -> Iterator[str]:
    """Yield a line for each update: R and rules kept, mean and range over seeds."""
    for name, update in UPDATES.items():
        earned, kept = np.array([train(update, seed) for seed in SEEDS]).T
        yield f"{name:26s} R {earned.mean():.3f}   rules kept {kept.mean():.2f}"


def main() -> None:
    """Train by each update, and print what the last steps earned."""
    kept = [np.array([float(each in ANSWERS)]) for each in ANSWERS]
    assert len(kept) == len(MECHANISMS)
    for row in rows():
        print(row)


if __name__ == "__main__":
    main()
