"""The documents hold: commands compose, links lead somewhere, and the tutorial's examples work."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distributions, requires
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import OmegaConf

import daedalus.design.designers
from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.build import build_all
from daedalus.design.designers.fixed import FixedSettings
from daedalus.design.env import DesignEnv
from daedalus.design.rewards import terms
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.leaderboard import (
    in_the_worst,
    in_the_worst_fifth,
    score_array,
    three_intervals,
)
from daedalus.evaluation.readable import as_table
from daedalus.evaluation.statistics import summarise, t_interval
from daedalus.lab.studies.coverage import overview
from daedalus.launch.config.compose import compose_config
from daedalus.launch.config.paths import CONF, listed_populations, option_names
from daedalus.launch.config.task_options import FIRST_OPTIONS
from daedalus.launch.config.task_parts import Task
from daedalus.launch.from_config import make_context, make_env
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from tests.launch.config.composing import leave_run
from tests.populations import population

ROOT = Path(__file__).parents[1]
README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "tutorial.md"
DOCUMENTS = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS.append(ROOT / "paper" / "paper.md")
SPACE = ROOT / "deploy" / "README.md"
HEADERS = sorted((ROOT / "conf").rglob("*.yaml"))
LAUNCHERS = sorted((ROOT / "deploy" / "accelerate").glob("*.yaml"))
MAKEFILE = ROOT / "Makefile"
PLACEHOLDERS = {"$(RUN)": "python", "$(SEED)": "0", "$(HERE)": "RUN", "$$(mktemp -d)": "RUN"}
PLACEHOLDERS |= {"$(GPU_CHECK)": "RUN", "$(TOKENIZER)": "FOLDER", "$(ARGS)": ""}
PLACEHOLDERS |= {"$(ORACLE)": "RUN", "$(NOTES)/demo": "RUN", "$(NOTES)": "RUN"}
"""What the Makefile's variables stand for."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DURATION = re.compile(r"\s+\([^()]*\)$")


def blocks(path: Path, language: str) -> list[str]:
    """Return the contents of a document's fenced blocks in a language."""
    return [text for name, text in FENCE.findall(path.read_text()) if name == language]


def lines_of_code(path: Path) -> Iterator[str]:
    """Yield lines that show code: of fences and back-ticks, of comments, or of the Makefile."""
    text = path.read_text()
    if path.suffix == ".yaml":
        text = "\n".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
        yield from (DURATION.sub("", line) for line in joined(text))
    elif path == MAKEFILE:
        for variable, value in PLACEHOLDERS.items():
            text = text.replace(variable, value)
        yield from (line.strip() for line in joined(text))
    else:
        for _, block in FENCE.findall(text):
            yield from joined(block)
        spans = re.findall(r"`([^`]+)`", FENCE.sub("", text))
        yield from (" ".join(span.split()) for span in spans)


def joined(text: str) -> list[str]:
    """Return lines, those that a backslash continues in one."""
    return text.replace("\\\n", " ").splitlines()


def commands() -> dict[str, list[str]]:
    """Return the words of each ``python run.py`` line, by the first place where it stands.

    A line in which ``accelerate launch`` starts run.py counts as well.
    """
    found: dict[str, list[str]] = {}
    for path in [*DOCUMENTS, SPACE, *HEADERS, *LAUNCHERS, MAKEFILE]:
        for line in lines_of_code(path):
            if line.startswith(("python run.py ", "accelerate launch ")):
                words = shlex.split(line, comments=True)
                words = ["python", *words[words.index("run.py") :]]
                if words not in found.values():
                    found[f"{path.relative_to(ROOT)}: {shlex.join(words)}"] = words
    return found


COMMANDS = commands()


def jobs(words: list[str]) -> list[list[str]]:
    """Return overrides that, together, take each value of a sweep once; one job without ``-m``.

    Of a sweep over seeds it takes the first, and of another range the first and the last.
    """
    words = [word for word in words[2:] if word not in ("--cfg", "job")]
    meant = {"+experiment=NAME": "+experiment=smoke", "ask": "+experiment=ask"}
    words = [meant.get(word, word) for word in words]
    if "-m" not in words:
        return [words]
    parsed = OverridesParser.create().parse_overrides([word for word in words if word != "-m"])
    values = [swept(each) for each in parsed]
    longest = max(len(each) for each in values)
    return [[each[job % len(each)] for each in values] for job in range(longest)]


