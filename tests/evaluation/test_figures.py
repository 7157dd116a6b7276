"""Figures show every episode, in colours that do not depend on the other designers."""

from __future__ import annotations

import textwrap
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from daedalus.evaluation import figures
from daedalus.evaluation.episodes import METRICS
from daedalus.evaluation.run_report import save
from tests.odd_names import ODD_NAMES

pytestmark = pytest.mark.filterwarnings("error")


def frame(designers: list[str], episodes: int = 12) -> pd.DataFrame:
    """Return a frame like ``episode_means``'s with uniform draws."""
    rng = np.random.default_rng(0)
    parts = [
        pd.DataFrame(rng.uniform(0.2, 0.9, (episodes, len(METRICS))), columns=METRICS).assign(
            designer=name, episode=range(episodes)
        )
        for name in designers
    ]
    return pd.concat(parts, ignore_index=True)


def words(figure: Figure) -> str:
    """Return all that is written on the figure itself."""
    return " ".join(text.get_text() for text in figure.texts)


def dots(axes: Axes) -> list[np.ndarray]:
    """Return the heights of each cloud of dots."""
    return [np.asarray(cloud.get_offsets())[:, 1] for cloud in axes.collections]


def overlapping(axes: Axes) -> bool:
    """Return whether two labels of the horizontal axis lie on each other."""
    axes.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    return any(left.x1 > right.x0 for left, right in pairwise(boxes))


def test_boxplot_shows_every_episode_of_every_designer_and_the_means() -> None:
    episodes = frame(["random", "informed_greedy"])
    figure = figures.reward_boxplot(episodes, "A title")
    axes = figure.axes[0]
    for cloud, name in zip(dots(axes), ["random", "informed_greedy"], strict=True):
        np.testing.assert_array_equal(
            cloud, episodes.loc[episodes["designer"] == name, "reward"].to_numpy()
        )
    diamonds = [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "D"]
    means = episodes.groupby("designer", sort=False)["reward"].mean()
    assert diamonds == pytest.approx(means.to_list())
    assert [label.get_text() for label in axes.get_xticklabels()] == ["random", "informed\ngreedy"]
    assert "A title" in words(figure)
    assert "n = 12 episodes" in words(figure)


@pytest.mark.slow
def test_many_episodes_are_drawn_in_seconds_and_only_the_first_as_dots(tmp_path: Path) -> None:
    def drawn(count: int) -> tuple[pd.DataFrame, Figure, float]:
        names = ["random", "informed_greedy", "search", "trained", "planner"]
        start, episodes = time.process_time(), frame(names, count)
        figure = figures.metric_panels(episodes)
        save(figure, tmp_path / "metrics.png")
        return episodes, figure, time.process_time() - start

    *_, few = drawn(200)
    episodes, figure, many = drawn(10_000)
    assert many < 3.0 * few + 2.0  # swarms of 3,000 dots took 100 times as long
    assert "dots: the first 200 episodes" in words(figure)
    first = episodes.loc[episodes["designer"] == "random", "reward"].to_numpy()[:200]
    np.testing.assert_array_equal(dots(figure.axes[-1])[0], first)


def test_equal_rewards_are_a_line(tmp_path: Path) -> None:
    episodes = frame(["random", "trained"], 500).assign(reward=0.5)
    figure = figures.reward_boxplot(episodes, "")
    save(figure, tmp_path / "boxplot.png")
    low, high = figure.axes[0].get_ylim()
    assert low < 0.5 < high and high - low >= 0.1


def test_unequal_numbers_of_episodes_are_stated() -> None:
    episodes = pd.concat([frame(["random"], 5), frame(["trained"], 9)])
    assert "n = 5 to 9 episodes" in words(figures.reward_boxplot(episodes, ""))


def test_labels_do_not_overlap() -> None:
    names = [
        "informed_greedy",
        "language_model",
        "heuristic_designer",
        "random_published",
        "untrained",
    ]
    assert not overlapping(figures.reward_boxplot(frame(names), "").axes[0])


def test_long_names_leave_room_for_the_panels() -> None:
    long = "my_designer_with_a_very_long_name_that_never_ends"
    figure = figures.metric_panels(frame(["a", long]))
    figure.canvas.draw()
    assert all(axes.get_position().height > 0.35 for axes in figure.axes)


def test_metrics_have_a_panel_each_which_is_empty_without_values() -> None:
    episodes = frame(["trained"]).assign(welfare=np.nan)
    figure = figures.metric_panels(episodes)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["welfare", "fairness", "participation", "stability", "reward"]
    assert not dots(figure.axes[0])
    assert len(dots(figure.axes[1])) == 1


