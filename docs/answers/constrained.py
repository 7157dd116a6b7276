"""Constrained decoding without vLLM: a plain model of transformers, a pattern or a JSON schema.

Every sampled answer parses, though the model is tiny and random. GRPO then trains it by TRL.
"""

from __future__ import annotations

import json
import re
from tempfile import mkdtemp
from typing import Any

import torch
from datasets import Dataset
from transformers import PrinterCallback, Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer, set_seed
from trl import GRPOConfig

from daedalus.training.algorithms.grpo.constrained_trainer import ConstrainedTrainer
from daedalus.training.constrained import answer_constrained, constraint_to, draw_at

PATTERN = r"(yes|no), on the ([1-9]|[12][0-9]|3[01])\. of (May|June|July)"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "format": {"enum": ["first_price", "second_price"]},
        "reserve": {"type": "integer", "minimum": 0, "maximum": 90},
        "sealed": {"type": "boolean"},
    },
    "required": ["format", "reserve", "sealed"],
    "additionalProperties": False,
}
QUESTION = "Which rules?"


def tiny_model() -> tuple[Any, Any]:
    """Return a random model and its tokenizer; yours may come from ``from_pretrained``."""
    set_seed(0)
    texts = [[QUESTION], ["user assistant yes no May June July format reserve sealed true false"]]
    tokenizer = Qwen2Tokenizer().train_new_from_iterator(texts, 400, show_progress=False)
    tokenizer.chat_template = "{% for each in messages %}{{ each['content'] }}\n{% endfor %}"
    shape: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads: dict[str, Any] = {"num_attention_heads": 2, "num_key_value_heads": 2}
    end: dict[str, Any] = {
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), **shape, **heads, **end))
    return model, tokenizer


def sample(model: Any, tokenizer: Any, pattern: str | dict[str, Any], count: int) -> list[str]:
    """Return answers to one question at temperature 1."""
    constraint = constraint_to(pattern, model, tokenizer)
    prompts = [tokenizer(QUESTION).input_ids] * count
    with torch.inference_mode():
        answers = answer_constrained(
            model.eval(), prompts, [constraint] * count, draw_at(1.0), tokenizer.pad_token_id
        )
    texts: list[str] = tokenizer.batch_decode(answers, skip_special_tokens=True)
    return texts


def train(model: Any, tokenizer: Any, steps: int) -> list[float]:
    """Train towards low reserves; return the mean reward of each step."""
    constraint = constraint_to(SCHEMA, model, tokenizer)

    def low(completions: list[list[dict[str, str]]], **_: Any) -> list[float]:
        return [1 - json.loads(each[0]["content"])["reserve"] / 90 for each in completions]

    trainer = ConstrainedTrainer(  # TRL's GRPOTrainer; its losses count the choices alone
        allow=lambda prompt: constraint,
        model=model,
        reward_funcs=[low],
        args=GRPOConfig(
            mkdtemp(),
            max_steps=steps,
            learning_rate=3e-3,
            per_device_train_batch_size=16,
            num_generations=16,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": QUESTION}]}] * 16),
        processing_class=tokenizer,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]


def main() -> None:
    """Sample by a pattern and by a schema; train by the schema; count what parses."""
    model, tokenizer = tiny_model()
    texts = sample(model, tokenizer, PATTERN, 64)
    print(f"{texts[0]}: {sum(bool(re.fullmatch(PATTERN, each)) for each in texts)} of 64 match")
    texts = sample(model, tokenizer, SCHEMA, 64)
    whole = [set(json.loads(each)) == set(SCHEMA["required"]) for each in texts]
    print(f"{texts[0]}: {sum(whole)} of 64 parse")
    rewards = train(model, tokenizer, 20)
    print(f"reward: {rewards[0]:.2f} in the first step, {rewards[-1]:.2f} in the last")


if __name__ == "__main__":
    main()