def swept(override: Override) -> list[str]:
    """Return an override with each of its values."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    name = override.get_key_element()
    values = [f"{name}={value}" for value in override.sweep_string_iterator()]
    if name == "seed":
        return values[:1]
    return [values[0], values[-1]] if override.is_range_sweep() else values


def shown_files(language: str) -> dict[str, str]:
    """Return the files that the tutorial shows in a language, by the path in their first line."""
    texts = [text for text in blocks(TUTORIAL, language) if re.match(r"# [\w/]+\.\w+\n", text)]
    return {text.splitlines()[0].removeprefix("# "): text for text in texts}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``conf/``, the tutorial's files, and runs named as in the documents."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "conf", folder / "conf")
    for path, text in (shown_files("yaml") | shown_files("python")).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    leave_run(folder / "RUN", seed=0)
    leave_run(folder / "RUN" / "training", seed=0)
    for recipe, seed in itertools.product(("grpo_mixture", "grpo_world", "grpo_optimum"), range(7)):
        leave_run(folder / f"outputs/sweeps/{recipe}/DATE_TIME/{seed}", seed)
    return folder


@pytest.fixture
def extended(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in ``place``, with what the tutorial adds to the code."""
    monkeypatch.chdir(place)
    folders = [
        *daedalus.design.designers.__path__,
        str(place / "daedalus" / "design" / "designers"),
    ]
    monkeypatch.setattr(daedalus.design.designers, "__path__", folders)
    (term,) = [text for text in blocks(TUTORIAL, "python") if "MARKET_TERMS[" in text]
    monkeypatch.setitem(terms.MARKET_TERMS, "revenue_share", terms.competition)  # until the end
    exec(term, dict(vars(terms)))
    return place


def composed(conf: Path, overrides: list[str]) -> Task:
    """Compose overrides, also with the options that a folder has."""
    return compose_config(f"hydra.searchpath=[file://{conf}]", *overrides)


def test_the_documents_show_commands() -> None:
    assert len(COMMANDS) > 40
    sources = {where.partition(":")[0] for where in COMMANDS}
    assert {"docs/tutorial.md", "docs/results.md", "Makefile"} <= sources


def test_the_example_of_a_bidder_plays(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks(ROOT / "docs" / "market.md", "python")
    assert len(list(filter(None, example.splitlines()))) <= 15
    exec(example, {})
    assert 0.0 < float(capsys.readouterr().out) < 1.0


def test_launches_name_files_that_exist() -> None:
    named = re.findall(r"--config_file (\S+)", TUTORIAL.read_text())
    for path in LAUNCHERS:
        (line,) = [each for each in lines_of_code(path) if each.startswith("accelerate launch ")]
        assert f"--config_file {path.relative_to(ROOT)}" in line
        assert ["python", *line[line.index("run.py") :].split()] in COMMANDS.values()
    assert named and all((ROOT / each).exists() for each in named)


def each_command() -> Iterator[Any]:
    """Yield every command; those outside README run only with the slow tests."""
    for where, words in COMMANDS.items():
        quick = where.startswith("README.md")
        yield pytest.param(where, words, id=where, marks=[] if quick else pytest.mark.slow)


@pytest.mark.parametrize(("where", "words"), each_command())
def test_every_command_composes(where: str, words: list[str], extended: Path) -> None:
    conf = extended / "conf" if where.startswith("docs/tutorial.md") else CONF
    if "--help" not in words:
        for overrides in jobs(words):
            composed(conf, overrides)


def test_the_readme_fits_a_screen_in_width() -> None:
    wide = [line for line in README.read_text().splitlines() if len(line) > 120]
    assert wide == []


def test_the_tutorial_s_designer_works(extended: Path) -> None:
    settings = composed(extended / "conf", ["+experiment=boxplot", "designer=cautious"]).designer
    env = DesignEnv.of(MarketSettings(), population(3))
    designer = settings.build(DesignerContext(env=env, seed=0))
    observations = env.reset(np.arange(4, dtype=np.uint64)).observe()
    first = designer.propose(observations, np.random.default_rng(0))
    assert len(first) == 4
    raised = first.reserve_price - observations.mechanisms.reserve_price
    stayed = observations.proxy("dropout_rate") == 0
    assert np.allclose(raised, 0.02 * stayed)


def test_the_tutorial_s_reward_term_works(extended: Path) -> None:
    env = DesignEnv.of(MarketSettings(), population(3))
    episodes = env.reset(np.arange(4, dtype=np.uint64))
    played = episodes.step(Mechanisms.repeat(Mechanism(), 4))
    earned = terms.mean_over_rounds("revenue_share", played.outcome)
    assert earned.shape == (4,) and ((earned > 0) & (earned <= 1)).all()


def test_the_tutorial_s_names_are_those_of_its_files() -> None:
    files = shown_files("yaml")
    assert len(files) == 3
    for path, text in files.items():
        assert f"\nname: {Path(path).stem}\n" in text


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE.read_text(), re.MULTILINE))
    for path in DOCUMENTS:
        for line in lines_of_code(path):
            named = re.match(r"make ([a-z-]+)", line)
            assert named is None or named[1] in targets, f"{path.name}: {line}"


