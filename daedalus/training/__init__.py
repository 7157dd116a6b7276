"""Training of language models as designers: tokenizer, model, SFT, GRPO and export."""

import os

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL's trainers report their start
