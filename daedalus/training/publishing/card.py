"""The model card: metadata for the hub, and text that is generated from a run's files."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from daedalus.design.language.prompt import Message
from daedalus.evaluation.basis import COLUMN, cautions
from daedalus.training.algorithms.grpo.settings import BOLTZMANN, TARGETED_LOSSES
from daedalus.training.publishing import tables
from daedalus.training.publishing.evidence import Evidence, records
from daedalus.training.publishing.settings import REPOSITORY, HubSettings
from daedalus.training.trained_prompt import was_constrained

_TEMPLATE = Path(__file__).with_name("card.md")
_TASK = "reinforcement-learning"
_BASELINES = {
    "random": "draws a new mechanism at each step.",
    "informed_greedy": "keeps the one mechanism that the authors of the published system chose.",
    "search": "keeps the best mechanism that a search found for the population.",
    "trained": "is this model.",
}
_SNIPPET = """\
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

name = "{name}"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name, dtype="auto")
model.generation_config = GenerationConfig.from_pretrained(name)  # not a base model's
messages = {messages}
prompt = tokenizer.apply_chat_template(
    messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
)
tokens = model.generate(**prompt, max_new_tokens={tokens}, do_sample=False)
answer = tokens[0, prompt["input_ids"].shape[1] :]
print(tokenizer.decode(answer, skip_special_tokens=True))"""


@dataclass(frozen=True)
class Example:
    """A prompt and the model's answer, which is "" if it was not a mechanism."""

    chat: list[Message]
    answer: str


def base_model(evidence: Evidence) -> str | None:
    """Return the hub name of the base model, or None if it is not on the hub."""
    name = str(evidence.config["model"]["pretrained"])
    return name if re.fullmatch(REPOSITORY, name) and not Path(name).exists() else None


def model_card(
    evidence: Evidence, settings: HubSettings, example: Example, parameters: int
) -> ModelCard:
    """Return the card of a run's model.

    Args:
        evidence: The files of the run.
        settings: Name and licence of the published model.
        example: The prompt that the card shows, and its answer.
        parameters: Number of the model's parameters.
    """
    config, trained = evidence.config, evidence.trained
    card: ModelCard = ModelCard.from_template(
        _metadata(evidence, settings),
        template_path=str(_TEMPLATE),
        model_name=tables.plain(settings.repo.partition("/")[2]),
        license=tables.plain(settings.license),
        phases=" and ".join(_phases(config).values()),
        base=_base(evidence),
        parameters=parameters,
        adapters=_adapters(config),
        market=tables.code(config["market"]["name"]),
        population=tables.code(config["population"]["name"]),
        command=tables.code(_command(config, settings)),
        is_classic=config["market"]["name"] == "classic",
        constrained=was_constrained(evidence.run.model),
        seed=config["seed"],
        confidence=f"{evidence.intervals.confidence:.0%}",
        cautions=_cautions(evidence),
        episodes=trained["episodes"],
        reward=evidence.score,
        formula=tables.code(evidence.stack.name),
        score=tables.interval(trained, "mean"),
        snippet=_snippet(evidence, settings, example),
        answer=example.answer,
        scores=tables.scores(evidence),
        leads=tables.leads(evidence),
        baselines=_baselines(evidence),
        losses=tables.losses(evidence),
        validity=_validity(evidence),
        training=_training(config),
        recipe=tables.recipe(evidence),
        signals=tables.signals(evidence),
        machine=tables.machine(evidence),
    )
    return card


def _cautions(evidence: Evidence) -> str:
    """Return what the words beside intervals mean; "" if there are none."""
    texts = [row.get(f"mean{COLUMN}", "") for row in records(evidence.summary)]
    texts += [row.get(f"difference{COLUMN}", "") for row in evidence.leads]
    return "".join(f"; {each}" for each in cautions(texts))


def _command(config: dict[str, Any], settings: HubSettings) -> str:
    words = ["--repo-id", settings.repo, "--market", config["market"]["name"]]
    words += ["--population", config["population"]["name"]]
    return shlex.join(["python", "inference.py", *words])


def _metadata(evidence: Evidence, settings: HubSettings) -> ModelCardData:
    return ModelCardData(
        language="en",
        license=settings.license,
        library_name="transformers",
        pipeline_tag="text-generation",
        base_model=base_model(evidence),
        tags=["mechanism-design", "auctions", *_phases(evidence.config)],
        model_name=settings.repo.partition("/")[2],
        eval_results=_results(evidence),
    )


def _results(evidence: Evidence) -> list[EvalResult]:
    """Return the scores in the hub's form: the reward, its leads over baselines, and validity."""
    trained = evidence.trained
    results = [_result(evidence, "mean_reward", f"mean {evidence.score}", trained, "mean")]
    for row in evidence.leads:
        name = f"lead in {evidence.score} over {row['reference']}"
        results.append(_result(evidence, f"lead_over_{row['reference']}", name, row, "difference"))
    return [*results, _result(evidence, "validity", "share of valid answers", trained, "valid")]