def demo_rows(path: Path) -> dict[str, str]:
    """Return the mean R with its interval of each designer of the demo, as a document has it."""
    name = r"^\| \**(random|informed greedy|trained|search)\b(?!\** less)[^|]*"
    row = re.compile(name + r"\| \**(0\.\d{3} \[[^]]+\])", re.MULTILINE)
    return {name.replace(" ", "_"): mean for name, mean in row.findall(path.read_text())}


def printed_means(config: Task, designers: dict[str, Any]) -> dict[str, str]:
    """Return what a run of a configuration prints for these designers."""
    env, settings = make_env(config), config.evaluation
    built = build_all(designers, make_context(config, env))
    steps = compare(env, built, settings.episodes, config.seed)
    summary = summarise(episode_means(steps), settings, config.seed)
    shown = as_table(summary[["designer", "mean", "mean_low", "mean_high"]], "")
    return dict(zip(*(column.cells for column in shown.columns), strict=True))


@pytest.mark.slow
def test_the_readme_s_table_is_what_the_demo_prints_for_its_baselines() -> None:
    recipe = MAKEFILE.read_text().split("\ndemo:")[1].splitlines()[1]
    command = recipe.strip().replace("$(RUN)", "python")
    assert f"`{command}`" in README.read_text()
    config = composed(ROOT / "conf", command.split()[2:])
    shown = demo_rows(README)
    assert list(shown) == ["random", "informed_greedy", "search", "trained"]
    # What +experiment=search writes for stage3; to search takes 20 s, and golden numbers watch it.
    found = json.loads((ROOT / "tests/data/search_stage3.json").read_text())
    known = {"search": FixedSettings(name="search", mechanism=Mechanism(**found))}
    assert printed_means(config, config.evaluation.baselines | known).items() <= shown.items()
    assert demo_rows(ROOT / "docs" / "results.md") == shown


FACTS = {
    "the lead over best fixed": r"(0\.\d+ \[0\.\d+, 0\.\d+\])\*{0,2} in mean",
    "what GRPO adds": r"GRPO adds (0\.\d+ ± 0\.\d+)",
    "four populations' part": r"(0\.\d+ of the 0\.\d+)",
    "signal over noise": r"ratio is (\d+)",
    "theory": r"(\d+ of \d+) numbers",
    "parity": r"(\d+) cells",
    "the least effect of a field": r"moves R by at least (0\.\d+)",
    "parameters of the embedded model": r"(\d\.\d+) million parameters",
    "minutes of make designer": r"make designer.*?(\d+) minutes",
    "minutes of the demo": r"(?:grpo_stage3`,|train for real, for) (\d+) minutes",
    "seconds of compiling": r"compiles.*?for (.*?) seconds",
    "seconds of lessons": r"(\d,\d+) s\b",
}
"""Numbers that several documents tell, as patterns that find them."""


@pytest.mark.parametrize("pattern", FACTS.values(), ids=FACTS)
def test_a_number_is_the_same_in_every_document(pattern: str) -> None:
    told = {path: re.findall(pattern, path.read_text()) for path in [*DOCUMENTS, SPACE]}
    told = {path: numbers for path, numbers in told.items() if numbers}
    assert told and len({each for numbers in told.values() for each in numbers}) == 1, told


