"""Neighbours of sampled answers: one field differs, and they stand before their group."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from daedalus.env import DesignEnv
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.parsing import parse_mechanism
from daedalus.training.constrained import mechanism_constraint
from daedalus.training.generation import complete
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.neighbours import with_neighbours
from tests.training.conftest import PROMPT, SMALL

CHATS = [[{"role": "user", "content": f"market {number // 3}"}] for number in range(30)]


@pytest.fixture(scope="module")
def model(env: DesignEnv) -> LanguageModel:
    return make_language_model(SMALL, PROMPT, env, seed=0)


def told(model: LanguageModel, answer: list[int]) -> Mechanism:
    text = str(model.tokenizer.decode(answer, skip_special_tokens=True))
    mechanism = parse_mechanism(text).mechanism
    assert mechanism is not None
    return mechanism


def differing(one: Mechanism, other: Mechanism) -> list[str]:
    return [name for name in FIELDS if getattr(one, name) != getattr(other, name)]


def test_each_neighbour_differs_in_one_field_from_an_answer_of_its_group(
    model: LanguageModel,
) -> None:
    constraint = mechanism_constraint(model)
    answers = complete(model, CHATS, 1.0, 1, constraint).answers
    torch.manual_seed(0)
    whole = with_neighbours(answers, 3, 5, model.tokenizer)
    changed = set()
    for number in range(10):
        group, own = whole[8 * number : 8 * number + 8], answers[3 * number : 3 * number + 3]
        assert group[5:] == own
        for each in group[:5]:
            found = told(model, each)
            (fields,) = {
                tuple(one) for other in own if len(one := differing(found, told(model, other))) == 1
            }
            changed |= {*fields}
            choices = constraint.choices(each)  # the answer can be trained on, to its end
            assert len(choices.places) >= 11 and each[-1] == answers[0][-1]
    assert len(changed) > 8


def test_torchs_seed_decides_and_without_neighbours_nothing_changes(model: LanguageModel) -> None:
    answers = complete(model, CHATS[:6], 1.0, 1, mechanism_constraint(model)).answers
    made = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        made.append(with_neighbours(answers, 3, 4, model.tokenizer))
    assert made[0] == made[1] != made[2]
    before = torch.get_rng_state()
    assert with_neighbours(answers, 3, 0, model.tokenizer) == answers
    assert np.array_equal(before, torch.get_rng_state())
