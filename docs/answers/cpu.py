"""GRPO by plain TRL on a CPU: seconds of a step as TRL is set, and as a CPU likes it."""

from __future__ import annotations

import os
import time
from tempfile import mkdtemp
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: threads wait without a core

from datasets import Dataset
from transformers import PrinterCallback, Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer, set_seed
from trl import GRPOConfig, GRPOTrainer

CHANGES: dict[str, dict[str, Any]] = {
    "max_completion_length=64": {"max_completion_length": 64},  # TRL has 256
    "bf16=False": {"bf16": False},
    "gradient_checkpointing=False": {"gradient_checkpointing": False},
    "max_completion_length=16": {"max_completion_length": 16},
}


def digits(completions: list[str], **_: Any) -> list[float | None]:
    """Return the share of digits in each answer."""
    return [sum(map(str.isdigit, each)) / max(1, len(each)) for each in completions]


def tiny_model() -> tuple[Any, Any]:
    """Return a random model of half a million parameters and its tokenizer."""
    set_seed(0)
    tokenizer = Qwen2Tokenizer().train_new_from_iterator([["0123456789"]], 400, show_progress=False)
    shape: dict[str, Any] = {"hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 2}
    heads: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 4}
    end: dict[str, Any] = {
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    return Qwen2ForCausalLM(
        Qwen2Config(vocab_size=len(tokenizer), **shape, **heads, **end)
    ), tokenizer


def seconds_of_a_step(options: dict[str, Any], steps: int = 3) -> tuple[float, float]:
    """Return the seconds of a step of 16 answers: by the clock, and of the processor."""
    model, tokenizer = tiny_model()
    settings = GRPOConfig(
        mkdtemp(),
        max_steps=steps,
        per_device_train_batch_size=16,
        use_cpu=True,
        logging_steps=1,  # TRL's 10 leave the screen empty for long
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **options,
    )
    rows = Dataset.from_list([{"prompt": "digits: "}] * 16)
    trainer = GRPOTrainer(model, digits, settings, rows, processing_class=tokenizer)
    trainer.remove_callback(PrinterCallback)
    clock, processor = time.perf_counter(), time.process_time()
    trainer.train()
    return (time.perf_counter() - clock) / steps, (time.process_time() - processor) / steps


def main() -> None:
    """Make one change after the other, and keep each."""
    options: dict[str, Any] = {}
    seconds_of_a_step({"max_completion_length": 4}, 1)  # what only the first step costs
    for name, change in CHANGES.items():
        options |= change
        clock, processor = seconds_of_a_step(options)
        print(f"{name:30}{clock:6.2f} s by the clock {processor:6.2f} s of the processor")


if __name__ == "__main__":
    main()