def marked(path: Path, name: str) -> list[list[str]]:
    """Return the cells of the table between a document's marks, without its head."""
    (text,) = re.findall(rf"<!-- {name} -->\n(.*?)\n<!-- end of {name} -->", path.read_text(), re.S)
    return [
        [cell.strip(" *") for cell in row.strip("|").split("|")] for row in text.splitlines()[2:]
    ]


def with_what_they_need(names: list[str]) -> set[str]:
    """Return distributions with all that they need, directly or not, without extras."""
    needed: set[str] = set()
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        if name not in needed and any(distributions(name=name)):
            needed.add(name)
            given = [each for each in requires(name) or [] if "extra ==" not in each]
            names += [each for line in given for each in re.findall(r"^[\w.-]+", line)]
    return needed


MARKET_ALONE = """
import sys
from importlib.metadata import packages_distributions

class Refused:
    def find_spec(self, name, path=None, target=None):
        owners = owned.get(name.partition(".")[0], ())
        if owners and not {each.lower().replace("_", "-") for each in owners} & {*sys.argv[1:]}:
            raise ModuleNotFoundError(f"{name} is not named", name=name)

owned = packages_distributions()
sys.meta_path.insert(0, Refused())
import daedalus
market = daedalus.make("stage3")
market.reset(seed=0)
market.step(daedalus.Mechanism())
import gymnasium
import daedalus.doors.gym
for name, chosen in (("Market-v0", {"population": "world"}), ("Briefs-v0", {"briefs": "same"})):
    market = gymnasium.make(f"daedalus/{name}", **chosen)
    market.reset(seed=0)
    print(market.step(market.action_space.sample())[1])
"""
"""Plays with the distributions that it is given, and with no other."""


@pytest.mark.slow
def test_the_market_alone_needs_the_libraries_that_the_page_names() -> None:
    page = (ROOT / "docs" / "plugs.md").read_text()
    (named,) = re.findall(r"^pip install (numpy .*)$", page, re.MULTILINE)
    given = [*with_what_they_need(named.split()), "daedalus"]
    command = [sys.executable, "-c", MARKET_ALONE, *given]
    played = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert played.returncode == 0, played.stderr
    assert len(played.stdout.split()) == 2


def test_the_speed_of_gymnasium_is_that_of_the_table() -> None:
    rows = pd.read_csv(ROOT / "docs" / "data" / "speed.csv").query("part == 'gymnasium'")
    rounds = rows.episodes * rows["rounds"] / rows.milliseconds * 1000
    single, many = rounds / MarketSettings().rounds_per_step
    page = (ROOT / "docs" / "plugs.md").read_text().replace("\n", " ")
    told = re.findall(r"take ([\d,]+) steps a second of one core, a single one ([\d,]+)", page)
    ((quick, slow),) = ([int(each.replace(",", "")) for each in pair] for pair in told)
    assert quick == pytest.approx(many, rel=0.02) and slow == pytest.approx(single, rel=0.02)


def written(number: float, digits: int) -> str:
    """Return a number as the documents write it."""
    return f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "\N{MINUS SIGN}")


_RIVALS = ("best_fixed", "best_fixed_wide", "trained")


