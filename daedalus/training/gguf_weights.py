"""Writes the weights and the tokenizer of a GGUF file as a folder that transformers loads."""

from __future__ import annotations

from pathlib import Path

from gguf import GGUFReader
from transformers import AutoModelForCausalLM, AutoTokenizer

from daedalus.checks import CannotRunError


def convert(file: Path, folder: Path) -> None:
    """Write the weights, in 32 bits, and the tokenizer of a GGUF file as transformers does.

    Raises:
        CannotRunError: The file cannot be read.
    """
    where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    try:
        model = AutoModelForCausalLM.from_pretrained(**where)
        tokenizer = AutoTokenizer.from_pretrained(**where)
        declared = _special_tokens(file)
    except Exception as error:  # it has no error of its own for this
        said = str(error).strip().partition("\n")[0]
        raise CannotRunError(
            f"{file.name}: transformers cannot read it ({said}); give a GGUF file of another "
            "model, or the folder of the original"
        ) from error
    for name, token in declared.items():
        setattr(tokenizer, name, tokenizer.convert_ids_to_tokens(token))
    del model.config.quantization_config  # or transformers refuses to save what it dequantised
    vars(model)["hf_quantizer"] = None
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _special_tokens(file: Path) -> dict[str, int]:
    """Return the tokens that end and pad, as the file declares them.

    Transformers 5.17 takes the token that begins texts for the one that ends them.
    """
    names = {"eos_token": "eos_token_id", "pad_token": "padding_token_id"}
    fields = GGUFReader(file).fields
    read = {name: fields.get(f"tokenizer.ggml.{key}") for name, key in names.items()}
    return {name: int(each.contents()) for name, each in read.items() if each is not None}