def test_limits_hold_all_values_and_another_reward_is_not_called_r_and_may_leave_0_to_1() -> None:
    of_r = frame(["random"]).assign(reward=np.linspace(0.3, 0.5, 12))
    other = of_r.assign(reward=np.linspace(-1.0, 3.0, 12), composite=0.4)
    plain, changed = (figures.reward_boxplot(each, "").axes[0] for each in (of_r, other))
    assert plain.get_ylabel() == "composite reward R" and changed.get_ylabel() == "reward"
    low, high = plain.get_ylim()
    assert 0.25 < low < 0.3 and 0.5 < high < 0.55
    low, high = changed.get_ylim()
    assert low < -1.0 and high > 3.0


def test_learning_curves_skip_absent_and_empty_columns_and_show_r_beside_another_reward() -> None:
    history = pd.DataFrame({"step": range(40), "loss": 0.1, "reward": 0.5, "composite": 0.4})
    figure = figures.learning_curves(history.assign(learning_rate=1e-5, entropy=np.nan))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["reward", "composite R", "loss"]


def test_sampled_answers_and_neighbours_have_a_line_each_and_r_one_panel() -> None:
    steps = np.arange(1, 41)
    history = pd.DataFrame({"step": steps, "reward": 0.4, "composite": 0.4, "loss": 0.1})
    history = history.assign(reward_sampled=0.48, reward_neighbours=0.32)
    taught = pd.DataFrame({"step": steps, "loss": 2.0 / steps})
    figure = figures.learning_curves(history, taught)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["reward", "loss", "loss of SFT"]
    first = figure.axes[0]
    assert [each.get_text() for each in first.get_legend().texts] == [
        "sampled answers",
        "neighbours",
    ]
    assert [each.get_ydata()[-1] for each in first.lines[1::2]] == pytest.approx([0.48, 0.32])
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), taught["loss"])


def test_learning_curves_smooth() -> None:
    rng = np.random.default_rng(0)
    history = pd.DataFrame({"step": range(200), "reward": rng.normal(0.5, 0.1, 200)})
    raw, smooth = figures.learning_curves(history).axes[0].lines
    np.testing.assert_array_equal(raw.get_ydata(), history["reward"])
    assert smooth.get_ydata()[-1] == pytest.approx(history["reward"][-10:].mean())
    assert np.nanstd(smooth.get_ydata()) < 0.5 * np.std(raw.get_ydata())


@pytest.mark.parametrize("columns", [{"step": [1]}, {"reward": [1.0]}])
def test_learning_curves_without_anything_to_draw_are_refused(columns: dict[str, list]) -> None:
    with pytest.raises(ValueError, match="history: give the column step and at least one of"):
        figures.learning_curves(pd.DataFrame(columns))


def test_colours_are_distinct_and_do_not_depend_on_the_company() -> None:
    names = ["random", "informed_greedy", "heuristic", "search", "trained", "untrained"]
    names += ["language_model", "random_published", "mine", "yours"]
    colours = figures.palette(names)
    assert len(set(colours.values())) == len(names)
    for name in names[:-1]:
        assert figures.palette([name])[name] == colours[name]


def test_figures_share_the_palette() -> None:
    episodes = frame(["search", "random"])
    for figure in (figures.reward_boxplot(episodes, ""), figures.metric_panels(episodes)):
        shown = [to_hex(cloud.get_facecolor()[0]) for cloud in figure.axes[0].collections]
        assert shown == list(figures.palette(["search", "random"]).values())


def test_same_frame_same_picture(tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        save(figures.reward_boxplot(frame(["random"]), ""), tmp_path / "new" / name)
    one, two = (tmp_path / "new" / name for name in ("one.png", "two.png"))
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes().startswith(b"\x89PNG")
    assert sorted(tmp_path.rglob("*.*")) == [one, two]


def test_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")

    def fail(self: Figure, aside: Path, **options: object) -> None:
        aside.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save(Figure(), path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


@pytest.mark.slow
def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    names = [name for name in ODD_NAMES if name.isascii() and "\n" not in name]
    for first in range(0, len(names), 11):
        some = names[first : first + 11]
        title = f"{some[0]} $x$ {some[-1]}"
        figure = figures.reward_boxplot(frame(some, 3), title)
        save(figure, tmp_path / "figure.png")
        assert title in words(figure)
        drawn = [label.get_text() for label in figure.axes[0].get_xticklabels()]
        assert drawn == [textwrap.fill(figures.readable(name), 12) for name in some]
