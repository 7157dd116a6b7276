"""The card is made from the run's files; the hub's client reads its scores back."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from daedalus.design.language.prompt import PromptSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.runs.folder import RunFolder
from daedalus.training.publishing.card import Example, base_model, model_card
from daedalus.training.publishing.evidence import Evidence
from daedalus.training.publishing.settings import HubSettings
from daedalus.training.trained_prompt import write_manner
from tests.training.publishing.conftest import with_model, with_teacher, with_training

SETTINGS = HubSettings("OWNER/NAME")
CHAT = [{"role": "user", "content": 'round_number: 0 / 10\n"quoted" {and} braced'}]
EXAMPLE = Example(CHAT, format_mechanism(Mechanism()))

pytestmark = pytest.mark.slow  # the run behind the card is trained


@pytest.fixture
def card(evidence: Evidence, tmp_path: Path) -> ModelCard:
    """Return a card as it is read back from a file."""
    model_card(evidence, SETTINGS, EXAMPLE, 1_234_567).save(tmp_path / "README.md")
    return ModelCard.load(tmp_path / "README.md")


def test_the_scores_are_read_back(card: ModelCard, evidence: Evidence) -> None:
    assert card.data.model_name == "NAME"
    results = {each.metric_type: each for each in card.data.eval_results}
    assert list(results) == [
        "mean_reward", "lead_over_random", "lead_over_informed_greedy", "validity"
    ]  # fmt: skip
    for each in results.values():
        assert each.dataset_type == "daedalus-strategic-stage3"
        assert each.dataset_args == {"episodes": 3, "seed": 0}
    lead = evidence.differences.set_index(["designer", "reference"]).loc["trained", "random"]
    found = results["lead_over_random"]
    assert found.metric_value == pytest.approx(lead["difference"], abs=1e-4)
    assert found.metric_args["low"] == pytest.approx(lead["difference_low"], abs=1e-4)
    assert found.metric_args["high"] == pytest.approx(lead["difference_high"], abs=1e-4)
    assert results["mean_reward"].metric_value == evidence.trained["mean"] == 0.0
    data = card.data.to_dict()
    assert (data["license"], data["library_name"]) == ("apache-2.0", "transformers")
    assert data["pipeline_tag"] == "text-generation" and {"sft", "grpo"} <= set(data["tags"])
    assert "base_model" not in data


def test_every_part_is_there_and_nothing_is_missing(card: ModelCard) -> None:
    headings = [line.lstrip("# ") for line in card.text.splitlines() if line.startswith("#")]
    assert headings == [
        "NAME", "Ask it for a mechanism", "Scores", "Where it loses", "Validity of its answers",
        "Training", "Training signals", "Hardware, versions and time",
    ]  # fmt: skip
    assert "1,234,567" in card.text and EXAMPLE.answer in card.text
    assert "SFT took 3 steps" in card.text and "Plain GRPO took 2 steps" in card.text
    assert "LoRA of rank 4" in card.text and "a Qwen2 of 2 layers of width 32" in card.text
    assert not {"None", "nan"} & set(card.text.split()) and "\n\n\n" not in card.text


def test_the_update_of_grpo_is_named(evidence: Evidence) -> None:
    other = with_training(evidence, "grpo", loss_type="boltzmann", neighbours=8)
    text = model_card(other, SETTINGS, EXAMPLE, 1).text
    named = "GRPO (Boltzmann targets, 8 neighbours in each group)"
    assert f"by SFT and {named}, in the project" in text and f"{named} took 2 steps" in text
    assert "plain GRPO" not in text


def test_the_temperature_of_grpo_s_answers_is_that_of_the_run(evidence: Evidence) -> None:
    for temperature, words in ((0.7, "0.7"), (1.0, "1")):
        other = with_training(evidence, "grpo", temperature=temperature)
        text = model_card(other, SETTINGS, EXAMPLE, 1).text
        assert f"last step of GRPO, sampled at temperature {words} |" in text


def test_all_of_sft_is_told(evidence: Evidence) -> None:
    text = model_card(with_teacher(evidence), SETTINGS, EXAMPLE, 1).text
    assert "A teacher chose the mechanisms.\n" in text
    assert "Half of the pairs are of the population above, the others of `stage4`, `crowd`." in text
    assert "Corrections took 3000 more steps (rounds: 2). In each round the model played" in text
    other = model_card(with_teacher(evidence, "data.npz"), SETTINGS, EXAMPLE, 1).text
    assert "A teacher, which learnt from another run's data, chose the mechanisms.\n" in other
    plain = model_card(evidence, SETTINGS, EXAMPLE, 1).text
    assert "Corrections" not in plain and "Half of the pairs" not in plain


def test_another_reward_is_named_and_is_not_called_r(evidence: Evidence) -> None:
    weights = {"weights": {"composite": 0.0, "revenue": 0.5, "fairness": 0.5}}
    other = replace(evidence, config=evidence.config | {"reward": weights})
    card = model_card(other, SETTINGS, EXAMPLE, 1)
    assert card.data.eval_results[0].metric_name == "mean reward"
    assert "compared is `0.5 revenue + 0.5 fairness`" in card.text
    assert "| mean reward |" in card.text and "mean R" not in card.text
    assert "mean R" in model_card(evidence, SETTINGS, EXAMPLE, 1).text


def test_a_base_model_on_the_hub_is_named(evidence: Evidence) -> None:
    named = with_model(evidence, pretrained="Qwen/Qwen2.5-1.5B-Instruct")
    card = model_card(named, SETTINGS, EXAMPLE, 1)
    assert card.data.base_model == "Qwen/Qwen2.5-1.5B-Instruct"
    assert "(https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct)" in card.text


def test_a_folder_is_no_base_model(
    evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for folder in ("models/mine", str(tmp_path / "models" / "mine")):
        local = with_model(evidence, pretrained=folder)
        assert base_model(local) is None
        text = model_card(local, SETTINGS, EXAMPLE, 1).text
        assert "`mine`, a model that is not on the hub" in text and str(tmp_path) not in text


def test_a_model_without_a_mechanism_or_adapters_says_so(evidence: Evidence) -> None:
    lora = evidence.config["model"]["lora"] | {"rank": 0}
    text = model_card(with_model(evidence, lora=lora), SETTINGS, Example(CHAT, ""), 1).text
    assert "none: all weights were trained" in text
    assert "was not a valid mechanism" in text and "```json" not in text


def test_a_model_that_was_constrained_says_so(evidence: Evidence, tmp_path: Path) -> None:
    assert "forces a valid mechanism" not in model_card(evidence, SETTINGS, EXAMPLE, 1).text
    shutil.copytree(evidence.run.path, tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    write_manner(PromptSettings(), True, run.model)
    text = model_card(replace(evidence, run=run), SETTINGS, EXAMPLE, 1).text
    assert "also forces a valid mechanism" in text and "Without this force an answer may" in text
