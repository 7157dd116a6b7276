"""Programs of docs/answers/ run with the real libraries, and print what their pages show."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
ANSWERS = ROOT / "docs" / "answers"
PAGES = sorted(ANSWERS.glob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run a program; return its lines."""
    import_module(f"docs.answers.{name}").main()
    return capsys.readouterr().out.splitlines()


def shown(name: str) -> list[str]:
    """Return the lines that a page shows as those of its program."""
    blocks = [
        text for kind, text in FENCE.findall((ANSWERS / f"{name}.md").read_text()) if not kind
    ]
    return blocks[-1].splitlines()


def numbers(line: str) -> list[float]:
    return [float(each) for each in NUMBER.findall(line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_names_its_program(page: Path) -> None:
    text = page.read_text()
    assert len(text.split()) <= 400
    assert f"python -m docs.answers.{page.stem} " in text and page.with_suffix(".py").exists()


@pytest.mark.slow
def test_forks_give_exact_credit(capsys: pytest.CaptureFixture[str]) -> None:
    lines, page = printed("forks", capsys), shown("forks")
    assert lines[:-1] == page[:-1]  # the market is the same on every processor
    first, last = numbers(lines[-1])
    assert last > first + 0.02
    assert numbers(lines[-1]) == pytest.approx(numbers(page[-1]), abs=0.03)


def test_the_page_s_fork_is_that_of_the_program() -> None:
    program = import_module("docs.answers.forks")
    text = (ANSWERS / "forks.md").read_text()
    (code,) = [block for kind, block in FENCE.findall(text) if kind == "python"]
    names = dict(vars(program))
    exec(code, names)
    answers, rows = ["0", "9", "7", "word"], np.array([3, 3, 5, 5])
    played = names["forked"](answers, rows, 2)
    assert np.array_equal(played, program.forked(answers, rows, 2)) and played[3] == 0 < played[0]


@pytest.mark.slow
def test_every_constrained_answer_parses(capsys: pytest.CaptureFixture[str]) -> None:
    lines, page = printed("constrained", capsys), shown("constrained")
    for line, other in zip(lines[:-1], page[:-1], strict=True):
        assert line.rpartition(": ")[2] == other.rpartition(": ")[2]
    first, last = numbers(lines[-1])
    assert last > first + 0.05


OUTSIDE = """
import sys
sys.modules.update(daedalus=None, experiments=None)  # so that their import fails

import torch
from constrained import answer_constrained, constraint_to, draw_at
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

torch.manual_seed(0)
tokenizer = Qwen2Tokenizer().train_new_from_iterator([["yes no"]], 300, show_progress=False)
ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokenizer), **shape, **heads, **ids)).eval()
constraint = constraint_to(sys.argv[1], model, tokenizer)
prompts = [tokenizer("Which rules?").input_ids] * 16
with torch.inference_mode():
    answers = answer_constrained(model, prompts, [constraint] * 16, draw_at(1.0), 0)
print(*tokenizer.batch_decode(answers, skip_special_tokens=True), sep="\\n")
"""


@pytest.mark.slow
def test_constrained_decoding_is_taken_out_of_the_project(tmp_path: Path) -> None:
    shutil.copy(ROOT / "daedalus" / "training" / "constrained.py", tmp_path)
    (tmp_path / "outside.py").write_text(OUTSIDE)
    pattern = "(yes|no), on the [1-9][.] of (May|June)"
    command = [sys.executable, "outside.py", pattern]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    texts = told.stdout.splitlines()
    assert told.returncode == 0 and len(texts) == 16, told.stderr
    assert all(re.fullmatch(pattern, each) for each in texts) and len(set(texts)) > 8


@pytest.mark.slow
def test_groups_lose_their_variance_with_the_entropy(capsys: pytest.CaptureFixture[str]) -> None:
    lines, page = printed("entropy", capsys), shown("entropy")
    for line, other in zip(lines[1:], page[1:], strict=True):
        nats, equal, earned = numbers(line)
        assert line[:28] == other[:28]
        assert [nats, equal, earned] == pytest.approx(numbers(other), rel=0.2, abs=0.002)


@pytest.mark.slow
def test_steps_are_timed_on_a_cpu_after_each_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines, text = printed("cpu", capsys), (ANSWERS / "cpu.md").read_text()
    assert [line.split()[0] for line in lines] == [*import_module("docs.answers.cpu").CHANGES]
    table = text[text.index("| change |") : text.index("**Set,")].splitlines()[2:]
    rows = [line.split("|")[1:] for line in table if line]
    assert [numbers(name) for name, *_ in rows] == [numbers(line.split()[0]) for line in lines]
    measured = [numbers(line)[-1] for line in lines]
    told = [np.mean(numbers(processor)) for _, _, processor, *_ in rows]
    assert told[3] < 0.75 * told[2] and told[1] < 1.2 * told[0] and told[2] < 1.2 * told[1]
    assert measured[3] < measured[2]  # a quarter of the tokens
    for found, each in zip(measured, told, strict=True):
        assert 1 / 10 < found / each < 10  # another processor, or a busy one


@pytest.mark.slow
def test_several_rewards_are_learnt_each_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One seed and 80 steps, as the page says: its three seeds of 200 take minutes."""
    program, page = import_module("docs.answers.several_rewards"), shown("several_rewards")
    answer, earns = program.best()
    assert page[-1].split("R ")[1] == f"{earns:.3f}   {answer}"  # the same on every processor
    monkeypatch.setattr(program, "SEEDS", range(1))
    monkeypatch.setattr(program, "STEPS", 80)
    lines = printed("several_rewards", capsys)
    assert [line[:26] for line in lines] == [line[:26] for line in page]
    learnt = [tuple(numbers(line)[:2]) for line in lines[:-1]]
    assert len(set(learnt)) == 3  # each update is one of its own
    # 0.01 before, and few answers are valid. One run of nine never learns the form, says the page.
    assert sum(earned > 0.05 and kept > 0.3 for earned, kept in learnt) >= 1


@pytest.mark.slow
def test_an_adversary_takes_what_a_designer_has_learnt(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("docs.answers.two_learners"), "SEEDS", range(2))
    lines, page = printed("two_learners", capsys), shown("two_learners")
    assert [line[:36] for line in lines] == [line[:36] for line in page]
    means = [numbers(line)[0] for line in lines[1:]]
    assert means == pytest.approx([numbers(line)[0] for line in page[1:]], abs=0.06)
    neither, learnt, attacked = means[:3]
    assert neither + 0.1 < learnt and attacked < learnt - 0.03


def test_the_page_s_game_is_played_to_its_end() -> None:
    names = dict(vars(import_module("docs.answers.two_learners")))
    text = (ANSWERS / "two_learners.md").read_text()
    (code,) = [block for kind, block in FENCE.findall(text) if kind == "python"]
    spaces = names["parallel_env"]().action_spaces
    names |= {"rng": np.random.default_rng(0)}
    names["players"] = {name: names["Learner"](space) for name, space in spaces.items()}
    exec(code, names)
    assert not names["env"].agents and sum(names["rewards"].values()) == 0