def bracketed(row: pd.Series[Any], digits: int) -> str:
    """Return the value of a row of ``three_intervals`` with its interval."""
    value, low, high = (written(row[f"value{end}"], digits) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"


def test_best_fixed_of_the_wider_world_has_the_intervals_of_its_scores() -> None:
    wide = pd.read_csv(ROOT / "docs" / "data" / "best_fixed_wide.csv")
    rows = marked(ROOT / "docs" / "results.md", "wide")
    for file, (_, *cells) in zip(("benchmark", "benchmark_2"), rows, strict=True):
        scores = pd.read_csv(ROOT / "docs" / "data" / f"{file}.csv")
        own = wide[wide["population"].isin(scores["population"])]
        assert [*map(len, (wide, own))] == [2 * 7 * 14, 7 * 14]
        sure = three_intervals(pd.concat([scores, own]), ["best_fixed", "best_fixed_wide"], 0.95)
        means = sure[sure["number"] == "mean"].set_index("designer")
        leads = sure.set_index(["designer", "number"])
        told = [bracketed(means.loc[name], 2) for name in _RIVALS]
        told.append(bracketed(leads.loc[("best_fixed_wide", "mean_over_best_fixed")], 3))
        for name in ("trained", "distilled"):
            told.append(bracketed(leads.loc[(name, "mean_over_best_fixed_wide")], 3))
        assert cells == told, file


@pytest.mark.parametrize(("file", "digits"), [("benchmark", 2), ("benchmark_2", 3)])
def test_documents_tell_the_lead_over_best_fixed_that_the_scores_have(
    file: str, digits: int
) -> None:
    scores = pd.read_csv(ROOT / "docs" / "data" / f"{file}.csv")
    rewards = scores.assign(normalised=scores["mean"])
    leads = [
        three_intervals(table, ["best_fixed"], 0.95).query("designer == 'trained'")
        for table in (scores, rewards)
    ]
    lead, in_reward = (each[each["number"] == "mean_over_best_fixed"].iloc[0] for each in leads)
    lowest, highest = (written(lead[f"value_{end}"], digits) for end in ("low", "high"))
    for name in ("README.md", "docs/results.md", "paper/paper.md"):
        text = " ".join((ROOT / name).read_text().split())
        assert bracketed(in_reward, 3) in text, name
        told = bracketed(lead, 3) if name == "paper/paper.md" else f"[{lowest}, {highest}]"
        assert told in text, name


@pytest.mark.parametrize(("file", "table"), [("benchmark", "leads"), ("benchmark_2", "leads_2")])
def test_the_leads_of_the_benchmark_have_the_intervals_of_their_scores(
    file: str, table: str
) -> None:
    scores = pd.read_csv(ROOT / "docs" / "data" / f"{file}.csv")
    sure = three_intervals(scores, ["best_fixed", "distilled", "sft"], 0.95)
    sure = sure.set_index(["designer", "number"])
    for pair, both, *cells in marked(ROOT / "docs" / "results.md", table):
        designer, other = (each.strip(" *").replace(" ", "_") for each in pair.split(" less "))
        row = sure.loc[(designer, f"mean_over_{other}")]
        halves = [row[f"half_width_over_{of}"] for of in ("seeds", "populations")]
        assert both == bracketed(row, 3), pair
        told = [f"± {written(half, 3)}" for half in halves]
        assert cells == [*told, written(row["median"], 3), written(row["wilcoxon_p"], 3)], pair


def test_the_lead_is_told_with_its_interval_over_seeds_and_populations() -> None:
    scores = pd.read_csv(ROOT / "docs" / "data" / "benchmark.csv")
    sure = three_intervals(scores, ["best_fixed"], 0.95).set_index(["designer", "number"])
    row = sure.loc[("trained", "mean_over_best_fixed")]
    ends = f"{written(row['value_low'], 2)}, {written(row['value_high'], 2)}"
    lead = written(row["value"], 3)
    told = {path.name: re.findall(rf"{lead} \[(.*?)\]", path.read_text()) for path in DOCUMENTS}
    assert {"results.md", "blog.md"} <= {name for name, found in told.items() if found}
    assert {each for found in told.values() for each in found} <= {ends, bracketed(row, 3)[7:-1]}


@pytest.mark.parametrize("table", ["benchmark", "benchmark_2"])
def test_the_benchmark_s_table_is_that_of_its_scores(table: str) -> None:
    scores = pd.read_csv(ROOT / "docs" / "data" / f"{table}.csv")
    sure = three_intervals(scores, [], 0.95).set_index("designer")
    for name, mean, *cells in marked(ROOT / "docs" / "results.md", table):
        designer = name.partition(":")[0].replace(" ", "_")
        array, row = score_array(scores, designer), sure.loc[designer]
        assert mean == bracketed(row, 2), name
        for cell, values in zip(
            cells, (in_the_worst_fifth(array), in_the_worst(array)), strict=True
        ):
            low, high = t_interval(values, 0.95)
            assert cell == f"{values.mean():.2f} ± {(high - low) / 2:.2f}".replace(
                "-", "\N{MINUS SIGN}"
            ), name


def test_the_scores_of_the_drawn_populations_are_means_over_seeds() -> None:
    scores = pd.read_csv(ROOT / "docs" / "data" / "benchmark_2.csv")
    means = scores.groupby(["population", "designer"])["normalised"].mean().unstack()
    shown = marked(ROOT / "docs" / "results.md", "populations_2")
    assert [row[0].strip("`") for row in shown] == [*means.index]
    designers = ["informed_greedy", "best_fixed", "trained", "distilled", "best_own"]
    for (name, *cells), (_, row) in zip(shown, means[designers].iterrows(), strict=True):
        assert cells == [written(each, 2) for each in row], name


def test_the_table_of_coverage_is_that_of_its_numbers() -> None:
    shown = overview(pd.read_csv(ROOT / "docs" / "data" / "coverage.csv"))
    assert marked(ROOT / "docs" / "results.md", "coverage") == shown.to_numpy().tolist()


def test_every_section_of_the_results_has_a_record() -> None:
    records = pd.read_csv(ROOT / "docs" / "data" / "records.csv")
    text = "".join((ROOT / "docs" / f"{name}.md").read_text() for name in ("results", "service"))
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert set(records["section"]) <= set(sections)
    told = re.findall(r"^## (.*)$", (ROOT / "docs" / "results.md").read_text(), re.MULTILINE)
    assert set(told) <= set(records["section"])


def settings_of(name: str) -> Any:
    """Return what describes a population, merged into those that it starts from."""
    path = ROOT / "conf" / "population" / f"{name}.yaml"
    file = OmegaConf.load(path) if path.exists() else listed_populations()[name]
    bases = [settings_of(each) for each in file.get("defaults", []) if each != "_self_"]
    return OmegaConf.merge(*bases, file)


def bounds(cell: str) -> list[int]:
    """Return the least and the greatest number of a cell."""
    numbers = [int(each) for each in re.findall(r"\d+", cell)]
    return [numbers[0], numbers[-1]]


@pytest.mark.slow
def test_the_table_of_populations_has_them_all() -> None:
    shown = {name.strip(" `"): row for name, *row in marked(ROOT / "docs/market.md", "populations")}
    assert sorted(shown) == option_names("population")
    for name, (listed, *sizes, _) in shown.items():
        part = settings_of(name).strategic
        for key, cell in zip(("bidders", "units"), sizes, strict=True):
            assert bounds(cell) == list(part.get("ranges", {}).get(key, [part[key]] * 2)), name
        stem = "stages" if name.startswith("stage") else listed.replace(" ", "_")
        text = (ROOT / f"conf/populations/{stem}.yaml").read_text() if stem else ""
        assert not stem or re.search(rf"@{name}:|^{name}:", text, re.MULTILINE)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    return {slug(text) for text in re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)}


