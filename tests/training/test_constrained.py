"""Constrained decoding: every answer is a mechanism, and what is allowed is left as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from daedalus.design.env import DesignEnv
from daedalus.launch.from_config import load_generate
from daedalus.market.allowed import Between
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import RANGES, Mechanism
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.algorithms.grpo import trainer as grpo
from daedalus.training.checkpoints import export
from daedalus.training.constrained import Constraint
from daedalus.training.generation import complete, make_generate
from daedalus.training.log_probabilities import choice_log_probabilities
from daedalus.training.model import LanguageModel
from daedalus.training.writing import mechanism_constraint
from tests.populations import draw_mechanism
from tests.training.conftest import GRPO, PROMPT, make_run, small_model

CHATS = [[{"role": "user", "content": f"market {number}"}] for number in range(48)]
TEMPERATURE = 0.7


@pytest.fixture(scope="module")
def constraint(untrained: LanguageModel) -> Constraint:
    return mechanism_constraint(untrained)


def answers(model: LanguageModel, temperature: float, constrained: bool) -> list[str]:
    generate = make_generate(model, temperature, 60, constrained)
    return generate(CHATS, np.random.default_rng(0))


def validity(texts: list[str]) -> float:
    return sum(parse_mechanism(text).valid for text in texts) / len(texts)


def test_an_untrained_model_writes_what_is_allowed(untrained: LanguageModel) -> None:
    goal = Goal(allowed={"auction_type": ("vcg",), "reserve_price": Between(0.123, 0.15)})
    ends = Goal(allowed={"auction_type": ("vcg",), "reserve_price": (0.123, 0.15)})
    mixed = [goal, ANYTHING, ends] * (len(CHATS) // 3)
    for constrained, free in ((True, 1), (None, 0)):
        generate = make_generate(untrained, 1.0, 60, constrained)
        texts = generate(CHATS, np.random.default_rng(0), mixed)
        for text, each in zip(texts, mixed, strict=True):
            assert parse_mechanism(text, goal=each).valid or not (each.allowed or free)
        assert validity(texts[1::3]) == free


def test_goals_that_allow_everything_change_nothing(untrained: LanguageModel) -> None:
    goals = [Goal({"revenue": 1.0}), ANYTHING] * (len(CHATS) // 2)
    texts = make_generate(untrained, 1.0, 60, None)(CHATS, np.random.default_rng(0), goals)
    assert texts == answers(untrained, 1.0, constrained=False)


def test_an_untrained_model_writes_nothing_but_mechanisms(untrained: LanguageModel) -> None:
    assert validity(answers(untrained, 1.0, constrained=False)) < 0.05
    texts = answers(untrained, 1.0, constrained=True)
    assert validity(texts) == 1.0
    assert len(set(texts)) > len(texts) / 2
    for text in texts:
        mechanism = parse_mechanism(text).mechanism
        assert mechanism is not None and format_mechanism(mechanism) == text
        assert all(
            round(getattr(mechanism, name), 2) == getattr(mechanism, name) for name in RANGES
        )


def one_by_one(
    model: LanguageModel, prompt: Sequence[int], constraint: Constraint
) -> tuple[list[int], int]:
    """Return the likeliest answer, computed anew for each token, and the number of its choices."""
    matcher, tokens, made = constraint.start.deep_copy(), list(prompt), 0
    while not matcher.is_stopped():
        must = matcher.compute_ff_tokens()
        if must:
            token = must[0]
        else:
            logits = model.model(torch.tensor([tokens])).logits[0, -1]
            allowed = torch.from_numpy(constraint.allowed([matcher])[0])
            token, made = int(logits.masked_fill(~allowed, -torch.inf).argmax()), made + 1
        assert matcher.consume_token(token)
        tokens.append(token)
    return tokens[len(prompt) :], made


def test_answers_are_those_of_decoding_token_by_token(
    untrained: LanguageModel, constraint: Constraint
) -> None:
    chats = [*CHATS[:3], CHATS[2], [{"role": "user", "content": "a longer question than that"}]]
    told = complete(untrained, chats, 0.0, 1, constraint)
    assert len(set(map(len, told.answers))) > 1  # rows of different lengths side by side
    for prompt, answer in zip(told.prompts, told.answers, strict=True):
        tokens, made = one_by_one(untrained, prompt, constraint)
        assert answer == [*tokens, untrained.tokenizer.eos_token_id]
        assert len(constraint.choices(answer).places) == made < len(answer)


def test_a_model_may_write_any_mechanism(untrained: LanguageModel, constraint: Constraint) -> None:
    rng, tokenizer = np.random.default_rng(0), untrained.tokenizer
    for _ in range(20):
        drawn = draw_mechanism(rng).to_dict()
        written = Mechanism(**drawn | {name: round(drawn[name], 2) for name in RANGES})
        tokens = tokenizer.encode(format_mechanism(written))
        found = constraint.choices([*tokens, tokenizer.eos_token_id])
        assert 11 <= len(found.places) < len(tokens)
        for place, allowed in zip(found.places, found.allowed, strict=True):
            assert allowed[tokens[place]] and 1 < allowed.sum() < 40


def test_a_padded_vocabulary_is_masked_to_its_end(small: LanguageModel) -> None:
    small.model.resize_token_embeddings(len(small.tokenizer) + 37)
    assert validity(answers(small, 1.0, constrained=True)) == 1.0


def batch(model: LanguageModel, constraint: Constraint) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Return tokens and mask of prompts and answers, padded on both sides, and answers' columns."""
    chats = [*CHATS[:2], CHATS[1], [{"role": "user", "content": "a longer question"}]]
    told = complete(model, chats, 1.0, 1, constraint)
    before, after = (max(map(len, each)) for each in (told.prompts, told.answers))
    pad = model.tokenizer.pad_token_id
    rows, mask = [], []
    for prompt, answer in zip(told.prompts, told.answers, strict=True):
        left, right = before - len(prompt), after - len(answer)
        rows.append([pad] * left + prompt + answer + [pad] * right)
        mask.append([0] * left + [1] * (len(prompt) + len(answer)) + [0] * right)
    return torch.tensor(rows), torch.tensor(mask), after


