"""The figures of README, and what finds each again in the files of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from daedalus.design.designers.brief_search import LEAST_CONFIDENCE
from daedalus.evaluation.leaderboard import three_intervals
from daedalus.runs.pretrained import FOLDER
from tests.readme_longer import MEAN

DATA = Path(__file__).parents[1] / "docs" / "data"
SCORES, DRAWN = DATA / "benchmark.csv", DATA / "benchmark_2.csv"
WIDE = DATA / "best_fixed_wide.csv"
LAST = ["test_3", "short_test_3"]
"""Briefs of several demands on which nothing was chosen."""
READ = 0.02
"""How sure a reader is differs so little between processors."""
READ_DEMANDS = 2
"""Demands of which a reader may be just sure enough on another kind of processor."""
TRAINED = 0.001
"""R, and a lead in R, of a model that this machine trained: on another kind of processor the demo
had 0.001 and 0.0003 less."""

Found = Callable[[Path], str]


@dataclass(frozen=True)
class Claim:
    """A figure of README.

    Attributes:
        name: What it is.
        pattern: Regular expression whose groups, joined by commas, are the figure.
        found: Takes the folder of the run; returns the figure as README would write it.
        tolerance: How far its numbers may be from README's on another kind of processor.
        remark: Takes the folder, too; returns what the verdict should add.
    """

    name: str
    pattern: str
    found: Found
    tolerance: float = 0.0
    remark: Found = lambda _: ""


def interval(row: pd.Series[Any], name: str, digits: int) -> str:
    """Return a value and its interval as README writes them."""
    value, low, high = (f"{row[f'{name}{end}']:.{digits}f}" for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"


def mean_of(designer: str) -> Found:
    """Return what finds a designer's mean reward with its interval."""

    def found(folder: Path) -> str:
        summary = pd.read_csv(folder / "summary.csv", index_col="designer")
        return interval(summary.loc[designer], "mean", 3)

    return found


def how_sure(folder: Path) -> str:
    """Return how sure the reader is of each sentence."""
    return ", ".join(f"{each:.3f}" for each in pd.read_csv(folder / "brief.csv")["sure"])


def of_writers(briefs: Sequence[str], *columns: str) -> Found:
    """Return what finds sums over files of sellers' briefs, which the shipped reader took."""

    def found(folder: Path) -> str:
        table = pd.read_csv(folder / "sellers.csv")
        shipped = table[table["briefs"].isin(briefs) & table["reader"].eq("shipped")]
        return ", ".join(str(shipped[each].sum()) for each in columns)

    return found


def what_is_searched(folder: Path) -> str:
    """Return two fields of the mechanism that suits the sentences, digits cut off as in README."""
    found = json.loads((folder / "brief_answer.jsonl").read_text())["mechanism"]
    return f"{found['auction_type']}, {str(found['reserve_price'])[:6]}"


def seconds_of_answers(folder: Path) -> str:
    """Return whether all answers of a step, one for each episode, take a second at most."""
    phases = pd.read_csv(folder / "phases.csv", index_col="phase")["wall_seconds"]
    taken = phases["evaluation"] / pd.read_csv(folder / "steps.csv")["step"].max()
    return "within a second" if taken <= 1 else f"{taken:.1f} s"


def what_it_reads(folder: Path) -> str:
    """Return three averages of the record and four fields in force, as the model's prompt has them.

    The prompt names no field: averages begin with welfare, fairness and participation.
    """
    first = json.loads((folder / "answers.jsonl").read_text().splitlines()[0])["prompt"]
    lines = dict(line.split(": ") for line in first.splitlines())
    rules = lines["rules"].split()
    numbers = [f"{float(rules[place]):g}" for place in (1, 8)]
    return ", ".join([*lines["averages"].split()[:3], rules[0], *numbers, rules[10]])


def what_is_set(folder: Path) -> str:
    """Return four fields of the model's first mechanism."""
    first = pd.read_csv(folder / "steps.csv").query("designer == 'trained'").iloc[0]
    fields = ("auction_type", "reserve_price", "withdrawal_penalty", "coalition_policy")
    return ", ".join(str(first[each]) for each in fields)


