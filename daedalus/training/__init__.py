"""Training a language model to design: tokenizer, model, SFT, GRPO and export."""

import os

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL's trainers would report their start
