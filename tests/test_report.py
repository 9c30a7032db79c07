"""The report of a real run, read as a browser reads it."""

import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

from ga3c.records import run_directory
from ga3c.records.files import write_whole
from ga3c.text import duration
from ga3c.views.drawing import COLOURS
from ga3c.views.plot import draw
from ga3c.views.report import page
from tests import program
from tests.program import SLOW
from tests.test_dashboard import BROWSER, FLAGS


class Page(HTMLParser):
    """The text of a page, its tags, and the addresses in it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.addresses = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "xlink:href", "data")]

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """(what the command printed, the page, the directory) of a short run."""
    run_dir = tmp_path_factory.mktemp("report") / "run"
    arguments = ["--game", "CartPole-v1", "--run-dir", run_dir, "--log-seconds", 0.5, "--controller-seconds", 1]
    arguments += ["--agents", 1, "--envs-per-agent", 4, "--minimum-batch-steps", 40, *SLOW]
    started = program.Started(run_dir.parent / "log", *arguments)
    started.wait_for(lambda: program.rows(run_dir / "controller.csv"))
    assert started.stop() == 130
    ended = program.run("report", run_dir, "--episodes", 12)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, (run_dir / "report.html").read_text(), run_dir


def words_of(text):
    return " ".join(" ".join(Page(text).words).split())


def test_what_it_says(report):
    printed, text, _ = report
    assert "report.html" in printed
    words = words_of(text)
    for part in (
        "CartPole-v1", "95 % confidence", "sampling from the policy", "most probable actions",
        "mean true score of 12 games", "steps", " of training,", "What the controller did", "tensorflow 2.", "cores",
        "seed 1000",
        "Score over steps", "Trainings per second (TPS)", "--game CartPole-v1",
    ):  # fmt: skip
        assert part in words, part


def test_its_numbers_are_those_of_the_logs_and_of_an_evaluation(report, tmp_path):
    _, text, run_dir = report
    words = words_of(text)
    last = program.rows(run_dir / "throughput.csv")[-1]
    seconds, steps, frames = (float(last[name]) for name in ("seconds", "steps", "frames"))
    assert f"{steps:,.0f} steps ({frames:,.0f} frames) in {duration(seconds)}" in words
    assert f"{steps / seconds:,.0f} steps a second; {len(program.rows(run_dir / 'episodes.csv')):,} games" in words
    decisions = program.rows(run_dir / "controller.csv")
    assert f"{len(decisions)} trials" in words
    assert decisions[-1]["reason"] in words
    ended = program.run("evaluate", run_dir, "--episodes", 12, "--json", tmp_path / "scores.json")
    assert ended.returncode == 0, ended.stderr
    ways = json.loads((tmp_path / "scores.json").read_text())["ways"]
    assert f"How well it plays {ways['sampled']['mean']:.1f} mean true score" in words
    for way, name in (("sampled", "sampling from the policy"), ("greedy", "most probable actions")):
        score = ways[way]
        numbers = f"{score['mean']:.2f} {score['low']:.2f} to {score['high']:.2f} {score['std']:.2f}"
        assert f"{name} 12 {numbers} {score['min']:g} {score['max']:g}" in words


def test_it_needs_no_network(report):
    page = Page(report[1])
    assert page.tags.count("svg") == 1
    assert page.tags.count("video") == 1
    assert not [address for address in page.addresses if not address.startswith(("data:", "#"))]
    assert "@import" not in report[1]
    assert not re.search(r"url\((?!['\"]?(#|data:))", report[1])


def test_on_a_phone_nothing_is_cut_off(report):
    """390 pixels: no sideways scrolling, also within a table, and curves whose text can be read."""
    if BROWSER is None:
        pytest.skip("the page is tried in a real browser: install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS, timeout=1000 * program.HANG_SECONDS)
        page = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True).new_page()
        page.goto((report[2] / "report.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        far = "[...document.querySelectorAll('body *')].map(one => one.getBoundingClientRect().right)"
        assert page.evaluate(f"Math.max(...{far})") <= 390
        heights = "[...document.querySelectorAll('svg text')].map(one => one.getBoundingClientRect().height)"
        assert min(page.evaluate(heights)) > 7
        browser.close()


def test_the_video_in_it_plays(report, tmp_path):
    import base64

    import imageio.v2 as imageio

    data = re.search(r"data:video/mp4;base64,([\w+/=]+)", report[1]).group(1)
    (tmp_path / "film.mp4").write_bytes(base64.b64decode(data))
    pictures = [picture for picture in imageio.get_reader(tmp_path / "film.mp4")]  # noqa: C416
    assert len(pictures) > 5
    assert np.std(pictures[0]) > 5


def test_an_exported_agent_says_how_it_was_trained(tmp_path):
    agent = tmp_path / "Pong"
    shutil.copytree(run_directory.PRETRAINED / "Pong", agent)
    found = json.loads((agent / "evaluation.json").read_text())
    (tmp_path / "film.mp4").write_bytes(b"")
    draw([agent], tmp_path / "curves.svg")
    text = page(agent, 1, [found | found["ways"]["sampled"]], tmp_path / "film.mp4", "", tmp_path / "curves.svg")
    words, steps, minutes = words_of(text), found["steps_trained"], found["minutes"]
    assert f"{steps:,} steps ({found['frames']:,} frames) in {duration(60 * minutes)}" in words
    assert f"{steps / (60 * minutes):,.0f} steps a second" in words
    assert "0 games." not in words
    score = re.search(rf'<g id="line2d_\d+">\s*<path d="([^"]+)"[^>]*stroke: {COLOURS[0]}', text)
    assert score.group(1).count("L") > 50, "its learning curve is drawn"


def test_text_is_text(tmp_path):
    """Whatever a run is called, and whatever its files say of it."""
    agent, script = tmp_path / "Pong" / "<script>x<\udcff$\\frac$", "<script>alert(1)</script>"
    shutil.copytree(run_directory.PRETRAINED / "Pong", agent)
    config = json.loads((agent / "config.json").read_text())
    (tmp_path / "film.mp4").write_bytes(b"")
    scores = json.loads((agent / "evaluation.json").read_text())
    scores |= scores["ways"]["sampled"]
    for said in (script, 5, None, [script], {script: script, "items": 1}):
        config |= dict.fromkeys(("command", "started", "hardware", "versions"), said)
        (agent / "config.json").write_text(json.dumps(config))
        draw([agent], tmp_path / "curves.svg")
        text = page(agent, 1, [scores], tmp_path / "film.mp4", script, tmp_path / "curves.svg")
        assert Page(text).tags.count("script") == 0
        assert "<script>x<\\udcff$\\frac$" in words_of(text)
        write_whole(tmp_path / "report.html", text)
