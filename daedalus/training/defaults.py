"""What a checkpoint brings along beside weights and vocabulary, and what replaces it.

Its authors chose sampling, dropout and a chat template for their own purpose. Here the settings of
a run choose all of these, so that a model answers in evaluation as it was trained.
"""

from __future__ import annotations

import re
from datetime import date

import torch
from jinja2 import TemplateError
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from daedalus.checks import CannotRunError

PLAIN_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message['content'] }}"
    "{{ eos_token if message['role'] == 'assistant' else '\\n\\n' }}{% endfor %}"
)
"""Chat template of a tokenizer that has none: each text, and the end token after an answer."""

SYSTEM_IN_USER_TURN = (
    "{% if messages[0]['role'] == 'system' and messages[1:] %}{% set messages = "
    "[{'role': messages[1]['role'], 'content': messages[0]['content'] + '\\n\\n' + "
    "messages[1]['content']}] + messages[2:] %}{% endif %}"
)
"""Comes before a template without a system role: it puts the text into the user's turn."""

NO_THINKING = "{% set enable_thinking = false %}{% set thinking = false %}"
"""Comes before a template that can ask for reasoning before the answer."""

_TODAY = re.compile(r"""strftime_now\(\s*(['"])(.*?)\1\s*\)""")
_DAY = date(2025, 1, 1)  # in templates that tell the date, so that prompts are alike on all days
_QUESTION = [{"role": "system", "content": "SYSTEM"}, {"role": "user", "content": "QUESTION"}]
_ANSWER = {"role": "assistant", "content": "ANSWER"}


def own_defaults(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Replace what a loaded checkpoint brought along, before it gets adapters.

    Raises:
        CannotRunError: No token ends an answer, or the chat template cannot tell a question.
    """
    declared = _as_list(model.generation_config.eos_token_id)
    own_tokenizer(tokenizer, declared[0] if declared else None)
    neutral_generation(model, tokenizer)
    for holder in (model.config, *model.modules()):
        for name, value in vars(holder).items():
            if "drop" in name and isinstance(value, float):
                setattr(holder, name, 0.0)
        if isinstance(holder, torch.nn.Dropout):
            holder.p = 0.0


def own_tokenizer(tokenizer: PreTrainedTokenizerBase, end: int | None = None) -> None:
    """Give a tokenizer what it lacks, and what a run depends on.

    ``end`` becomes the token that ends answers, if the tokenizer names none.

    Raises:
        CannotRunError: No token ends an answer, or the chat template cannot tell a question.
    """
    if tokenizer.eos_token is None and end is not None:
        tokenizer.eos_token = tokenizer.convert_ids_to_tokens(end)
    if tokenizer.eos_token is None:
        raise CannotRunError(
            f"{tokenizer.name_or_path}: no token ends an answer; write eos_token into its "
            "tokenizer_config.json, or choose another model"
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    tokenizer.clean_up_tokenization_spaces = False
    _own_template(tokenizer)


def neutral_generation(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Forget how the authors of a checkpoint sampled; keep only the tokens that end and pad.

    ``generate`` takes from the model's configuration whatever its caller does not set.

    Returns:
        All tokens that end an answer.
    """
    declared = _as_list(model.generation_config.eos_token_id)
    ends = list(dict.fromkeys([*declared, tokenizer.eos_token_id, end_of_answer(tokenizer)]))
    model.generation_config = GenerationConfig(
        eos_token_id=ends[0] if len(ends) == 1 else ends, pad_token_id=tokenizer.pad_token_id
    )
    return ends


def end_of_answer(tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the token that the chat template writes after an answer, or else the end token.

    Base models often come with a template whose end of a turn is not their end token.
    """
    rest = rendered(tokenizer, [_QUESTION[1], _ANSWER]).rpartition(_ANSWER["content"])[2]
    after = tokenizer(rest, add_special_tokens=False).input_ids[:1]
    special = [each for each in after if tokenizer.added_tokens_decoder.get(each)]
    end: int = [*special, tokenizer.eos_token_id][0]
    return end


def require_answers(tokenizer: PreTrainedTokenizerBase) -> None:
    """Check that the chat template leads from a question straight to its answer.

    Raises:
        CannotRunError: It does not, so a model cannot learn from answered questions.
    """
    question = rendered(tokenizer, _QUESTION, add_generation_prompt=True)
    answered = rendered(tokenizer, [*_QUESTION, _ANSWER])
    straight = answered.removeprefix(question).lstrip().startswith(_ANSWER["content"])
    if not (answered.startswith(question) and straight):
        raise CannotRunError(
            f"{tokenizer.name_or_path}: its chat template does not lead from a question straight "
            "to its answer, so no model can learn from it; delete the template, which gives the "
            "plain one, or choose another model"
        )


def rendered(
    tokenizer: PreTrainedTokenizerBase,
    chat: list[dict[str, str]],
    add_generation_prompt: bool = False,
) -> str:
    """Return the text that the chat template makes of a chat."""
    text = tokenizer.apply_chat_template(
        chat, tokenize=False, add_generation_prompt=add_generation_prompt
    )
    assert isinstance(text, str)
    return text


def _own_template(tokenizer: PreTrainedTokenizerBase) -> None:
    """Choose a template that holds system texts, leads straight to answers and tells no date."""
    template = tokenizer.chat_template
    template = template.get("default") if isinstance(template, dict) else template
    template = _TODAY.sub(lambda match: repr(_DAY.strftime(match[2])), template or PLAIN_TEMPLATE)
    if "thinking" in template and not template.startswith(NO_THINKING):
        template = NO_THINKING + template
    for each in (template, SYSTEM_IN_USER_TURN + template):
        tokenizer.chat_template = each
        try:
            prompt = rendered(tokenizer, _QUESTION, add_generation_prompt=True)
        except TemplateError as error:
            refusal = str(error)
            continue
        if all(message["content"] in prompt for message in _QUESTION):
            return
        refusal = "it leaves out a message"
    raise CannotRunError(
        f"{tokenizer.name_or_path}: its chat template cannot tell a question ({refusal}); delete "
        "the template, which gives the plain one, or choose another model"
    )


def _as_list(tokens: int | list[int] | None) -> list[int]:
    if tokens is None:
        return []
    return [tokens] if isinstance(tokens, int) else list(tokens)
