"""What a language model believes: they add up, and answers are drawn from them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from daedalus.evaluation.run_report import save
from daedalus.lab.studies.beliefs_figures import choice_map, field_panels
from daedalus.market.mechanism import FIELDS, Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.runs.folder import RunFolder
from daedalus.training.beliefs import choice_beliefs, field_beliefs, likeliest, stages
from daedalus.training.generation import Completions
from daedalus.training.model import LanguageModel

CHAT = [{"role": "user", "content": "market 1"}]


def test_shares_of_sampled_values_add_up(untrained: LanguageModel) -> None:
    found = field_beliefs(untrained, CHAT, 40, seed=0)
    assert list(found["field"].unique()) == list(FIELDS)
    assert found.groupby("field")["probability"].sum().to_numpy() == pytest.approx(1.0)
    assert found.equals(field_beliefs(untrained, CHAT, 40, seed=0))
    assert not found.equals(field_beliefs(untrained, CHAT, 40, seed=1))


def test_the_likeliest_answer_takes_likely_choices_of_every_field(
    untrained: LanguageModel,
) -> None:
    said = likeliest(untrained, CHAT)
    choices = choice_beliefs(untrained, said)
    assert list(dict.fromkeys(choices["field"])) == list(FIELDS)
    alone = choices["entropy"].map(math.exp)  # as many equal probabilities have this entropy
    assert (choices["probability"] >= 1 / alone - 1e-6).all()
    assert len(choices) < len(said.answers[0])  # forced tokens are no choices


def test_the_choice_that_ends_a_number_is_of_its_field(untrained: LanguageModel) -> None:
    text = format_mechanism(Mechanism(reserve_price=0.2, collusion_penalty=1.5))
    answer = untrained.tokenizer.encode(text, add_special_tokens=False)
    choices = choice_beliefs(untrained, Completions([[1, 2]], [answer], [text]))
    tokens = choices.groupby("field", sort=False)["token"].agg(list)
    assert tokens["reserve_price"] == ["2", ',"reveal_reserve":']
    assert tokens["reveal_reserve"] == ["false"]
    assert tokens["collusion_penalty"] == ["1", "5", ',"coalition_policy":"']


def test_stages_of_a_run(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    assert list(stages(run, "", taught=True)) == ["SFT", "GRPO"]
    run.base_model.mkdir(parents=True)
    assert stages(run, "", taught=True)["untrained"] == run.base_model
    run.sft_model.mkdir()
    assert stages(run, "", taught=False) == {"untrained": run.sft_model, "GRPO": run.model}


@pytest.mark.slow
def test_figures_have_a_panel_for_each_field(untrained: LanguageModel, tmp_path: Path) -> None:
    fields = field_beliefs(untrained, CHAT, 8, seed=0).assign(stage="untrained")
    figure = field_panels(fields)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[:-1] == [name.replace("_", " ") for name in FIELDS]
    choices = choice_beliefs(untrained, likeliest(untrained, CHAT)).assign(stage="untrained")
    drawn = choice_map(choices)
    assert len(drawn.axes[0].get_xticks()) == len(choices)
    save(figure, tmp_path / "fields.png")
    save(drawn, tmp_path / "choices.png")
