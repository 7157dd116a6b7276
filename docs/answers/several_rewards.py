"""Several rewards in one GRPO, in plain TRL: their sum, or each normalised alone (GDPO).

An answer has three words: a format, the reserve in tenths, and whether winners are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import mkdtemp
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers
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
from daedalus.market.literals import AuctionType
from daedalus.market.mechanism import Mechanisms

DIGITS = [str(digit) for digit in range(10)]
STATES, FUTURES, DECISION = 64, 8, 5  # the decision is the sixth of ten
FORMATS: list[AuctionType] = ["first_price", "second_price", "vcg"]
RULES_OF = {
    f"{kind} {digit} {name}": Mechanism(
        auction_type=kind, reserve_price=int(digit) / 10, reveal_winner_identity=name == "named"
    )
    for kind in FORMATS
    for digit in DIGITS
    for name in ("named", "secret")
}
ANSWERS = [*RULES_OF]
WORDS = [*FORMATS, *DIGITS, "named", "secret", "<end>"]
TABLE = Mechanisms.stack([*RULES_OF.values(), None])
states = daedalus.make("stage3").env.reset(np.arange(STATES, dtype=np.uint64))
for step in range(DECISION):  # paused episodes, which no fork moves
    drawn = np.random.default_rng(step).integers(len(ANSWERS), size=STATES)
    states.step(TABLE.take(drawn))
UPDATES = {
    "sum, scaled by the batch": {"scale_rewards": "batch"},
    "sum, scaled by the group": {"scale_rewards": "group"},
    "each normalised alone": {"multi_objective_aggregation": "normalize_then_sum"},
}
STEPS, SEEDS, LAST = 200, range(3), 10


def market(
    completions: Sequence[str], state: Sequence[int], trainer_state: Any, **_: Any
) -> list[float]:
    """Return R of each answer in its state, in the same futures for all of a group."""
    earned: list[float] = played(completions, state, trainer_state.global_step).tolist()
    return earned


def played(answers: Sequence[str], state: Sequence[int], step: int) -> NDArray[np.float64]:
    """Return R of each answer in its state; any other text earns 0."""
    rng, rows = np.random.default_rng(step), np.array(state)
    seeds = rng.integers(2**63, size=(STATES, FUTURES), dtype=np.uint64)
    chosen = [ANSWERS.index(each) if each in ANSWERS else len(ANSWERS) for each in answers]
    copies = states.fork(rows.repeat(FUTURES), seeds[rows].ravel())
    earned = copies.step(TABLE.take(np.repeat(chosen, FUTURES))).reward
    mean: NDArray[np.float64] = earned.reshape(-1, FUTURES).mean(axis=1)
    return mean


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
    rewards: list[Any] = [market, *RULES]
    trainer = GRPOTrainer(
        model,
        rewards,
        GRPOConfig(
            mkdtemp(),
            seed=seed,
            max_steps=STEPS,
            learning_rate=5e-3,
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
    last = trainer.state.log_history[-1 - LAST : -1]  # the entry after them sums up
    earned, *kept = (
        np.mean([entry[f"rewards/{each.__name__}/mean"] for entry in last])
        for each in (market, *RULES)
    )
    return float(earned), float(np.mean(kept))


def best() -> tuple[str, float]:
    """Return the one answer that earns most in all states among those that keep all rules."""
    kept = [each for each in ANSWERS if all(rule([each]) == [1.0] for rule in RULES)]
    every = range(STATES)
    earned = {each: float(played([each] * STATES, every, STEPS).mean()) for each in kept}
    return max(earned.items(), key=lambda each: each[1])


def main() -> None:
    """Train by each update, and print what the last steps earned, and what the best answer does."""
    for name, update in UPDATES.items():
        earned, kept = np.array([train(update, seed) for seed in SEEDS]).T
        each = ", ".join(f"{one:.2f}" for one in kept)
        print(f"{name:26s} R {earned.mean():.3f}   rules kept {kept.mean():.2f} ({each})")
    answer, earns = best()
    print(f"{'best that keeps all rules':26s} R {earns:.3f}   {answer}")


if __name__ == "__main__":
    main()
