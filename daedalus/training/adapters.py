"""Adapters of several training phases as one adapter of the base model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from peft import PeftModel

from daedalus.training.model import load_language_model

_SUM = "sum"


def write_sum(base: str | Path, phases: Sequence[Path], folder: Path) -> None:
    """Write one adapter that does to the base model what the adapters of all phases do.

    Each phase trains adapters on weights that contain those of the phases before. So the updates
    add up. Their factors are concatenated, which is exact: the rank is the sum of the ranks. The
    adapter names the base model. The folder exists.

    Raises:
        CannotRunError: The base model cannot be loaded.
    """
    names = [f"phase_{number}" for number in range(len(phases))]
    weights = load_language_model(base).model
    adapted = PeftModel.from_pretrained(weights, phases[0], adapter_name=names[0])
    for name, phase in zip(names[1:], phases[1:], strict=True):
        adapted.load_adapter(str(phase), adapter_name=name)
    adapted.add_weighted_adapter(names, [1.0] * len(names), _SUM, combination_type="cat")
    adapted.peft_config[_SUM].base_model_name_or_path = str(base)
    adapted.save_pretrained(str(folder), selected_adapters=[_SUM])
    for path in (folder / _SUM).iterdir():  # peft gives each named adapter a folder of its own
        path.rename(folder / path.name)
    (folder / _SUM).rmdir()
