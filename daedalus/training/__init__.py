"""Training of language models as designers: tokenizer, model, SFT, GRPO and export."""

import logging
import os

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # TRL's trainers report their start

# Before PyTorch is loaded: beside other work, threads that wait busily take what the others need.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# bitsandbytes warns at each start of a package that it only needs for 4-bit weights on a CPU
logging.getLogger("bitsandbytes.backends.cpu.ops").addFilter(
    lambda record: "kernels-community" not in str(record.msg)
)