def lead_over_search(folder: Path) -> str:
    """Return by how much the demo's model leads the search."""
    pairs = pd.read_csv(folder / "differences.csv", index_col=["designer", "reference"])
    return interval(pairs.loc[("trained", "search")], "difference", 4)


def whether_it_leads(folder: Path) -> str:
    """Return ``leads`` if all of the interval of the demo's lead lies above 0."""
    pairs = pd.read_csv(folder / "differences.csv", index_col=["designer", "reference"])
    return "leads" if pairs.loc[("trained", "search"), "difference_low"] > 0 else "does not lead"


def agreeing(folder: Path) -> str:
    """Return how many numbers agree with theory."""
    passes = pd.read_csv(folder / "summary.csv")["passes"]
    return f"{passes.sum()} of {len(passes)}"


def largest_error(folder: Path) -> str:
    """Return the largest error, as a share of the tolerance of its row."""
    rows = pd.read_csv(folder / "summary.csv").query("tolerance > 0")
    return f"largest error: {(rows['error'] / rows['tolerance']).max():.2f} of its tolerance"


def signal(reward: str, digits: int) -> Found:
    """Return what finds the signal over noise of a training reward."""

    def found(folder: Path) -> str:
        table = pd.read_csv(folder / "summary.csv", index_col="reward")
        return f"{table.loc[reward, 'signal_to_noise']:.{digits}f}"

    return found


def sold_under_a_reserve(folder: Path) -> str:
    """Return the higher reserve that language models are told, and what they then pay."""
    paid = pd.read_csv(folder / "summary.csv", index_col="designer")["revenue_model"]
    designers = yaml.safe_load((folder / "config.yaml").read_text())["evaluation"]["baselines"]
    names = ["first_price_reserve", "second_price_reserve"]
    told = max(designers[each]["mechanism"]["reserve_price"] for each in names)
    most = paid[names].max()
    return f"{told:.2f}, " + (f"{most:.3f}" if most else "nothing")


