"""Constrained decoding: every answer is a mechanism, and what is allowed is left as it was."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from daedalus.env import DesignEnv
from daedalus.market.mechanism import RANGES, Mechanism
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.training.constrained import ANSWER_TOKENS, MechanismConstraint, mechanism_matcher
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel, make_language_model
from tests.populations import draw_mechanism
from tests.training.conftest import PROMPT, SMALL

CHATS = [[{"role": "user", "content": f"market {number}"}] for number in range(48)]


@pytest.fixture(scope="module")
def untrained(env: DesignEnv) -> LanguageModel:
    return make_language_model(SMALL, PROMPT, env, seed=0)


def answers(model: LanguageModel, temperature: float, constrained: bool) -> list[str]:
    generate = make_generate(model, temperature, 60, constrained)
    return generate(CHATS, np.random.default_rng(0))


def validity(texts: list[str]) -> float:
    return sum(parse_mechanism(text).valid for text in texts) / len(texts)


def masked(
    model: LanguageModel, tokens: list[int], scores: torch.Tensor
) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield each token of an answer, and the scores from which it would be drawn."""
    constraint = MechanismConstraint(mechanism_matcher(model), rows=1)
    so_far = [0]
    for token in tokens:
        yield token, constraint(torch.tensor([so_far]), scores)[0]  # type: ignore[arg-type]
        so_far.append(token)


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
    assert validity(answers(untrained, 0.0, constrained=True)) == 1.0


def test_constrained_answers_depend_on_the_generator_alone(untrained: LanguageModel) -> None:
    generate = make_generate(untrained, 1.0, 60, constrained=True)
    one = generate(CHATS, np.random.default_rng(0))
    assert generate(CHATS, np.random.default_rng(0)) == one
    assert generate(CHATS, np.random.default_rng(1)) != one


def test_a_model_may_write_any_mechanism_and_its_scores_are_only_masked(
    untrained: LanguageModel,
) -> None:
    rng, tokenizer = np.random.default_rng(0), untrained.tokenizer
    scores = torch.randn(1, len(tokenizer), generator=torch.Generator().manual_seed(0))
    for _ in range(20):
        drawn = draw_mechanism(rng).to_dict()
        written = Mechanism(**drawn | {name: round(drawn[name], 2) for name in RANGES})
        tokens = [*tokenizer.encode(format_mechanism(written)), tokenizer.eos_token_id]
        for token, left in masked(untrained, tokens, scores):
            allowed = left > -torch.inf
            assert allowed[token]
            assert torch.equal(left[allowed], scores[0, allowed])
            assert not allowed.all()
        assert allowed.nonzero().tolist() == [[tokenizer.eos_token_id]]  # a whole answer ends


def test_digits_that_lead_out_of_range_are_masked(untrained: LanguageModel) -> None:
    tokenizer, scores = untrained.tokenizer, torch.zeros(1, len(untrained.tokenizer))
    text = format_mechanism(Mechanism(reserve_price=0.9))
    after = {}
    so_far = ""
    for token, left in masked(untrained, tokenizer.encode(text), scores):
        allowed = (left == 0).nonzero().flatten().tolist()
        after[so_far] = {tokenizer.decode([each])[:1] for each in allowed}
        so_far += tokenizer.decode([token])
    start = text[: text.index("0.9")]
    assert after[start] == {"0"}
    assert after[start + "0"] == {"."}
    assert after[start + "0."] == set("0123456789")
    assert after[start + "0.9"] == {","}


def test_a_token_that_was_masked_is_refused(untrained: LanguageModel) -> None:
    scores = torch.zeros(1, len(untrained.tokenizer))
    with pytest.raises(ValueError, match=r"token .* was masked"):
        list(masked(untrained, [*untrained.tokenizer.encode("welfare"), 0], scores))


def test_rows_that_have_ended_wait_for_the_others(untrained: LanguageModel) -> None:
    tokenizer = untrained.tokenizer
    short, long = (
        tokenizer.encode(format_mechanism(Mechanism(reserve_price=price))) for price in (0.1, 0.12)
    )
    assert len(long) == len(short) + 1
    ended = [*short, tokenizer.eos_token_id, tokenizer.pad_token_id]
    constraint = MechanismConstraint(mechanism_matcher(untrained), rows=2)
    rows = torch.tensor([[0, *ended], [0, *long, tokenizer.eos_token_id]])
    scores = torch.zeros(2, len(tokenizer))
    for length in range(1, rows.shape[1] + 1):
        left = constraint(rows[:, :length], scores)  # type: ignore[arg-type]
    for row in left:
        assert (row == 0).nonzero().flatten().tolist() == [tokenizer.eos_token_id]


def test_there_are_tokens_enough_for_the_longest_answer(untrained: LanguageModel) -> None:
    """Even where every byte is a token of its own; ``max_new_tokens`` does not cut."""
    generate = make_generate(untrained, 1.0, 1, constrained=True)
    assert validity(generate(CHATS[:4], np.random.default_rng(0))) == 1.0
    assert ANSWER_TOKENS > len(format_mechanism(Mechanism(coalition_policy="penalize_suspected")))


def test_a_padded_vocabulary_is_masked_to_its_end(env: DesignEnv) -> None:
    model = make_language_model(SMALL, PROMPT, env, seed=0)
    model.model.resize_token_embeddings(len(model.tokenizer) + 37)
    assert validity(answers(model, 1.0, constrained=True)) == 1.0
