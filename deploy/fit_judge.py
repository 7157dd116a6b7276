"""Fit what tells how sure the package's reader of briefs may be; 2 minutes on one core.

``python -m deploy.fit_judge`` writes ``word_odds.npz``, from the sentences that the wary reader
learnt, and ``judge.json``, from the briefs of sellers on which readers are chosen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

import numpy as np
from tqdm import tqdm

from daedalus.design.briefs.meanings import OTHER
from daedalus.design.briefs.readers import read
from daedalus.design.briefs.word_odds import WordOdds
from daedalus.design.briefs.wordings import NEAR
from daedalus.lab.studies.brief_reading import SELLERS, found_in
from daedalus.runs.files import write_text
from daedalus.training.brief_settings import BriefReaderSettings
from daedalus.training.judging_reader import JUDGE, WORDS, Judge, JudgingReader, load_judging_reader
from experiments.brief_reader import sentences


def fit_words() -> WordOdds:
    """Fit odds by the words of all sentences, with those that only sound like a demand."""
    given = [parts[0] for parts in sentences(BriefReaderSettings(near=True))]
    return WordOdds.fit((text, OTHER if name.startswith(NEAR) else name) for text, name in given)


def fit_judge(reader: JudgingReader, files: Sequence[str]) -> Judge:
    """Fit weights to the clauses that a reader finds in files of briefs."""
    understand = partial(read, reader.reader)
    found = [each for file in tqdm(files, "reading") for each in found_in(understand, file)]
    evidence = reader.evidence([clause for clause, _ in found])
    return Judge.fit(evidence, np.array([right for _, right in found]))


def main() -> None:
    """Write both files."""
    fit_words().save(WORDS)
    reader = load_judging_reader(Judge((1.0,), 0.0))
    judge = fit_judge(reader, [each for each in SELLERS if "dev" in each])
    write_text(JUDGE, json.dumps(asdict(judge), indent=1) + "\n")


if __name__ == "__main__":
    main()