def parameters(model: Path) -> str:
    """Return the millions of parameters of a model, by the head of its file."""
    with (model / "model.safetensors").open("rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    sizes = (prod(each["shape"]) for name, each in head.items() if name != "__metadata__")
    return f"{sum(sizes) / 1e6:.2f}"


def score(
    designer: str,
    other: str = "",
    form: str = "{value:.2f}",
    scores: Path = SCORES,
    number: str = "normalised",
) -> Found:
    """Return what finds a designer's mean of the stored scores, or its lead over another one.

    The number is ``mean`` where R itself counts.
    """

    def found(folder: Path) -> str:
        given = pd.read_csv(scores)
        given = given.assign(normalised=given[number])
        table = three_intervals(given, [other] if other else [], 0.95)
        names = {"designer": designer} | ({"number": f"mean_over_{other}"} if other else {})
        for column, name in names.items():
            table = table[table[column] == name]
        return form.format(**table.iloc[0]).replace("-", "\N{MINUS SIGN}")

    return found


def leads_in_reward(folder: Path) -> str:
    """Return by how much R of the stored model is above best fixed's, in both benchmarks."""
    files = (SCORES, DRAWN)
    leads = [score("trained", "best_fixed", _THREE, each, "mean")(folder) for each in files]
    return ", ".join(leads)


def leads_by_population() -> pd.Series[Any]:
    """Return by how much the stored model leads the best fixed mechanism, mean over seeds."""
    wide = pd.read_csv(SCORES).pivot_table("normalised", "population", "designer")
    return wide["trained"] - wide["best_fixed"]


def scores_with_wide() -> pd.DataFrame:
    """Return the stored scores, and those of best fixed of the wider world in both benchmarks."""
    return pd.concat([pd.read_csv(each) for each in (SCORES, DRAWN, WIDE)])


def row_over_wide(scores: Path, number: str = "normalised") -> pd.Series[Any]:
    """Return the lead over best fixed of the wider world in one of the lists."""
    table = scores_with_wide()
    table = table[table["population"].isin(pd.read_csv(scores)["population"])]
    leads = three_intervals(table.assign(normalised=table[number]), ["best_fixed_wide"], 0.95)
    return leads.set_index(["designer", "number"]).loc[("trained", "mean_over_best_fixed_wide")]


def lead_over_wide(_: Path) -> str:
    """Return this lead in the list written by hand."""
    return _THREE.format(**row_over_wide(SCORES)).replace("-", "\N{MINUS SIGN}")


def leads_over_wide_in_reward(_: Path) -> str:
    """Return this lead in R in both lists, and whether an interval leaves 0 out."""
    rows = [row_over_wide(each, "mean") for each in (SCORES, DRAWN)]
    shown = any(each["value_low"] * each["value_high"] > 0 for each in rows)
    leads = [f"{each['value']:.3f}" for each in rows]
    return ", ".join([*leads, "shown" if shown else "neither shown"])


def wide_in_hand_written(_: Path) -> str:
    """Return the mean of best fixed of the wider world in the list written by hand."""
    wide = pd.read_csv(WIDE)
    own = wide[wide["population"].isin(pd.read_csv(SCORES)["population"])]
    return f"{own['normalised'].mean():.2f}"


def of_first_seed(_: Path) -> str:
    """Return the mean of the stored model of seed 0."""
    rows = pd.read_csv(SCORES).query("designer == 'trained' and seed == 0")
    return f"{rows['normalised'].mean():.2f}"


def where_best_fixed_is_near_the_best(_: Path) -> str:
    """Return in how many drawn populations best fixed has more than 0.9, and this limit."""
    rows = pd.read_csv(DRAWN).query("designer == 'best_fixed'")
    many = (rows.groupby("population")["normalised"].mean() > _NEAR).sum()
    return f"{_WORDS.get(many, many)}, {_NEAR}"


def worst_losses(_: Path) -> str:
    """Return the model's score and its rival's in ``emigrants``, and its loss in ``drawn_04``."""
    means = scores_with_wide().pivot_table("normalised", "population", "designer")
    emigrants, drawn = means.loc["emigrants"], means.loc["drawn_04"]
    lost = drawn["best_fixed"] - drawn["trained"]
    return f"{emigrants['trained']:.2f}, {emigrants['best_fixed_wide']:.2f}, {lost:.2f}"


def part_of_four(_: Path) -> str:
    """Return what four populations add to the mean lead, and the mean lead."""
    leads = leads_by_population()
    four = leads[["emigrants", "deserters", "two_rings", "narrow"]].sum() / len(leads)
    return f"{four:.3f}, {leads.mean():.3f}"


def losses(_: Path) -> str:
    """Return by how much the stored model stays below in two, smaller first, and in a third."""
    lost = -leads_by_population()[["few_q", "academy", "leavers_ring"]]
    smaller, larger = sorted(lost[:2])
    return ", ".join(f"{each:.2f}" for each in (smaller, larger, lost["leavers_ring"]))


def in_emigrants(_: Path) -> str:
    """Return the lowest score in ``emigrants``, the third lowest and the fourth lowest."""
    rows = pd.read_csv(SCORES).query("designer == 'trained' and population == 'emigrants'")
    lowest = sorted(rows["normalised"])
    return ", ".join(f"{lowest[place]:.2f}" for place in (0, 2, 3))


_LOST = r"is (0\.\d+) to (0\.\d+) below[\s\S]+?and\s+(0\.\d+) in `leavers_ring`"
_NEAR, _WORDS = 0.9, {7: "seven", 8: "eight", 9: "nine"}
_SURE = r"(0\.\d+)$\n"
_SET = (
    r"auction_type +\w+ +(\w+)\s+reserve_price +\S+ +(\S+)\s+withdrawal_penalty +\S+ +(\S+)\s+"
    r"coalition_policy +\w+ +(\w+)"
)
_READS = (
    r"welfare:(0\.\d+),fairness:(0\.\d+),participation:(0\.\d+)[\s\S]+?auction_type +(\w+)[\s\S]+?"
    r"reserve_price +(\S+)[\s\S]+?withdrawal_penalty +(\S+)[\s\S]+?coalition_policy +(\w+)"
)
_WORST = (
    r"In `emigrants` it has\s+(0\.\d+),[\s\S]+?has\s+(0\.\d+)\.[\s\S]+?"
    r"it is\s+(0\.\d+) below"
)
_LEAD = "{value:.3f} [{value_low:.2f}, {value_high:.2f}]"
_THREE = "{value:.3f} [{value_low:.3f}, {value_high:.3f}]"
_ADDS = "{value:.3f} ± {half_width_over_seeds:.3f}"
_OTHER = "{half_width_over_seeds:.3f}, {median:.3f}, {wilcoxon_p:.3f}"
_NEW_MARKETS, _FORK = "new stage-0 market each", "forked state, {} shared"

CLAIMS: dict[str, list[Claim]] = {
    "brief": [
        Claim(
            "sentences: how sure",
            rf"revenue +{_SURE}.* {_SURE}.* {_SURE}.* {_SURE}",
            how_sure,
            READ,
        ),
        Claim(
            "sentences: what is set",
            r'"auction_type":"(\w+)","reserve_price":(0\.\d{4})',
            what_is_searched,
        ),
        Claim(
            "sentences: how sure a part must be",
            r"less\s+than\s+(0\.\d+)\s+sure\s+is\s+not\s+used",
            lambda _: f"{LEAST_CONFIDENCE}",
        ),
    ],
    "reading": [
        Claim(
            "demands of two new writers",
            r"put\s+(\d+)\s+demands\s+into\s+(\d+)\s+briefs",
            of_writers(LAST, "demands", "number"),
        ),
        Claim(
            "demands read, wrong rules, and briefs that lose one",
            r"read\s+(\d+)\s+of\s+them,\s+set\s+(\d+)\s+wrong\s+rules,\s+and\s+in\s+(\d+)\s+briefs",
            of_writers(LAST, "right", "wrong", "lost"),
            READ_DEMANDS,
        ),
        Claim(
            "sentences that sellers type, demands, read, wrong rules, and lost",
            r"typed\s+(\d+)\s+single\s+sentences\s+with\s+(\d+)[\s\S]+?"
            r"it\s+read\s+(\d+),\s+set\s+(\d+)\s+wrong\s+rules,\s+and\s+in\s+(\d+)\s+lost",
            of_writers(["typed_test"], "number", "demands", "right", "wrong", "lost"),
            READ_DEMANDS,
        ),
        Claim(
            "sentences that only sound like a demand",
            r"wrote\s+(\d+)\s+sentences\s+that\s+only\s+sound[\s\S]+?it\s+took\s+(\d+)\s+for\s+one",
            of_writers(["near_test", "near_test_2"], "idle", "mistaken"),
            READ_DEMANDS,
        ),
        Claim(
            "short orders that ask for nothing that it knows",
            r"two\s+others'\s+(\d+)\s+short\s+orders[\s\S]+?it\s+took\s+(\d+)\s+for\s+one",
            of_writers(["orders_test", "orders_test_2"], "idle", "mistaken"),
            READ_DEMANDS,
        ),
    ],
    "ask": [
        Claim(
            "ask: millions of parameters",
            r"trains\s+a\s+model\s+of\s+(0\.\d+)\s+million\s+random\s+parameters\s+on\s+such\s+episodes",
            lambda _: parameters(FOLDER),
        ),
        Claim("ask: what the model reads", _READS, what_it_reads),
        Claim("ask: what the model sets", _SET, what_is_set),
        Claim("ask: random", rf"^  random +{MEAN}", mean_of("random")),
        Claim("ask: informed_greedy", rf"^  informed_greedy +{MEAN}", mean_of("informed_greedy")),
        Claim("ask: best_own", rf"^  best_own +{MEAN}", mean_of("best_own")),
        Claim("ask: trained", rf"^  trained +{MEAN}", mean_of("trained")),
        Claim("ask: an answer", r"An answer (within a second)", seconds_of_answers),
    ],
    "signal": [
        Claim("signal to noise of forks", r"it is (\d+)\.", signal(_FORK.format(64), 0)),
        Claim(
            "signal to noise of forks, one play each",
            r"over noise is\s+\[(\d\.\d)\]",
            signal(_FORK.format(1), 1),
        ),
        Claim(
            "signal to noise of new markets",
            r"bidders, (0\.\d+); one new market",
            signal(_NEW_MARKETS, 2),
        ),
        Claim(
            "signal to noise of new markets, same bidders",
            r"for each answer has (\d\.\d), and",
            signal("new market each", 1),
        ),
        Claim(
            "signal to noise of one new market",
            r"for all answers has (\d\.\d)\.",
            signal("one new market for a group", 1),
        ),
    ],
    "theory": [
        Claim("theory", r"(\d+ of \d+) numbers", agreeing, remark=largest_error),
    ],
    "bidders": [
        Claim(
            "SmolLM2's bids under a reserve",
            r"Told a reserve of\s+(0\.\d+), it always bids less, so (nothing) is sold",
            sold_under_a_reserve,
        ),
    ],
    "scores": [
        Claim("stored scores: model", r"The model has (0\.\d+) on average", score("trained")),
        Claim(
            "stored scores: best fixed", r"its training population (0\.\d+)", score("best_fixed")
        ),
        Claim(
            "stored scores: lead",
            r"The lead is\s+(0\.\d+ \[.*?\])",
            score("trained", "best_fixed", _LEAD),
        ),
        Claim(
            "stored scores: lead in drawn populations",
            r"no lead is shown:\s+(0\.\d+ \[.*?\])",
            score("trained", "best_fixed", _THREE, DRAWN),
        ),
        Claim(
            "stored scores: both leads in R",
            r"two leads are\s+(0\.\d+ \[.*?\])\s+and\s+(0\.\d+ \[.*?\])",
            leads_in_reward,
        ),
        Claim(
            "stored scores: lead over best fixed of the wider world",
            r"searched-where-sft-practises\):\s+(0\.\d+ \[.*?\])",
            lead_over_wide,
        ),
        Claim(
            "stored scores: both leads over it in R",
            r"wider\s+world (0\.\d+) and (0\.\d+), (neither shown)",
            leads_over_wide_in_reward,
        ),
        Claim(
            "stored scores: best fixed of the wider world",
            r"practised, too, has (0\.\d+)\.",
            wide_in_hand_written,
        ),
        Claim(
            "stored scores: best fixed in drawn populations",
            r"In (\w+) of them best fixed has more than (0\.\d+)",
            where_best_fixed_is_near_the_best,
        ),
        Claim(
            "stored scores: prompts of values alone, at one seed",
            r"as here, the small model has (0\.\d+)\.",
            of_first_seed,
        ),
        Claim(
            "stored scores: worst losses",
            _WORST,
            worst_losses,
        ),
        Claim("stored scores: trees", r"trees, which have (0\.\d+)", score("distilled")),
        Claim(
            "stored scores: GRPO adds",
            r"GRPO adds (0\.\d+ ± 0\.\d+)",
            score("trained", "sft", _ADDS),
        ),
        Claim(
            "stored scores: lead, other numbers",
            r"\(± (0\.\d+) over seeds alone\)[\s\S]+?it is (0\.\d+)[\s\S]+?p = (0\.\d+)",
            score("trained", "best_fixed", _OTHER),
        ),
        Claim("stored scores: four of 14", r"carry (0\.\d+) of the (0\.\d+)", part_of_four),
        Claim("stored scores: losses", _LOST, losses),
        Claim(
            "stored scores: emigrants",
            r"score (0\.\d+) to (0\.\d+) there, the others (0\.\d+)",
            in_emigrants,
        ),
    ],
    "demo": [
        Claim(
            "demo: millions of parameters",
            r"trains a\s+model of (0\.\d+) million parameters,\s+random at first:",
            lambda folder: parameters(folder / "model"),
        ),
        Claim("demo: random", rf"^\| random\b.*\| {MEAN}", mean_of("random")),
        Claim(
            "demo: informed greedy",
            rf"^\| informed greedy\b.*\| {MEAN}",
            mean_of("informed_greedy"),
        ),
        Claim("demo: search", rf"^\| search\b.*\| {MEAN}", mean_of("search")),
        Claim("demo: trained", rf"^\| \*\*trained\b.*\| {MEAN}", mean_of("trained"), TRAINED),
        Claim(
            "demo: lead over search",
            r"leads\s+the\s+search\s+by\s+(0\.\d+ \[.*?\])",
            lead_over_search,
            TRAINED,
        ),
        Claim("demo: whether it leads", r"demo\s+(leads)\s+the\s+search", whether_it_leads),
    ],
}
"""The claims by the part of ``tests.reviewer`` that finds them."""
