"""The report of a real run, read as a browser reads it."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tests import program


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
    """(what the command printed, the page) of a short run."""
    run_dir = tmp_path_factory.mktemp("report") / "run"
    ended = program.run("--game", "CartPole-v1", "--run-dir", run_dir, "--steps", 20_000, "--controller-seconds", 1)
    assert ended.returncode == 0, ended.stderr
    ended = program.run("report", run_dir, "--episodes", 12)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, (run_dir / "report.html").read_text()


def test_what_it_says(report):
    printed, text = report
    assert "report.html" in printed
    words = " ".join(" ".join(Page(text).words).split())
    for part in (
        "CartPole-v1", "95 % confidence", "sampling from the policy", "greedy", "mean true score of 12 games", "steps",
        "hours of training", "What the controller did", "tensorflow 2.", "cores", "seed 1000",
        "Score over steps", "Trainings per second (TPS)", "--game CartPole-v1",
    ):  # fmt: skip
        assert part in words, part


def test_it_needs_no_network(report):
    page = Page(report[1])
    assert page.tags.count("svg") == 1
    assert page.tags.count("video") == 1
    assert not [address for address in page.addresses if not address.startswith(("data:", "#"))]
    assert "@import" not in report[1]
    assert not re.search(r"url\((?!['\"]?(#|data:))", report[1])


def test_the_video_in_it_plays(report, tmp_path):
    import base64

    import imageio.v2 as imageio

    data = re.search(r"data:video/mp4;base64,([\w+/=]+)", report[1]).group(1)
    (tmp_path / "film.mp4").write_bytes(base64.b64decode(data))
    pictures = [picture for picture in imageio.get_reader(tmp_path / "film.mp4")]  # noqa: C416
    assert len(pictures) > 5
    assert np.std(pictures[0]) > 5


def test_where_it_cannot_be_written(report, tmp_path):
    ended = program.run("report", "--out", tmp_path / "no" / "report.html")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
