"""SFT: what it learns from, and that it changes the model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM

from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.language.prompt import PromptSettings
from daedalus.design.rewards.objectives import Objectives
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.distillation import DistillationData
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.seeds import market_seeds
from daedalus.training.algorithms.sft import trainer
from daedalus.training.algorithms.sft.settings import CorrectionSettings, SftSettings
from daedalus.training.algorithms.sft.trainer import (
    best_known,
    make_practice,
    own_pairs,
    sampled_validity,
    train,
)
from daedalus.training.checkpoints import export
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel, load_language_model, make_language_model
from daedalus.training.settings import ModelSettings, TrainingSettings
from daedalus.training.tokenizer import number_tokens
from tests.training.conftest import (
    ADAPTED,
    CANDIDATES,
    PROMPT,
    SFT,
    SMALL,
    answers,
    make_run,
    small_model,
    taught,
)

SECOND, FIRST = Mechanism(), Mechanism(auction_type="first_price")
PORTFOLIO = Mechanisms.stack([SECOND, FIRST])
ASKED = [{"fairness": 1.0}, {"revenue": 1.0}]
GIVES = {"fairness": SECOND, "revenue": FIRST}


@pytest.mark.parametrize(("weight", "best"), [(1.0, {0.0}), (-1.0, {0.9})])
def test_the_teacher_maximises_the_given_reward_and_its_data_is_kept(
    env: DesignEnv, tmp_path: Path, weight: float, best: set[float]
) -> None:
    judged = replace(env, reward=RewardStack({"welfare": weight}))
    run = make_run(judged, tmp_path, taught(32, temperature=1e-9), portfolio=CANDIDATES)
    practice = make_practice(run)
    assert practice is not None
    pairs = practice.lessons()
    written = [parse_mechanism(answer).mechanism for answer in answers(pairs)]
    assert {each.reserve_price for each in written if each} == best
    data = DistillationData.read(run.folder.distillation_data)
    assert (np.sign(data.rewards) == weight).mean() > 0.9


def test_the_populations_of_practice_are_practised_in(env: DesignEnv, tmp_path: Path) -> None:
    asked = taught(8, temperature=0.003)
    dropouts = Population(types={"dropout": BidderType(1, ["withdraw"], outside_option=0.3)})
    others = {"dropouts": PopulationSettings("dropouts", dropouts)}
    asked = replace(asked, sft=replace(asked.sft, practice=others))
    practice = make_practice(make_run(env, tmp_path, asked, portfolio=CANDIDATES))
    assert practice is not None
    assert [each.market.population for each in practice.envs] == [env.market.population, dropouts]


def test_random_answers_differ(env: DesignEnv, tmp_path: Path) -> None:
    assert len(set(answers(own_pairs(make_run(env, tmp_path, SFT))))) == SFT.examples


@pytest.mark.slow
@pytest.mark.parametrize("model", [SMALL, ADAPTED], ids=["all weights", "adapters"])
def test_corrections_go_on_from_the_lessons(
    env: DesignEnv,
    small: LanguageModel,
    tmp_path: Path,
    model: ModelSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given, train_sft = [], trainer.train_sft

    def noted(language_model: LanguageModel, pairs: Dataset, *rest: Any) -> LanguageModel:
        given.append(pairs["prompt"][:])
        return train_sft(language_model, pairs, *rest)

    monkeypatch.setattr(trainer, "train_sft", noted)
    monkeypatch.setattr(trainer, "_ANSWER_TOKENS", 8)  # it writes no mechanism, however long
    asked = taught(16, temperature=0.003)
    more = CorrectionSettings(rounds=2, examples=8, steps=2)
    asked = replace(asked, sft=replace(asked.sft, steps=3, corrections=more))
    run = make_run(env, tmp_path, asked, model, CANDIDATES)
    log, trained = run.tracker, train(small, run)
    assert [each["step"] for each in log.history("sft")] == [1, 2, 3]
    for number in range(2):
        assert [each["step"] for each in log.history(f"corrections_{number}")] == [1, 2]
    assert [len(each) for each in given] == [16, *2 * [env.settings.episode_length]]
    assert given[1] != given[2]
    weights = {name: each.detach().clone() for name, each in trained.model.named_parameters()}
    resumed = small_model()  # a new process, same run folder
    again = train(resumed, run)
    for name, each in again.model.named_parameters():
        torch.testing.assert_close(each, weights[name])


@pytest.mark.parametrize("model", [SMALL, ADAPTED], ids=["all weights", "adapters"])
def test_sft_changes_the_model_and_exports_plain_weights(
    env: DesignEnv, small: LanguageModel, tmp_path: Path, model: ModelSettings
) -> None:
    base = tmp_path / "base"
    export(small, PROMPT, "", base)
    run = make_run(env, tmp_path, SFT, model)
    trained = train(small, run)
    tokens = torch.arange(5)[None]
    expected = trained.model.eval()(tokens).logits
    export(trained, PROMPT, base, tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert not [name for name in names if "adapter" in name]
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    torch.testing.assert_close(loaded.eval()(tokens).logits, expected, atol=1e-4, rtol=1e-4)
    start = AutoModelForCausalLM.from_pretrained(base).eval()(tokens).logits
    assert (start - expected).abs().max() > 1e-3
    assert [record["step"] for record in run.tracker.history("sft")] == [1, 2, 3]


def test_numbers_stay_between_their_neighbours(env: DesignEnv, tmp_path: Path) -> None:
    compact = PromptSettings(averages=["welfare", "revenue"], compact=True)
    language_model = make_language_model(SMALL, compact, env, seed=0)
    before = language_model.model.get_input_embeddings().weight.detach().clone()
    run = make_run(env, tmp_path, TrainingSettings(prompt=compact, sft=SFT))
    trained = train(language_model, run)
    moved = (trained.model.get_input_embeddings().weight != before).any(dim=1)
    numbers = trained.tokenizer.convert_tokens_to_ids(number_tokens())
    assert moved.any() and not moved[numbers].any()


@pytest.mark.slow
def test_sft_learns_to_write_mechanisms(env: DesignEnv, tmp_path: Path) -> None:
    """A short run of a small model; the demo's is measured in the README."""
    shape = ModelSettings(layers=1, hidden_size=64, heads=2, intermediate_size=128)
    language_model = make_language_model(shape, PROMPT, env, seed=0)
    short = SftSettings(steps=250, batch_size=16, learning_rate=1e-2, examples=2048)
    run = make_run(env, tmp_path, replace(short, validity_prompts=256))
    trained = train(language_model, run)
    assert sampled_validity(trained, run) > 0.8  # it is 0.95
    export(trained, PROMPT, "", tmp_path / "model")
    generate = make_generate(load_language_model(tmp_path / "model"), 0.0, 128)
    designer = LanguageModelDesigner(generate, PROMPT)
    observed = env.reset(market_seeds(0, "x", 8)).observe()
    proposals = designer.propose(observed, np.random.default_rng(0))
    assert not proposals.malformed.any()
    shutil.rmtree(tmp_path / "checkpoints")


