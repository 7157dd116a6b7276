"""The words of enumerated fields of training as types, see ``daedalus.market.literals``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    Backend = Literal["transformers", "unsloth"]
    NumberType = Literal["float32", "bfloat16"]
    Merge = Literal["base", "dequantised"]
    Schedule = Literal["constant", "constant_with_warmup", "linear", "cosine"]
    TargetedLoss = Literal["target", "boltzmann"]
    TrlLoss = Literal["grpo", "dr_grpo", "dapo", "bnpo"]
    Loss = TrlLoss | TargetedLoss
    TabularLoss = Literal["grpo"] | TargetedLoss
    RewardScale = Literal["group", "batch", "none"]
else:  # OmegaConf knows no Literal
    Backend = NumberType = Merge = Schedule = str
    Loss = TabularLoss = RewardScale = str
