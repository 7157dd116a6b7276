"""The source that the settings describe: who plays up to the states, and who goes on."""

from __future__ import annotations

from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.env import Designer
from daedalus.design.search.lookahead import ContinuationPolicy
from daedalus.design.search.states import RandomWalkDesigner
from daedalus.training.algorithm_settings import ReinforcementSettings
from daedalus.training.generation import make_generate
from daedalus.training.model import LanguageModel
from daedalus.training.run import TrainingRun
from daedalus.training.sources.source import Source
from daedalus.training.sources.state_source import state_source


def make_source(language_model: LanguageModel, run: TrainingRun, name: str) -> Source:
    """Return the prompts and rewards of an algorithm.

    Of several processes, the main one plays up to the states and hands them over.

    Args:
        language_model: The model in training. It plays up to the states if ``own_states`` is set.
        run: The run.
        name: Name of the algorithm, whose settings describe the source.
    """
    settings = run.settings.reinforcement[name]
    player = _state_player(language_model, run, settings)
    return state_source(run, settings, player, _continuation(run, settings))


def _continuation(run: TrainingRun, settings: ReinforcementSettings) -> ContinuationPolicy | None:
    """Return the teacher of SFT as a continuation policy, if there are commitment steps."""
    if settings.commitment_steps is None:
        return None
    teacher = run.teacher()
    return ContinuationPolicy(teacher, settings.commitment_steps) if teacher else None


def _state_player(
    language_model: LanguageModel, run: TrainingRun, settings: ReinforcementSettings
) -> Designer:
    """Return the designer that plays up to the states: the model itself, or a random walk."""
    if not settings.own_states:
        return RandomWalkDesigner(run.portfolio)
    tokens = settings.max_completion_tokens
    generate = make_generate(language_model, settings.temperature, tokens, settings.constrained)
    return LanguageModelDesigner(generate, run.settings.prompt, strict=True)