def test_the_best_follows_the_objective(env: DesignEnv) -> None:
    objectives = Objectives(tuple(GIVES), np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert best_known(env, PORTFOLIO, objectives.goals, seed=0) == [FIRST, SECOND, FIRST]


@pytest.mark.parametrize("known", [True, False])
def test_pairs_of_many_objectives_answer_what_the_prompt_asks(
    known: bool, env: DesignEnv, tmp_path: Path
) -> None:
    settings = TrainingSettings(prompt=PROMPT, sft=SFT, objectives=ASKED)
    run = make_run(env, tmp_path, settings, portfolio=PORTFOLIO if known else None)
    pairs = own_pairs(run)
    told = [chat[-1]["content"] for chat in pairs["prompt"]]
    asked = ["revenue" if "revenue:1.00" in text else "fairness" for text in told]
    assert len(set(asked)) == 2
    assert all(f"{name}:1.00" in text for name, text in zip(asked, told, strict=True))
    wanted = [format_mechanism(GIVES[name]) for name in asked]
    assert (answers(pairs) == wanted) == known


def test_without_objectives_a_portfolio_does_not_answer(env: DesignEnv, tmp_path: Path) -> None:
    run = make_run(env, tmp_path, SFT)
    with_portfolio = replace(run, portfolio=PORTFOLIO)
    assert own_pairs(with_portfolio).to_dict() == own_pairs(run).to_dict()
