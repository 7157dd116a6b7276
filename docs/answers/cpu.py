"""GRPO by plain TRL on a CPU: seconds of a step as TRL is set, and as a CPU likes it."""

from __future__ import annotations

from tempfile import mkdtemp
from typing import Any

from datasets import Dataset
from transformers import PrinterCallback, Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer, set_seed
from trl import GRPOConfig, GRPOTrainer

CHANGES: dict[str, dict[str, Any]] = {
    "as TRL is set": {},
    "bf16=False": {"bf16": False},
    "gradient_checkpointing=False": {"gradient_checkpointing": False},
    "max_completion_length=32": {"max_completion_length": 32},
}


def digits(completions: list[str], **_: Any) -> list[float]:
    """Return the share of digits in each answer."""
    return [sum(map(str.isdigit, each)) / max(1, len(each)) for each in completions]


def tiny_model() -> tuple[Any, Any]:
    """Return a random model of 0.4 million parameters and its tokenizer."""
    set_seed(0)
    tokenizer = Qwen2Tokenizer().train_new_from_iterator([["0123456789"]], 400, show_progress=False)
    shape: dict[str, Any] = {"hidden_size": 128, "intermediate_size": 384, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 4}
    end = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    return Qwen2ForCausalLM(
        Qwen2Config(vocab_size=len(tokenizer), **shape, **heads, **end)
    ), tokenizer


def seconds_of_a_step(options: dict[str, Any], steps: int = 2) -> float:
    """Return the seconds of a step of 16 answers, after one that is not counted."""
    model, tokenizer = tiny_model()
    settings = GRPOConfig(
        mkdtemp(),
        max_steps=steps + 1,
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
    trainer.train()
    times = [each["step_time"] for each in trainer.state.log_history if "step_time" in each]
    return sum(times[1:]) / steps


def main() -> None:
    """Make one change after the other, and keep each."""
    options: dict[str, Any] = {}
    for name, change in CHANGES.items():
        options |= change
        print(f"{name:30}{seconds_of_a_step(options):6.2f} s")


if __name__ == "__main__":
    main()
