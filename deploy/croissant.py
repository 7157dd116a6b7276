"""Describe the published data in Croissant files: their hashes, columns, origin and limits.

``python -m deploy.croissant`` writes them beside the data; run it again after a change of the data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlcroissant as mlc

from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.splits import SPLITS
from daedalus.design.rewards.terms import MARKET_TERMS
from daedalus.lab.studies.brief_reading import SELLERS
from daedalus.market.mechanism import Mechanism

ROOT = Path(__file__).parents[1]
NAME = "croissant.json"
CORE, RAI = "http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"
CITED = "@software{daedalus, title = {Daedalus: a laboratory where language models learn to design "
CITED += "markets}, author = {The Daedalus maintainers}}"
NO_ADDRESS = (
    "It has no public address and no date of publication yet, so url and datePublished are absent."
)
TEXT, NUMBER, COUNT = mlc.DataType.TEXT, mlc.DataType.FLOAT, mlc.DataType.INTEGER
KINDS = {str: TEXT, float: NUMBER, bool: mlc.DataType.BOOL}
FORMATS = {".csv": "text/csv", ".jsonl": "application/jsonlines", ".json": "application/json"}

_AIMED_AT = {term for each in MEANINGS.values() for term in (each.aim, each.also)}
TERMS = [each for each in MARKET_TERMS if each in _AIMED_AT | {"composite"}]
"""What briefs reward; one without an aim rewards R."""
FLOORS = [each for each in MARKET_TERMS if any(of.floor == each for of in MEANINGS.values())]
"""Terms that briefs do not let fall below an amount."""


@dataclass(frozen=True)
class Column:
    """What a row of a file tells.

    Attributes:
        name: Its name.
        kind: Type of ``mlcroissant``.
        meaning: What it says.
        place: Where it stands in a file.
        inside: Path in what stands there; empty if that is all of it.
        many: Whether it is a list.
    """

    name: str
    kind: Any
    meaning: str
    place: dict[str, str]
    inside: str = ""
    many: bool = False

    def stands_in(self, path: Path) -> bool:
        """Return whether a file has it; of lines of JSON, whether a line does."""
        if path.suffix != ".jsonl":
            return True
        return any(self.place["column"] in json.loads(line) for line in path.open())

    def field(self, file: str) -> Any:
        """Return the field of a file that is the column."""
        deeper = [mlc.Transform(json_path=self.inside)] if self.inside else []
        extract = mlc.Extract(**self.place)
        return mlc.Field(
            id=f"{Path(file).stem}/{self.name}",
            name=self.name,
            description=self.meaning,
            data_types=[self.kind],
            is_array=self.many or None,
            array_shape="-1" if self.many else None,
            source=mlc.Source(file_object=file, extract=extract, transforms=deeper),
        )


@dataclass(frozen=True)
class Published:
    """Files of one folder that have the same columns.

    Attributes:
        folder: The folder, from the root of the repository.
        files: Their names.
        columns: Their columns.
        about: Further properties of ``mlcroissant.Metadata``.
    """

    folder: str
    files: tuple[str, ...]
    columns: tuple[Column, ...]
    about: dict[str, Any]

    @property
    def path(self) -> Path:
        """Return where the description lies."""
        return ROOT / self.folder / NAME

    def describe(self) -> dict[str, Any]:
        """Return the description."""
        folder = ROOT / self.folder
        about = self.about | {"description": f"{self.about['description']} {NO_ADDRESS}"}
        told: dict[str, Any] = mlc.Metadata(
            ctx=mlc.Context(conforms_to=[CORE, RAI]),
            conforms_to=[CORE, RAI],
            cite_as=CITED,
            creators=[mlc.Organization(name="The Daedalus maintainers")],
            license=["https://www.apache.org/licenses/LICENSE-2.0"],
            distribution=[file_object(folder / name) for name in self.files],
            record_sets=[self.records(name) for name in self.files],
            personal_sensitive_information=["None: everything is simulated or written for it."],
            **about,
        ).to_json()
        return told

    def records(self, name: str) -> Any:
        """Return the columns of a file, but those of keys that no line of it has."""
        stem = Path(name).stem
        path = ROOT / self.folder / name
        fields = [each.field(name) for each in self.columns if each.stands_in(path)]
        return mlc.RecordSet(id=stem, name=stem, fields=fields)


def file_object(path: Path) -> Any:
    """Return what tells whether a file is the one that was described."""
    raw = path.read_bytes()
    return mlc.FileObject(
        id=path.name,
        name=path.name,
        content_url=path.name,
        content_size=f"{len(raw)} B",
        encoding_formats=[FORMATS[path.suffix]],
        sha256=hashlib.sha256(raw).hexdigest(),
    )


def column(name: str, kind: Any, meaning: str) -> Column:
    """Return a column of a table, or a key of a line of JSON."""
    return Column(name, kind, meaning, {"column": name})


def part(
    key: str, name: str, kind: Any, meaning: str, path: str = "", many: bool = False
) -> Column:
    """Return a part of what a line of JSON has under a key; null where the line lacks it."""
    return Column(f"{key}.{name}", kind, meaning, {"column": key}, path or name, many)


def brief_columns() -> Iterator[Column]:
    """Yield what each brief has: its sentences, what they mean, and the scale of its score."""
    yield column("id", TEXT, "split and number")
    yield column("brief", TEXT, "what a seller asks for, in sentences")
    yield column("population", TEXT, "the bidders whom the designer meets")
    yield column("told_population", TEXT, "the bidders whom the brief tells of")
    clauses = "meaning of each sentence, TYPE/VALUE or TYPE/VALUE AMOUNT"
    yield Column("clauses", TEXT, clauses, {"column": "clauses"}, many=True)
    for term in TERMS:
        yield part("reward", term, NUMBER, "weight of this term of what is rewarded; null is 0")
    for term in FLOORS:
        yield part("floors", term, NUMBER, "least mean of this term; null is no floor")
    for name, value in Mechanism().to_dict().items():
        yield from allowed_columns(name, KINDS[type(value)])
    yield part("scale", "floor", NUMBER, "objective that scores 0, of random allowed mechanisms")
    yield part("scale", "ceiling", NUMBER, "objective that scores 1, of a search that knows all")
    for name, value in Mechanism().to_dict().items():
        meaning = "what that search set"
        yield part("scale", f"mechanism.{name}", KINDS[type(value)], meaning)


def allowed_columns(name: str, kind: Any) -> Iterator[Column]:
    """Yield what a brief lets a field of the mechanism be: values, or the ends of a range."""
    if kind != NUMBER:
        yield part("allowed", name, kind, "the values that keep the rules; null is any", many=True)
        return
    for end in ("min", "max"):
        meaning = f"the {end} that keeps the rules, or the one amount that does; null is any"
        yield part("allowed", f"{name}.{end}", kind, meaning, f"({name}.{end})|({name}[*])")


def parity_columns() -> Iterator[Column]:
    """Yield what each of the 90 rows of the published table has."""
    yield Column("name", TEXT, "name of the mechanism", {"json_path": "rows[*].name"})
    stage = "stage of the population, 0 to 4"
    yield Column("stage", COUNT, stage, {"json_path": "rows[*].stage"})
    for metric in "reward welfare fairness participation stability collusion_signal".split():
        place = f"rows[*].{metric}"
        yield Column(metric, NUMBER, "mean over 300 episodes", {"json_path": f"{place}[0]"})
        error = f"{metric}_error"
        yield Column(error, NUMBER, "standard error", {"json_path": f"{place}[1]"})


PUBLISHED = (
    Published(
        "docs/data",
        ("benchmark.csv", "benchmark_2.csv", "best_fixed_wide.csv"),
        (
            column("designer", TEXT, "who set the mechanisms"),
            column("mean", NUMBER, "mean reward R of a step over 100 episodes, 0 to 1"),
            column("valid", NUMBER, "share of answers that are mechanisms"),
            column("seed", COUNT, "seed of training and of the episodes, 0 to 6"),
            column("population", TEXT, "one of the fourteen populations of a list"),
            column("normalised", NUMBER, "0 is random, 1 the better of planner and best own"),
        ),
        {
            "name": "daedalus_benchmark",
            "version": "1.2.0",
            "description": "Scores of designers of auctions in fourteen simulated populations that "
            "were written by hand, and in fourteen that a rule drew. best_fixed_wide has, in both "
            "lists, those of a fixed mechanism that was searched in a wider world.",
            "data_collection": "python run.py -m +experiment=leaderboard_trained, seeds 0 to 6; "
            "best_fixed_wide: +experiment=leaderboard population=wide_world, the same seeds.",
            "data_collection_type": ["Experiments"],
            "data_biases": [
                "best_fixed_wide played the list written by hand at four seeds first, unannounced.",
                "Two of the populations of benchmark were exchanged after a look; none of "
                "benchmark_2 was, which each designer played once.",
                "The recipe was chosen on seeds 0 and 1, by scores in other populations.",
                "Four populations (emigrants, deserters, two_rings, narrow) carry 0.104 of the "
                "0.108 by which the trained model leads best_fixed.",
            ],
            "data_limitations": ["Simulated bidders alone; populations differ more than seeds."],
            "data_use_cases": ["Comparing designers of mechanisms. It is no training data."],
            "data_release_maintenance_plan": "A change of the file is a new version.",
        },
    ),
    Published(
        "daedalus/design/briefs/data",
        tuple(f"{name}.jsonl" for name in SPLITS),
        tuple(brief_columns()),
        {
            "name": "daedalus_briefs",
            "version": "2.0.0",
            "description": "2,100 frozen briefs, seven splits of 300: sentences, their rules, and "
            "the scale of their scores.",
            "in_language": ["en"],
            "data_collection": "Written for it by three instances of a language model, put "
            "together by python run.py +experiment=freeze_briefs.",
            "data_collection_type": ["Others", "Experiments"],
            "data_annotation_protocol": [
                "Two instances of a language model that saw no labels gave 832 of 834 sentences "
                "their writer's meaning."
            ],
            "data_biases": ["English alone, five facts about bidders, one shape of market."],
            "data_limitations": ["No sentence is a real seller's, and no bidder is real."],
            "data_use_cases": ["Held out: score designers that read. Do not train or tune on it."],
            "data_release_maintenance_plan": "Frozen. A change of any file is a new version.",
        },
    ),
    Published(
        "daedalus/design/briefs/data/sellers",
        tuple(f"{name}.jsonl" for name in SELLERS),
        (column("brief", TEXT, "what a seller asks for, several things in a sentence"),),
        {
            "name": "daedalus_sellers_briefs",
            "version": "1.0.0",
            "description": "Briefs as sellers write them, with their meanings and amounts, which "
            "each line has under the key meanings. Short files hold notes; most sentences of near "
            "ones only sound like a demand, plain ones ask for one thing in plain words, "
            "orders have one to seven words, and typed ones are what sixty sellers would type. "
            "Messages are talk to a half, those of messages_test by four writers.",
            "in_language": ["en"],
            "data_collection": "Each file by another instance of a language model, which saw the "
            "meanings and, for orders and plain sentences, a few examples.",
            "data_collection_type": ["Others"],
            "data_annotation_protocol": [
                "The labels are the writer's. Of test_2, test_3, short_test_2, short_test_3, the "
                "files of bounds, near_test_2 and plain_test_2, readers that saw no labels gave "
                "all 1,483 again, all 440 of the typed files, of the orders 539 of 540 (the other "
                "one has the reader's label), and of the other single sentences 635 of 653. "
                "Nobody gave those of messages again."
            ],
            "data_biases": ["English alone. Instances of a language model are much alike."],
            "data_limitations": [
                "No sentence is a real seller's.",
                "Readers were chosen on files with dev in their names, looked at on test, "
                "short_test, test_2 and short_test_2. Nothing was chosen on test_3 and "
                "short_test_3, and one rule on bounds_test and short_bounds_test (equal amounts "
                "are no range), though all were read several times. Nothing was chosen on "
                "near_test, though it was read by several readers and its errors were seen, and "
                "nothing on plain_test, plain_test_2 and near_test_2, which earlier readers "
                "have read. All files were read once by the one that ships, and its judge was "
                "fitted to files with dev in their names. "
                "One word was added after a look at an order of orders_test_2, and nothing was "
                "chosen on typed_test and messages_test_2: nobody looked at their errors. "
                "Amounts and one pattern of words were mended after a look at messages_test. "
                "That those who name a bare reserve mean exactly that was seen in the labels of "
                "all files.",
                "Ten sentences of plain_dev and plain_test, two of near_test and ten of "
                "orders_test and orders_test_2 are among those that trained one of the "
                "package's readers, and three of typed_test; these are plain demands. Twelve "
                "demands of orders_test and thirteen of typed_test have amounts out of range. "
                "The writers of orders saw five orders as examples, two of "
                "them errors of the reader before.",
                "Writers of plain files saw each meaning in a few plain words: 31 of 172 sentences "
                "stand in plain_dev and plain_test but for amounts. The package's own parser took "
                "those of the three plain files, and a look confirmed them. Seven amounts of money "
                "in near_test_2 were written as shares after it was drawn, and two sentences that "
                "others had written, too, left out.",
            ],
            "data_use_cases": ["Held out, but for names with dev: score readers of briefs."],
            "data_release_maintenance_plan": "Frozen. A change of any file is a new version.",
        },
    ),
    Published(
        "tests/data",
        ("classic_parity.json",),
        tuple(parity_columns()),
        {
            "name": "daedalus_published_parity",
            "version": "1.0.0",
            "description": "What the published environment's rules give, recorded for this "
            "project: 18 mechanisms, five stages, six metrics with standard errors. The classic "
            "market is compared with it.",
            "data_collection": "300 episodes of ten steps of the published rules for each row. "
            "The program that played them is not in this repository.",
            "data_collection_type": ["Experiments"],
            "data_biases": ["One simulator and one list of mechanisms."],
            "data_limitations": ["Means of a step, without single episodes."],
            "data_use_cases": ["Checking another implementation of the published market."],
            "data_release_maintenance_plan": "Fixed: the published system does not change.",
        },
    ),
)


def main() -> None:
    """Write each description beside its data."""
    for each in PUBLISHED:
        each.path.write_text(json.dumps(each.describe(), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
