"""SFT: what it learns from, and that it changes the model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM

from daedalus.designers.distilled import DistilledSettings
from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.designers.prompt import PromptSettings, prompts
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.seeds import market_seeds
from daedalus.rewards.stack import RewardStack
from daedalus.run_folder import RunFolder
from daedalus.search.distillation import DistillationData, distil
from daedalus.search.states import EpsilonGreedyExplorer, mid_episode_states
from daedalus.search.trees import TreeDesigner
from daedalus.training.backends import TransformersBackend
from daedalus.training.checkpoints import export
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel, load_language_model, make_language_model
from daedalus.training.settings import (
    ModelSettings,
    PortfolioSettings,
    SftSettings,
    TrainingSettings,
)
from daedalus.training.sft import (
    sampled_validity,
    synthetic_pairs,
    teacher_pairs,
    train_sft,
    training_pairs,
)
from daedalus.training.tokenizer import number_tokens
from tests.training.conftest import ADAPTERS, ALL_WEIGHTS, PROMPT, SFT, SMALL, make_tracker

COMPOSITE = RewardStack()
CANDIDATES = Mechanisms.stack(
    [
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.5),
        Mechanism(reserve_price=0.0, withdrawal_penalty=0.7),
        Mechanism(reserve_price=0.9),
    ]
)
TEACHER = DistilledSettings(rounds=1, states=64, futures=4, horizon=2)


def settings(temperature: float, count: int = 64) -> TrainingSettings:
    sft = SftSettings(examples=count, temperature=temperature, teacher=TEACHER)
    return TrainingSettings(prompt=PROMPT, sft=sft, portfolio=PortfolioSettings(populations=1))


@pytest.fixture(scope="module")
def teacher(env: DesignEnv) -> TreeDesigner:
    return distil(env, CANDIDATES, COMPOSITE, TEACHER, seed=0)


@pytest.fixture
def player(teacher: TreeDesigner) -> EpsilonGreedyExplorer:
    return EpsilonGreedyExplorer(teacher, CANDIDATES, TEACHER.exploration)


def answers(pairs: Dataset) -> list[str]:
    return [chat[0]["content"] for chat in pairs["completion"]]


def test_at_a_low_temperature_answers_have_the_highest_prediction(
    env: DesignEnv, player: EpsilonGreedyExplorer, teacher: TreeDesigner
) -> None:
    observed = mid_episode_states(env, 64, 0, "practice/0/0", designer=player).observe()
    wanted = [format_mechanism(CANDIDATES[row]) for row in teacher.choose(observed)]
    pairs = teacher_pairs([env], player, teacher, settings(1e-9), seed=0)
    assert answers(pairs) == wanted
    assert list(pairs["prompt"]) == prompts(observed, PROMPT)
    assert all(parse_mechanism(answer).valid for answer in answers(pairs))


def test_a_higher_temperature_adds_near_ties_and_a_huge_one_adds_everything(
    env: DesignEnv, player: EpsilonGreedyExplorer, teacher: TreeDesigner
) -> None:
    awful = format_mechanism(CANDIDATES[2])
    shares = [
        np.mean([text == awful for text in answers(teacher_pairs([env], player, teacher, each, 0))])
        for each in (settings(0.003, 200), settings(1e9, 200))
    ]
    assert shares[0] == 0
    assert 0.2 < shares[1] < 0.46


def test_half_of_the_pairs_are_of_the_run_and_the_others_shared_out(
    env: DesignEnv, player: EpsilonGreedyExplorer, teacher: TreeDesigner
) -> None:
    crowd = replace(env.market.population, bidders=30)
    other = DesignEnv.of(env.settings, crowd)
    places = [(env, 7), (other, 3), (other, 3)]
    pairs = teacher_pairs([env, other, other], player, teacher, settings(0.003, 13), seed=0)
    wanted = []
    for number, (place, count) in enumerate(places):
        states = mid_episode_states(place, count, 0, f"practice/{number}/0", designer=player)
        wanted += prompts(states.observe(), PROMPT)
    assert list(pairs["prompt"]) == wanted
    assert wanted[7:10] != wanted[10:]


def test_the_populations_of_practice_are_practised_in(
    env: DesignEnv, teacher: TreeDesigner, tmp_path: Path
) -> None:
    run, asked = RunFolder(tmp_path), settings(0.003, 8)
    dropouts = Population(types={"dropout": BidderType(1, ["withdraw"], outside_option=0.3)})
    practice = {"dropouts": PopulationSettings("dropouts", dropouts)}
    practising = replace(asked, sft=replace(asked.sft, practice=practice))
    alone = training_pairs(env, COMPOSITE, asked, CANDIDATES, run, seed=0)
    pairs = training_pairs(env, COMPOSITE, practising, CANDIDATES, run, seed=0)
    assert len(pairs) == len(alone) == 8
    there = DesignEnv.of(env.settings, dropouts)
    player = EpsilonGreedyExplorer(teacher, CANDIDATES, TEACHER.exploration)
    states = mid_episode_states(there, 4, 0, "practice/1/0", designer=player)
    assert list(pairs["prompt"])[4:] == prompts(states.observe(), PROMPT)


@pytest.mark.parametrize(("weight", "best"), [(1.0, {0.0}), (-1.0, {0.9})])
def test_the_teacher_maximises_the_given_reward_and_its_data_is_kept(
    env: DesignEnv, tmp_path: Path, weight: float, best: set[float]
) -> None:
    run, stack = RunFolder(tmp_path), RewardStack({"welfare": weight})
    pairs = training_pairs(env, stack, settings(1e-9, 32), CANDIDATES, run, seed=0)
    written = [parse_mechanism(answer).mechanism for answer in answers(pairs)]
    assert {each.reserve_price for each in written if each} == best
    data = DistillationData.read(run.distillation_data)
    assert (np.sign(data.rewards) == weight).mean() > 0.9


def test_without_a_teacher_answers_are_random(env: DesignEnv, tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    plain = TrainingSettings(prompt=PROMPT, sft=SFT)
    pairs = training_pairs(env, COMPOSITE, plain, None, run, seed=0)
    assert answers(pairs) == answers(synthetic_pairs(env, PROMPT, SFT.examples, seed=0))
    assert len(set(answers(pairs))) == SFT.examples
    assert not run.distillation_data.exists()


@pytest.mark.parametrize("backend", [ALL_WEIGHTS, ADAPTERS], ids=["all weights", "adapters"])
def test_sft_changes_the_model_and_exports_plain_weights(
    env: DesignEnv, small: LanguageModel, tmp_path: Path, backend: TransformersBackend
) -> None:
    base = tmp_path / "base"
    export(small, PROMPT, "", base)
    pairs = synthetic_pairs(env, PROMPT, SFT.examples, seed=0)
    log = make_tracker(tmp_path)
    trained = train_sft(small, pairs, SFT, backend, log, tmp_path / "checkpoints", seed=0)
    tokens = torch.arange(5)[None]
    expected = trained.model.eval()(tokens).logits
    export(trained, PROMPT, base, tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert not [name for name in names if "adapter" in name]
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    torch.testing.assert_close(loaded.eval()(tokens).logits, expected, atol=1e-4, rtol=1e-4)
    start = AutoModelForCausalLM.from_pretrained(base).eval()(tokens).logits
    assert (start - expected).abs().max() > 1e-3
    assert [record["step"] for record in log.history("sft")] == [1, 2, 3]


def test_numbers_stay_between_their_neighbours(env: DesignEnv, tmp_path: Path) -> None:
    compact = PromptSettings(averages=["welfare", "revenue"], compact=True)
    language_model = make_language_model(SMALL, compact, env, seed=0)
    before = language_model.model.get_input_embeddings().weight.detach().clone()
    pairs = synthetic_pairs(env, compact, SFT.examples, seed=0)
    log, folder = make_tracker(tmp_path), tmp_path / "checkpoints"
    trained = train_sft(language_model, pairs, SFT, ALL_WEIGHTS, log, folder, seed=0)
    moved = (trained.model.get_input_embeddings().weight != before).any(dim=1)
    numbers = trained.tokenizer.convert_tokens_to_ids(number_tokens())
    assert moved.any() and not moved[numbers].any()


@pytest.mark.slow
def test_sft_learns_to_write_mechanisms(env: DesignEnv, tmp_path: Path) -> None:
    """A short run of the default model; the full one is measured in the README."""
    language_model = make_language_model(ModelSettings(), PROMPT, env, seed=0)
    settings, log = SftSettings(steps=200, examples=4096), make_tracker(tmp_path)
    pairs = synthetic_pairs(env, PROMPT, settings.examples, seed=0)
    trained = train_sft(
        language_model, pairs, settings, ALL_WEIGHTS, log, tmp_path / "checkpoints", seed=0
    )
    assert sampled_validity(trained, env, PROMPT, 256, seed=0) > 0.7
    export(trained, PROMPT, "", tmp_path / "model")
    generate = make_generate(load_language_model(tmp_path / "model"), 0.0, 128)
    designer = LanguageModelDesigner(generate, PROMPT)
    proposals = designer.propose(env.reset(market_seeds(0, "x", 8)), np.random.default_rng(0))
    assert not proposals.malformed.any()
    shutil.rmtree(tmp_path / "checkpoints")
