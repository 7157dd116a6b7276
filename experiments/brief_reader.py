"""Train a reader of briefs, and count what it reads of another writer's sentences."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.design.briefs.parts import Parts, parts_alone, sentences_in_parts
from daedalus.design.briefs.wordings import examples, near_examples, plain_and_near_examples
from daedalus.lab.studies.brief_reading import reading
from daedalus.launch.config.tasks import BriefReader
from daedalus.launch.tracked import tracked
from daedalus.runs.importing import slow_imports
from daedalus.runs.phases import SFT, phase
from daedalus.training.brief_settings import BriefReaderSettings


def main(config: BriefReader, out: Path) -> None:
    """Write the reader to ``out``/reader, losses.csv and reading.csv."""
    with slow_imports():
        from daedalus.training.brief_reader import save, train_reader

    settings = config.reader
    with tracked(config, out) as (_, report):
        with phase(SFT):
            given = sentences(settings)
            reader, losses = train_reader(given, settings, config.seed)
        save(reader, out / "reader")
        report.table(pd.DataFrame({"epoch": range(1, len(losses) + 1), "loss": losses}), "losses")
        table = reading(reader, settings.benchmark)
        report.table(table, "reading")
        kinds = table.groupby("kind", sort=False)["right"].agg(["mean", "size"]).reset_index()
        report.show(kinds, "share of another writer's sentences that are read right")
        report.say(f"all sentences: {table['right'].mean():.3f} of {len(table)}")


def sentences(settings: BriefReaderSettings) -> list[Parts]:
    """Return what the reader learns: sentences with one meaning, and with several in parts."""
    alone = examples(settings.benchmark, settings.wordings)
    if settings.near:
        more = [*near_examples(), *parts_alone(), *plain_and_near_examples()]
        alone = [*dict.fromkeys([*alone, *more])]
    given: list[Parts] = [(each,) for each in alone]
    return [*given, *sentences_in_parts()] if settings.parts else given
