"""How much do readers of briefs understand, by the number of wordings that they learn?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from daedalus.checks import CannotRunError
from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.model_reader import ModelReader
from daedalus.design.briefs.readers import KeywordReader, Reader, read
from daedalus.design.briefs.wordings import examples, packaged_reader
from daedalus.lab.studies.brief_reading import (
    reading,
    reading_curves,
    sellers_table,
    shares,
    sureness,
)
from daedalus.launch.brief_answer import load_understanding, reader_for_people
from daedalus.launch.config.tasks import BriefReading
from daedalus.launch.from_config import load_brief_model, load_reader
from daedalus.launch.tracked import tracked
from daedalus.runs.importing import slow_imports


def main(config: BriefReading, out: Path) -> None:
    """Write what readers understand by number of wordings, and of briefs as sellers write them."""
    with tracked(config, out) as (_, report):
        table = pd.concat(_read(config), ignore_index=True)
        found = shares(table, config.evaluation.confidence)
        report.table(table, "reading")
        title = "share of another writer's sentences that are read right"
        report.table(found, "reading_shares", title)
        report.figure(reading_curves(found, config.evaluation.confidence), "reading")
        try:
            sellers = sellers_table(_of_sellers())
        except CannotRunError as error:
            return report.say(f"no table of briefs as sellers write them: {error}")
        title = "demands in briefs as sellers write them, several in a sentence"
        report.table(sellers, "sellers", title)
        title = "clauses of the package's reader, by how sure it says that it is"
        found = sureness(partial(read, reader_for_people(load_reader)))
        return report.table(found, "sureness", title)


def _read(config: BriefReading) -> Iterator[pd.DataFrame]:
    """Yield what each reader reads of the second writer's sentences, by what it has learnt."""
    models = {
        int(count): ModelReader(load_brief_model(folder, 0.0, None))
        for count, folder in config.models.items()
    }
    every = [(name, count) for name in config.readers for count in config.wordings]
    for name, count in tqdm(every, "learning to read", unit="reader"):
        table = reading(_learnt(name, count, config), benchmark=True)
        yield table.assign(reader=name, wordings=count)
    for count, model in tqdm(models.items(), "reading", unit="model"):
        table = reading(model, benchmark=True)
        yield table.assign(reader="language_model", wordings=count)


def _of_sellers() -> dict[str, Callable[[str], Understanding]]:
    """Return what reads briefs for people, and what reads sentence by sentence."""
    shipped = load_understanding(load_reader)
    from daedalus.training.tuned_reader import load_reader as load_tuned

    sentences = load_tuned(packaged_reader("reader"))
    return {
        "sentence by sentence": partial(read, sentences, least_confidence=0.5),
        "shipped": shipped,
    }


def _learnt(name: str, count: int, config: BriefReading) -> Reader:
    """Return a reader that has learnt ``count`` sentences of each meaning that trains."""
    given = examples(benchmark=True, most=count)
    if name == "keywords":
        return KeywordReader(given)
    with slow_imports():
        from daedalus.design.briefs.linear_reader import LinearReader
        from daedalus.training.brief_reader import train_reader
        from daedalus.training.sentence_encoder import load_sentence_encoder
    if name == "tuned":
        return train_reader([(each,) for each in given], config.reader, config.seed)[0]
    return LinearReader(load_sentence_encoder() if name == "minilm" else None).fit(given)
