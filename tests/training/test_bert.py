"""The encoder in PyTorch's own layers computes what transformers' and PEFT's does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import BertConfig, BertModel

from daedalus.training.bert import load_bert


def test_hidden_states_are_those_of_transformers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3}
    config = BertConfig(vocab_size=50, num_attention_heads=4, max_position_embeddings=16, **sizes)
    model = BertModel(config).eval()
    with torch.no_grad():
        for each in model.parameters():  # or all biases are 0, and all norms alike
            each.add_(0.2 * torch.randn_like(each))
    model.save_pretrained(tmp_path / "encoder")
    ids = torch.randint(50, (4, 9))
    mask = (torch.arange(9) < torch.tensor([[9], [3], [1], [7]])).long()
    with torch.no_grad():
        plain = model(input_ids=ids, attention_mask=mask).last_hidden_state
        lora = LoraConfig(r=2, lora_alpha=6, target_modules=["query", "key", "value", "dense"])
        adapted = get_peft_model(model, lora).eval()
        for name, weight in adapted.named_parameters():
            if "lora_" in name:
                weight.normal_(std=0.3)
        changed = adapted(input_ids=ids, attention_mask=mask).last_hidden_state
        adapted.save_pretrained(tmp_path / "adapters")
        for expected, adapters in ((plain, None), (changed, tmp_path / "adapters")):
            (found,) = load_bert(tmp_path / "encoder", adapters)(ids, mask)
            assert torch.allclose(found[mask > 0], expected[mask > 0], atol=1e-5)
    assert not torch.allclose(plain, changed, atol=0.1)


@pytest.mark.slow
def test_reading_imports_no_library_of_training() -> None:
    """To import them takes longer than all else of ``ask brief=…`` but the search."""
    script = "import sys, daedalus.training.judging_reader; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    modules = set(loaded.stdout.split())
    assert "torch" in modules and not {"transformers", "peft", "sklearn"} & modules
