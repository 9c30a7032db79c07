"""The plot: its numbers, and pictures of runs that this test writes."""

import csv
import json
import re
from dataclasses import fields, replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageColor

from ga3c.commands import plot, train_messages
from ga3c.environments import protocols
from ga3c.records import csv_reading
from ga3c.records.columns import EPISODE_COLUMNS, Throughput
from ga3c.records.csv_reading import read_csv
from ga3c.settings import saved_settings as saved_settings
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.presets import with_presets
from ga3c.settings.run import RunSettings, Settings
from ga3c.text import one_line
from ga3c.views import curves
from ga3c.views.curves import moving_mean, over_time
from ga3c.views.drawing import COLOURS, look
from ga3c.views.labels import Known, changed, know, labels
from ga3c.views.plot import draw

FIRST, SECOND = (ImageColor.getrgb(colour) for colour in COLOURS[:2])  # of the first and second run


def test_moving_mean():
    np.testing.assert_allclose(moving_mean(np.arange(6.0), 3), [0, 0.5, 1, 2, 3, 4])
    np.testing.assert_allclose(moving_mean(np.array([5.0, 7.0]), 100), [5, 6])
    assert len(moving_mean(np.array([]), 100)) == 0
    np.testing.assert_allclose(moving_mean(np.array([np.nan, 4, np.nan, 6]), 3), [np.nan, 4, 4, 5])


@pytest.mark.parametrize("rest", ["", "3", "3.0,", "3.0,30,", "3.0,30,3"])
def test_a_last_row_that_is_not_finished_is_left_out(tmp_path, rest):
    path = tmp_path / "a.csv"
    path.write_text("seconds,steps,score\n1.0,10,-2\n2.0,20,nan\n" + rest)
    columns = read_csv(path)
    assert list(columns) == ["seconds", "steps", "score"]
    np.testing.assert_array_equal(columns["steps"], [10, 20])
    np.testing.assert_array_equal(columns["score"], [-2, np.nan])


def test_runs_that_share_no_time_have_no_common_curve(tmp_path):
    for name, seconds in (("a", (60, 120)), ("b", (300, 360))):
        rows = "".join(f"{second},{second},1.0,10,0\n" for second in seconds)
        (tmp_path / name).mkdir()
        (tmp_path / name / "episodes.csv").write_text("seconds,steps,score,length_steps,agent\n" + rows)
    both = [tmp_path / "a", tmp_path / "b"]
    assert len(curves.of_run(both[0], curves.SCORE_OVER_TIME)[0]) > 0
    assert len(curves.of_runs(both, curves.SCORE_OVER_TIME).x) == 0
    assert len(curves.of_runs([both[0], both[0]], curves.SCORE_OVER_TIME).x) > 0


def test_files_without_rows(tmp_path):
    assert read_csv(tmp_path / "none.csv") == {}
    path = tmp_path / "a.csv"
    path.write_text("")
    assert read_csv(path) == {}
    path.write_text("seconds,steps\n")
    assert [len(column) for column in read_csv(path).values()] == [0, 0]


