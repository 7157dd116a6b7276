"""Training a language model to design: tokenizer, model, SFT, GRPO and export."""