def brute_force(
    model: LanguageModel, tokens: list[int], answer: list[int], constraint: Constraint
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return log-probabilities and entropies of all tokens, from a softmax over the allowed."""
    logits = model.model(torch.tensor([tokens])).logits[0, -len(answer) - 1 : -1] / TEMPERATURE
    found, logps, entropies = constraint.choices(answer), [], []
    for place, token in enumerate(answer):
        if place not in found.places:
            logps.append(torch.tensor(0.0))
            entropies.append(torch.tensor(0.0))
            continue
        allowed = np.flatnonzero(found.allowed[list(found.places).index(place)])
        probabilities = logits[place, allowed].exp()
        shares = probabilities / probabilities.sum()
        logps.append(shares[list(allowed).index(token)].log())
        entropies.append(-(shares * shares.log()).sum())
    return torch.stack(logps), torch.stack(entropies)


def test_scores_and_gradients_are_those_of_a_masked_softmax() -> None:
    model = small_model(seed=1)
    constraint = mechanism_constraint(model)
    tokens, mask, length = batch(model, constraint)
    wrapped = torch.nn.DataParallel(model.model)  # as in several processes
    logps, entropies = choice_log_probabilities(
        wrapped, tokens, mask, length, constraint, TEMPERATURE
    )
    weights = torch.randn(logps.shape, generator=torch.Generator().manual_seed(0))
    (weights * (logps + 0.3 * entropies)).sum().backward()
    found = {name: each.grad.clone() for name, each in model.model.named_parameters()}
    model.model.zero_grad()
    for row in range(len(tokens)):
        here = mask[row].bool()
        answer = tokens[row, -length:][mask[row, -length:].bool()].tolist()
        one, other = brute_force(model, tokens[row, here].tolist(), answer, constraint)
        assert torch.allclose(logps[row, : len(answer)], one, atol=1e-5)
        assert torch.allclose(entropies[row, : len(answer)], other, atol=1e-5)
        assert not logps[row, len(answer) :].any()
        (weights[row, : len(answer)] * (one + 0.3 * other)).sum().backward()
    for name, each in model.model.named_parameters():
        assert torch.allclose(found[name], each.grad, atol=1e-4), name


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"gradient_checkpointing": True, "bf16": True}])
def test_grpo_learns_from_constrained_answers_of_an_untrained_model(
    options: dict[str, bool],
    env: DesignEnv,
    small: LanguageModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The options are those that a GPU has."""
    shared = grpo.shared_options
    monkeypatch.setattr(grpo, "shared_options", lambda *words: shared(*words) | options)
    settings = replace(GRPO, constrained=True, steps=3, learning_rate=1e-2, warmup_steps=0)
    run = make_run(env, tmp_path, settings)
    before = small.model.get_output_embeddings().weight.clone()
    grpo.train(small, run)
    assert not torch.equal(before, small.model.get_output_embeddings().weight)
    records = run.tracker.history("grpo")
    assert [each["validity"] for each in records] == [1.0] * 3
    assert all(0 < each["entropy"] < np.log(40) for each in records)
    for name in ("grad_norm", "reward_std", "frac_reward_zero_std", "completion_length"):
        assert np.isfinite(records[-1][name])
    assert "composite" in records[-1]


@pytest.mark.parametrize(
    ("trained", "asked", "forced"), [(True, None, 1), (True, False, 0), (False, None, 0)]
)
def test_a_model_is_asked_as_it_was_trained(
    untrained: LanguageModel, trained: bool, asked: bool | None, forced: int, tmp_path: Path
) -> None:
    export(untrained, PROMPT, "", tmp_path / "model", constrained=trained)
    generate, prompt = load_generate(str(tmp_path / "model"), 1.0, 60, asked)
    assert prompt == PROMPT
    assert validity(generate(CHATS[:8], np.random.default_rng(0))) == forced
    goal = Goal(allowed={"auction_type": ("vcg",)})
    obeyed = validity(generate(CHATS[:8], np.random.default_rng(0), [goal] * 8))
    assert obeyed == (asked is not False)  # who asks for no constraint gets none
