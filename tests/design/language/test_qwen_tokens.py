"""The tokenizer that the check of a GPU takes: prompts and answers are short in its tokens."""

from __future__ import annotations

import subprocess

import pytest

from daedalus.design.language.prompt import PromptSettings, prompts
from daedalus.design.search.states import mid_episode_states
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.paths import ROOT
from daedalus.launch.from_config import make_env
from daedalus.market.parsing import format_mechanism
from daedalus.training.synthetic import synthetic_mechanisms
from tests.programs import NODE


@NODE.needed
@pytest.mark.slow
def test_prompts_and_answers_are_short_in_the_tokens_of_qwen() -> None:
    from daedalus.training.model import load_tokenizer  # slow to import

    subprocess.run(["make", "outputs/tokenizer/qwen2_5"], cwd=ROOT, check=True)
    tokenizer = load_tokenizer(ROOT / "outputs" / "tokenizer" / "qwen2_5")
    assert len(tokenizer) == 151_665
    env = make_env(compose_config("+experiment=grpo_published", "tracking=files"))
    chats = prompts(mid_episode_states(env, 16, 0, "x").observe(), PromptSettings())
    asked = [tokenizer.apply_chat_template(chat, return_dict=True)["input_ids"] for chat in chats]
    answers = [format_mechanism(each) for each in synthetic_mechanisms(16, 0)]
    assert max(len(each) for each in asked) <= 110
    assert all(60 <= len(tokenizer(each)["input_ids"]) <= 100 for each in answers)