def make_run(directory, slope, episodes=300):
    directory.mkdir(parents=True)
    columns = [field.name for field in fields(Throughput)]
    throughput = [[60 * i if name == "seconds" else slope * i for name in columns] for i in range(20)]
    games = [[4 * i, 1000 * i, slope * i, 50, 0] for i in range(episodes)]
    for name, rows in ("throughput", [columns, *throughput]), ("episodes", [EPISODE_COLUMNS, *games]):
        with (directory / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return directory


def panels(runs, tmp_path):
    """The drawing's six panels: how many pixels of each run's colour each one holds, [run, panel]."""
    out = tmp_path / "out.png"
    draw(runs, out)
    assert not list(tmp_path.glob(".out*"))  # nothing unfinished stays behind
    with Image.open(out) as image:
        assert image.format == "PNG"
        assert image.size == (1210, 990)
        pixels = np.asarray(image.convert("RGB"))
    parts = [part for row in np.array_split(pixels, 3) for part in np.array_split(row, 2, axis=1)]
    return np.array([[(part == colour).all(axis=2).sum() for part in parts] for colour in (FIRST, SECOND)])


def test_one_run(tmp_path):
    first, second = panels([make_run(tmp_path / "Pong" / "a", 1)], tmp_path)
    assert (first > 50).all()
    assert not second[:4].any()
    assert (second[4:] > 50).all()  # the second line of a panel has a colour of its own


def test_no_two_lines_look_alike():
    for runs, quantities in ((1, 3), (6, 1), (3, 3)):
        looks = [look(r, q, runs > 1, quantities > 1) for r in range(runs) for q in range(quantities)]
        assert len({(one.colour, one.opacity) for one in looks}) == len(looks), "in colour"
        assert len({(one.dash, one.mark) for one in looks}) == len(looks), "in print"


def test_speed_is_smooth_before_its_rows(tmp_path):
    """A speed that leaps to and fro between rows has a quiet curve, and its rows behind."""
    run = make_run(tmp_path / "Pong" / "a", 1)
    text = (run / "throughput.csv").read_text().splitlines()
    column = text[0].split(",").index("pps")
    cells = [line.split(",") for line in text[1:]]
    for number, row in enumerate(cells):
        row[column] = "nan" if number == 0 else str(1000 + 100 * (-1) ** number)
    (run / "throughput.csv").write_text("\n".join([text[0], *map(",".join, cells), ""]))
    _, smooth = curves.of_run(run, over_time("pps"))
    _, raw = curves.of_run(run, over_time("pps").raw())
    assert np.ptp(raw[10:]) == 200
    assert np.ptp(smooth[10:]) < 50
    draw([run], tmp_path / "out.svg")
    text = (tmp_path / "out.svg").read_text()
    assert "each row" in text
    assert "mean of 5 rows" in text


def test_labels():
    """The settings that differ, and the name; never two alike."""
    usual = {"t_max": 10, "learning_rate": 8e-4, "seed": 1}
    first, second = Known("Pong", "a", usual, {}), Known("Pong", "b", usual | {"t_max": 5}, {})
    assert labels([first]) == ["a"]
    assert labels([first, second]) == ["a: t_max 10", "b: t_max 5"]
    assert labels([first, first, first]) == ["a", "a (2)", "a (3)"]
    assert labels([first, second._replace(game="Boxing", settings={})]) == ["Pong a", "Boxing b"]
    many = Known("Pong", "c", dict.fromkeys("vwxyz", 2), {})
    assert labels([many, many._replace(settings=dict.fromkeys("vwxyz", 3))])[0] == "c: v 2, w 2, x 2, ..."


def test_of_presets_their_names_and_what_differs_from_them():
    settings = with_presets(Settings(), "paper", "machado")
    assert changed(settings) == {"preset": "paper", "protocol": "machado"}
    other = replace(settings, learning=replace(settings.learning, t_max=7))
    assert changed(other) == {"preset": "paper", "protocol": "machado", "t_max": 7}


def test_a_run_is_called_by_its_name_and_a_seed_that_was_drawn_is_no_difference(tmp_path):
    run = tmp_path / "Pong" / "2026-01-01"
    run.mkdir(parents=True)
    settings = Settings(learning=LearningSettings(seed=77, t_max=5), run=RunSettings(name="mine"))
    for command, changes in (["--seed", "77"], {"t_max": 5, "seed": 77}), (["--t-max", "5"], {"t_max": 5}):
        text = json.dumps({"settings": saved_settings.to_dict(settings), "command": ["run", *command]})
        (run / "config.json").write_text(text)
        assert know(run).name == "mine"
        assert know(run).changed == changes
        assert ("seed" in know(run).settings) == ("seed" in changes)
    (run / "config.json").write_text("{")
    assert know(run) == ("Pong", "2026-01-01", {}, {})


def test_two_runs(tmp_path):
    runs = [make_run(tmp_path / "Pong" / name, slope) for name, slope in (("a", 1), ("b", 2))]
    assert (panels(runs, tmp_path) > 50).all()


ODD_NAMES = ["m$\\frac$", "_hidden", "a\nb", "\x1b[31mred", "<b>y", "b\udcffc", "x" * 200, "$x$", "a\\$b$", "é"]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_shown_as_they_are(tmp_path):
    """No formula, no markup; what cannot be printed is written as in Python."""
    runs = [make_run(tmp_path / "$\\frac$" / name, 1, episodes=9) for name in ODD_NAMES]
    draw(runs, tmp_path / "out.svg")
    draw(runs[:1], tmp_path / "out.png")
    texts = [text.strip() for text in ElementTree.parse(tmp_path / "out.svg").getroot().itertext()]
    for name in ("$\\frac$", *(one_line(name) for name in ODD_NAMES if len(name) < 100)):
        assert name in texts, name
    assert sum(text.count("x") for text in texts if set(text) == {"x"}) == 200


def test_a_run_that_has_not_finished_a_game_yet(tmp_path):
    first, _ = panels([make_run(tmp_path / "Pong" / "a", 1, episodes=0)], tmp_path)
    assert not first[:2].any()
    assert (first[2:] > 50).all()


def test_a_run_that_has_written_nothing_yet(tmp_path):
    (tmp_path / "Pong" / "a").mkdir(parents=True)
    assert not panels([tmp_path / "Pong" / "a"], tmp_path).any()


def test_a_collapse_is_marked(tmp_path):
    def marks(run) -> int:
        draw([run], tmp_path / "out.png")
        with Image.open(tmp_path / "out.png") as image:
            pixels = np.asarray(image.convert("RGB"))
        return int((pixels == ImageColor.getrgb(COLOURS[3])).all(axis=2).sum())

    run = make_run(tmp_path / "Pong" / "a", 1, episodes=600)
    assert marks(run) == 0
    best = curves.read(run, "episodes", "score")["score"].max()
    with (run / "episodes.csv").open("a") as file:
        file.writelines(f"{4 * i},{1000 * i},0,50,0\n" for i in range(600, 900))
    assert marks(run) > 100
    (lasting,) = curves.collapsed(run)
    with (run / "episodes.csv").open("a") as file:
        file.writelines(f"{4 * i},{1000 * i},{best},50,0\n" for i in range(900, 1200))
    (over,) = curves.collapsed(run)
    assert 600 < over["steps"][0] / 1000 == lasting["steps"][0] / 1000 < 900
    assert lasting["steps"][1] / 1000 == 899
    assert 900 < over["steps"][1] / 1000 < 1000


def test_runs_under_different_protocols_are_marked(tmp_path, capsys):
    runs = []
    for name, sticky in (("a", 0.0), ("b", 0.25), ("c", 0.25)):
        runs.append(make_run(tmp_path / "Pong" / name, 1))
        settings = Settings(
            EnvironmentSettings(sticky_action_probability=sticky), learning=LearningSettings(seed=len(runs))
        )
        (runs[-1] / "config.json").write_text(json.dumps({"settings": saved_settings.to_dict(settings)}))
    own, paper = (protocols.fingerprint(EnvironmentSettings(sticky_action_probability=x)) for x in (0.25, 0.0))
    sticky = "sticky_action_probability"
    assert list(curves.groups(runs)) == [f"a: {sticky} 0 [{paper}]", f"b: {sticky} 0.25, 2 seeds [{own}]"]
    assert list(curves.groups(runs[1:])) == ["b, 2 seeds"]
    for mixed in (runs, runs[1:]):
        assert plot.run([*map(str, mixed), "--out", str(tmp_path / "out.svg")]) == 0
        said = f"different protocols: {own}, {paper}"
        assert (said in capsys.readouterr().out) == (mixed is runs)
        assert (said in (tmp_path / "out.svg").read_text()) == (mixed is runs)


def test_a_run_whose_logs_are_too_large_to_be_drawn_has_ended_well(tmp_path, monkeypatch):
    run, said = make_run(tmp_path / "run", 1.0), []
    monkeypatch.setattr(csv_reading, "LOG_BYTES_LIMIT", 10)
    train_messages.draw_last([run], SimpleNamespace(say=said.append))
    assert len(said) == 1
    assert re.fullmatch(r"Cannot draw .*plot\.png: .*[^.]\.", said[0])
