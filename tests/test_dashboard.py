"""The dashboard: its answers, and the page in a real browser."""

import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest

from tests import program
from tests.program import TINY

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two runs, and a recorded game of the second."""
    path = tmp_path_factory.mktemp("results")
    for name in ("first", "second"):
        directory = path / "CartPole-v1" / name
        arguments = ["--game", "CartPole-v1", "--run-dir", directory, "--log-seconds", 0.5, "--controller-seconds", 1]
        started = program.Started(path / f"{name}.txt", *arguments)

        def enough(directory=directory) -> bool:
            return all(program.rows(directory / f"{log}.csv") for log in ("throughput", "controller", "episodes"))

        started.wait_for(enough)
        assert started.stop() == 130
    ended = program.run("play", directory, "--record", directory / "game.mp4")
    assert ended.returncode == 0, ended.stderr
    return path


@pytest.fixture(scope="module")
def address(results):
    command = program.command("dashboard", "--port", 0, "--results", results)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=program.ROOT) as process:
        yield re.match(r"(http://localhost:\d+)/", process.stdout.readline()).group(1)
        process.terminate()


def status(address, host=None) -> int:
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=program.HANG_SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_it_serves_this_machine_only(address, results):
    import psutil

    port = int(address.rpartition(":")[2])
    listening = [c.laddr for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.laddr.port == port]
    assert {place.ip for place in listening} == {"127.0.0.1"}
    assert status(address) == 200
    assert status(address, "elsewhere.example:8050") == 403
    film = "/recorded/CartPole-v1/second/game.mp4"
    assert status(address + film) == 200
    for path in ("/recorded/../tests/program.py", "/recorded/CartPole-v1/second/config.json", "/recorded/%2e%2e/x.mp4"):
        assert status(address + path) in (403, 404), path


def test_a_port_that_is_taken(address, results):
    ended = program.run("dashboard", "--port", address.rpartition(":")[2], "--results", results)
    assert ended.returncode == 2
    assert "Name another one" in ended.stderr


@pytest.fixture
def page(address):
    """The dashboard in a browser, and the addresses that it asked for."""
    if BROWSER is None:
        pytest.skip("the page is tried in a real browser: install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS, timeout=1000 * program.HANG_SECONDS)
        opened = browser.new_page(viewport={"width": 1300, "height": 900})
        asked, errors = [], []
        opened.on("request", lambda request: asked.append(request.url))
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.goto(address)
        opened.wait_for_selector(".runs label")
        yield opened, asked
        assert not errors
        browser.close()


def curves(page, chart) -> int:
    return page.locator(f"#{chart} .scatterlayer .trace").count()


def test_runs_side_by_side(page, address, results):
    opened, asked = page
    assert opened.locator(".runs label").count() == 2
    opened.wait_for_function("document.querySelectorAll('#pps .scatterlayer .trace').length == 1")
    assert "steps" in opened.locator("#numbers").inner_text()
    assert opened.locator("#timeline tr").count() >= 1
    opened.locator(".runs label").nth(1).click()
    opened.wait_for_function("document.querySelectorAll('#pps .scatterlayer .trace').length == 2")
    for chart in ("score-steps", "score-time", "tps", "lag", "entropy"):
        assert curves(opened, chart) == 2, chart
    assert curves(opened, "counts") == 6
    head, *table = [row.locator("th, td").all_inner_texts() for row in opened.locator("#numbers tr").all()]
    assert len(table) == 2
    for run, *numbers in table:
        shown = dict(zip(head[1:], numbers, strict=True))
        last = program.rows(results / run / "throughput.csv")[-1]
        assert shown["NA / NP / NT"] == " / ".join(last[name] for name in ("agents", "predictors", "trainers"))
        assert shown["games"].replace(",", "") == last["episodes"]
        for column in ("steps", "frames"):
            assert shown[column].replace(",", "") == last[column], column
    assert asked
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]


def test_the_recorded_game_plays(page):
    opened, _ = page
    opened.locator(".runs label", has_text="second").click() if not opened.locator("video").count() else None
    opened.wait_for_selector("video")
    opened.wait_for_function("document.querySelector('video').readyState >= 2")
    assert opened.evaluate("document.querySelector('video').videoWidth") > 0


def test_on_a_phone(page):
    opened, _ = page
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.wait_for_selector("#pps .main-svg")
    opened.wait_for_function("document.querySelector('#pps .main-svg').getBoundingClientRect().width <= 390")
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_run_that_trains_grows(page, results, tmp_path):
    opened, _ = page
    run_dir = results / "tiny" / "third"
    training = program.Started(tmp_path / "log", *TINY, "--run-dir", run_dir, "--log-seconds", 0.5)
    training.wait_for(lambda: (run_dir / "throughput.csv").exists())
    label = opened.locator(".runs label", has_text="third")
    label.wait_for()
    label.click()
    opened.wait_for_function("document.querySelector('.runs').innerText.includes('● running')")
    steps = opened.locator("#numbers").inner_text()
    opened.wait_for_function("before => document.querySelector('#numbers').innerText != before", arg=steps)
    training.stop()
    opened.wait_for_function("!document.querySelector('.runs').innerText.includes('● running')")


def test_nothing_to_show(tmp_path):
    ended = program.run("dashboard", "--results", tmp_path / "none")
    assert ended.returncode == 2
    assert "no such directory" in ended.stderr