def _result(
    evidence: Evidence, kind: str, name: str, row: dict[str, Any], column: str
) -> EvalResult:
    market, population = evidence.config["market"]["name"], evidence.config["population"]["name"]
    played = {"episodes": int(evidence.trained["episodes"]), "seed": evidence.config["seed"]}
    return EvalResult(
        task_type=_TASK,
        task_name="auction design",
        dataset_type=f"daedalus-{market}-{population}",
        dataset_name=f"Daedalus, market {market}, population {population}",
        dataset_args=played,
        metric_type=kind,
        metric_name=name,
        metric_value=_rounded(row[column]),
        metric_args=_interval(evidence, row, column),
    )


def _interval(evidence: Evidence, row: dict[str, Any], column: str) -> dict[str, float] | None:
    if np.isnan(row.get(f"{column}_low", np.nan)):
        return None
    ends = {end: _rounded(row[f"{column}_{end}"]) for end in ("low", "high")}
    return {"confidence": evidence.intervals.confidence} | ends


def _rounded(value: float) -> float:
    return round(float(value), 4)


def _phases(config: dict[str, Any]) -> dict[str, str]:
    """Return the phases of the training in words, by the names of their settings."""
    training = config["training"]
    named = {"sft": "SFT", "grpo": _loss_in_words(training["grpo"])}
    return {key: name for key, name in named.items() if training[key]["steps"]}


def _loss_in_words(grpo: dict[str, Any]) -> str:
    """Return how GRPO learned from each group of answers."""
    kind = grpo.get("loss_type")
    if kind not in TARGETED_LOSSES:
        return "plain GRPO"
    target = "Boltzmann targets" if kind == BOLTZMANN else "target probabilities"
    near = f", {grpo['neighbours']} neighbours in each group" if grpo["neighbours"] else ""
    return f"GRPO ({target}{near})"


def _base(evidence: Evidence) -> str:
    model, name = evidence.config["model"], base_model(evidence)
    if name:
        return f"[{name}](https://huggingface.co/{name})"
    if model["pretrained"]:
        return f"{tables.code(Path(model['pretrained']).name)}, a model that is not on the hub"
    shape = f"{model['layers']} layers of width {model['hidden_size']}"
    return f"none: a Qwen2 of {shape} with random initial weights and a tokenizer of its own"


def _adapters(config: dict[str, Any]) -> str:
    model, lora = config["model"], config["model"]["lora"]
    if not lora["rank"]:
        return "none: all weights were trained"
    bits = " on 4-bit base weights (NF4)" if model["load_in_4bit"] else ""
    return (
        f"LoRA of rank {lora['rank']} and alpha {lora['alpha']} in each phase{bits}, "
        "merged into the weights"
    )


def _snippet(evidence: Evidence, settings: HubSettings, example: Example) -> str:
    return _SNIPPET.format(
        name=settings.repo,
        messages=json.dumps(example.chat, indent=4),
        tokens=evidence.config["training"]["grpo"]["max_completion_tokens"],
    )


def _baselines(evidence: Evidence) -> str:
    names = evidence.summary["designer"]
    return "\n".join(f"- `{name}` {_BASELINES[name]}" for name in names if name in _BASELINES)


def _validity(evidence: Evidence) -> str:
    rows: list[tuple[str, str]] = []
    if evidence.sft_validity is not None:
        rows.append(("after SFT, sampled at temperature 1", f"{evidence.sft_validity:.1%}"))
    if "validity" in evidence.history:
        last = float(evidence.history["validity"].iloc[-1])
        temperature = evidence.config["training"]["grpo"]["temperature"]
        when = f"in the last step of GRPO, sampled at temperature {temperature:g}"
        rows.append((when, f"{last:.1%}"))
    rows.append(("in the evaluation, the likeliest tokens", f"{evidence.trained['valid']:.1%}"))
    return tables.table(["when", "valid answers"], rows)


def _training(config: dict[str, Any]) -> str:
    sft, grpo = config["training"]["sft"], config["training"]["grpo"]
    lines = _lessons(sft) if sft["steps"] else []
    if grpo["steps"]:
        loss = _loss_in_words(grpo)
        lines.append(
            f"{loss[0].upper()}{loss[1:]} took {grpo['steps']} steps of "
            f"{grpo['prompts_per_step']} prompts with {grpo['group_size']} answers each. Each "
            f"answer was played in {grpo['futures']} futures of the market that its prompt "
            "describes."
        )
    return "\n".join(lines)


def _lessons(sft: dict[str, Any]) -> list[str]:
    """Return what SFT learned from: pairs, populations of practice, and corrections."""
    drawn = "A teacher chose the" if sft["teacher"] else "Chance drew the"
    if sft["teacher"] and sft["teacher"].get("data"):
        drawn = "A teacher, which learnt from another run's data, chose the"
    lines = [
        f"SFT took {sft['steps']} steps of {sft['batch_size']} pairs of a prompt and a valid "
        f"mechanism. {drawn} mechanisms."
    ]
    if sft["practice"]:
        others = ", ".join(map(tables.code, sft["practice"]))
        lines.append(f"Half of the pairs are of the population above, the others of {others}.")
    more = sft["corrections"]
    if more["rounds"]:
        lines.append(
            f"Corrections took {more['rounds'] * more['steps']} more steps (rounds: "
            f"{more['rounds']}). In each round the model played, and the teacher answered where it "
            "led."
        )
    return lines