@pytest.mark.parametrize("path", [*DOCUMENTS, SPACE], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_exist(path: Path) -> None:
    start = ROOT if path == SPACE else path.parent  # a Space has it in the place of the README
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", path.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = start / name if name else path
        assert target.exists(), f"{link}: no such file"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_headings_that_the_page_leads_to_exist() -> None:
    page = (ROOT / "daedalus" / "service" / "page" / "static" / "index.html").read_text()
    links = re.findall(r'href="/read/([\w.]+)(?:#([\w-]+))?"', page)
    assert ("service.md", "help-and-faults") in links
    for name, anchor in links:
        assert not anchor or anchor in anchors(ROOT / "docs" / name), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    folders = "daedalus|experiments|conf|tests|docs|analysis|deploy"
    added = {*shown_files("yaml"), *shown_files("python")}
    for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", path.read_text()):
        assert name in added or (ROOT / name).exists(), f"{name}: no such file"


def groups() -> dict[str, str]:
    """Return the files of each folder of ``conf/``, as the tutorial lists them."""
    folders = sorted({path.parent for path in HEADERS if path.parent != ROOT / "conf"})
    listed = {}
    for folder in folders:
        name = str(folder.relative_to(ROOT / "conf"))
        files = sorted(path.stem for path in folder.glob("*.yaml"))
        marks = [" (default)" if file == FIRST_OPTIONS.get(name) else "" for file in files]
        marked = (f"`{file}`{mark}" for file, mark in zip(files, marks, strict=True))
        listed[f"`{name}`"] = ", ".join(marked)
    del listed["`experiment`"]
    listed["`population`"] = "`stage3` (default) and [others](market.md#the-populations)"
    return listed


def test_the_tutorial_lists_every_group() -> None:
    rows = marked(TUTORIAL, "groups")
    assert all(len(row) == 3 for row in rows)
    assert {row[0]: row[2] for row in rows} == groups()
