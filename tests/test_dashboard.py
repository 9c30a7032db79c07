"""The dashboard: the page in a real browser. What its server answers is in test_dashboard_server.py."""

import shutil

import pytest

from ga3c.records.columns import THROUGHPUT_COLUMNS
from ga3c.views.dashboard.charts import CHARTS
from ga3c.views.drawing import FAINT
from tests import program
from tests.dashboard_client import Served
from tests.program import SLOW, TINY

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two runs, and a recorded game of the second."""
    if BROWSER is None:
        pytest.skip("the page is tried in a real browser: install chromium")
    path = tmp_path_factory.mktemp("results")
    for name in ("first", "second"):
        directory = path / "CartPole-v1" / name
        arguments = ["--game", "CartPole-v1", "--run-dir", directory, "--log-seconds", 0.5, "--controller-seconds", 1]
        arguments += ["--agents", 1, "--envs-per-agent", 4, "--minimum-batch-steps", 40, *SLOW]
        started = program.Started(path / f"{name}.txt", *arguments)

        def enough(directory=directory) -> bool:
            return all(program.rows(directory / f"{log}.csv") for log in ("throughput", "controller", "episodes"))

        started.wait_for(enough)
        assert started.stop() == 130
    ended = program.run("play", directory, "--record", directory / "game.mp4")
    assert ended.returncode == 0, ended.stderr
    return path


@pytest.fixture(scope="module")
def address(results, tmp_path_factory):
    served = Served(results, tmp_path_factory.mktemp("out") / "complaints")
    yield f"http://localhost:{served.port}"
    assert served.stop() == 0
    assert not served.complaints()


@pytest.fixture(scope="module")
def browser(results):
    """Without one, `results` skips."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS, timeout=1000 * program.HANG_SECONDS)
        yield started
        started.close()


@pytest.fixture
def page(address, browser):
    """The dashboard in a browser that keeps nothing of the test before, and the addresses that it asked for."""
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    context.set_default_timeout(1000 * program.HANG_SECONDS)
    opened = context.new_page()
    asked, errors = [], []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(address)
    opened.wait_for_selector(".runs label")
    yield opened, asked
    assert not errors
    context.close()


# The lines of a chart that have a name: behind them lie the rows that they are means of, and beside them the legend.
LINES = "document.querySelector('#CHART .js-plotly-plot')?.data.filter(t => t.name && t.line && t.x.length != 1) ?? []"


def lines(page, chart) -> list[dict]:
    return page.evaluate(LINES.replace("CHART", chart))


def wait_for_lines(page, chart, count) -> None:
    page.wait_for_function(f"({LINES.replace('CHART', chart)}).length == {count}")


def test_runs_side_by_side(page, address, results):
    opened, asked = page
    assert opened.locator(".runs label").count() == 2
    wait_for_lines(opened, "pps", 1)
    assert "steps" in opened.locator("#numbers").inner_text()
    assert opened.locator("#timeline tr").count() >= 1
    opened.locator(".runs label").nth(1).click()
    wait_for_lines(opened, "pps", 2)
    for chart in ("score-steps", "score-time", "tps", "lag", "counts"):
        found = lines(opened, chart)
        assert len(found) == (6 if chart == "counts" else 2), chart
        assert len({(line["line"]["color"], line.get("opacity")) for line in found}) == len(found), "in colour"
        looks = {(line["line"]["dash"], line.get("marker", {}).get("symbol")) for line in found}
        assert len(looks) == len(found), "in print"
    head, *table = [row.locator("th, td").all_inner_texts() for row in opened.locator("#numbers tr").all()]
    assert len(table) == 2
    for run, *numbers in table:
        shown = dict(zip(head[1:], numbers, strict=True))
        assert run in ("■ first", "■ second")  # their settings are the same
        last = program.rows(results / "CartPole-v1" / run.removeprefix("■ ") / "throughput.csv")[-1]
        assert shown["NA / NP / NT"] == " / ".join(last[name] for name in ("agents", "predictors", "trainers"))
        assert shown["games"].replace(",", "") == last["episodes"]
        for column in ("steps", "frames"):
            assert shown[column].replace(",", "") == last[column], column
    assert asked
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]


def test_what_the_algorithm_reports_has_charts(page, results):
    """Whatever that is: the page knows none of their names."""
    opened, _ = page
    columns = program.rows(results / "CartPole-v1" / "second" / "throughput.csv")[0]
    reported = [name for name in columns if name not in THROUGHPUT_COLUMNS]
    assert len(reported) > 5
    titles = "[...document.querySelectorAll('#learning .js-plotly-plot')].map(chart => chart.layout?.title?.text)"
    wanted = [name.replace("_", " ").capitalize() for name in reported]
    opened.wait_for_function(f"wanted => JSON.stringify({titles}) == JSON.stringify(wanted)", arg=wanted)
    assert not {quantity.y for *_, quantities in CHARTS.values() for quantity in quantities} & set(reported)
    wait_for_lines(opened, "pps", 1)
    rows = opened.evaluate("document.querySelector('#pps .js-plotly-plot').data.map(t => [t.name, t.opacity])")
    assert rows[0] == [None, FAINT], "the rows lie behind"


def test_tool_bars_are_hidden_until_the_mouse_is_there(page):
    opened, _ = page
    opened.wait_for_selector("#pps .main-svg")
    bar = "#pps .modebar-group"
    opacity = f"getComputedStyle(document.querySelector('{bar}') ?? document.body).opacity"
    opened.mouse.move(2, 2)
    opened.wait_for_function(f"document.querySelector('{bar}') && {opacity} == 0")
    opened.locator("#pps .main-svg").first.hover()
    opened.wait_for_function(f"{opacity} > 0.5")


def test_the_address_keeps_what_is_chosen(page, address):
    opened, _ = page
    wait_for_lines(opened, "pps", 1)
    opened.locator(".runs label", has_text="first,").click()
    opened.locator(".runs label", has_text="second,").click()
    opened.wait_for_function("decodeURIComponent(location.search) == '?run=CartPole-v1/first'")
    another = opened.context.new_page()  # leaving this one would abort what it asks for, and that is an error in it
    another.goto(f"{address}/?run=CartPole-v1/first")
    another.wait_for_function("document.querySelector('#whose')?.innerText.endsWith('in first')")
    assert [box.is_checked() for box in another.locator(".runs label input").all()].count(True) == 1
    strange = opened.context.new_page()
    strange.goto(f"{address}/?run=nonsense&run=../..&x=%ff")
    strange.wait_for_selector("text=Choose a run")


def test_the_list_of_runs_can_be_filtered(page):
    opened, _ = page
    wait_for_lines(opened, "pps", 1)
    chosen = next(label for label in opened.locator(".runs label").all() if label.locator("input").is_checked())
    own, other = ("first", "second") if "first" in chosen.inner_text() else ("second", "first")
    opened.fill("#filter", f"{other}, cartpole")
    opened.wait_for_timeout(3000)
    assert opened.locator(".runs label").count() == 2, "what is chosen stays"
    opened.fill("#filter", f"{own},")
    opened.wait_for_function("document.querySelectorAll('.runs label').length == 1")
    opened.fill("#filter", "")
    opened.wait_for_function("document.querySelectorAll('.runs label').length == 2")


def test_the_recorded_game_plays(page):
    opened, _ = page
    opened.locator(".runs label", has_text="second,").click() if not opened.locator("video").count() else None
    opened.wait_for_selector("video")
    opened.wait_for_function("document.querySelector('video').readyState >= 2")
    assert opened.evaluate("document.querySelector('video').videoWidth") > 0


def test_text_is_text(page, results):
    """A run whose name is a script and what Plotly would draw in bold, and what its logs say."""
    opened, _ = page
    evil = results / "CartPole-v1" / "<b><img src=x onerror=document.title=1>"
    shutil.copytree(results / "CartPole-v1" / "first", evil)
    try:
        header, rows = (evil / "throughput.csv").read_text().split("\n", 1)
        (evil / "throughput.csv").write_text(f"{header},<b>bold</b>\n" + rows.replace("\n", ",1\n"))
        opened.locator(".runs label", has_text=evil.name).click()
        wait_for_lines(opened, "pps", 2)
        opened.wait_for_function(f"document.querySelector('#pps .legend').textContent.includes({evil.name!r})")
        opened.wait_for_function("document.querySelector('#learning').textContent.includes('<b>bold</b>')")
        assert opened.title() == "GA3C"
        assert not opened.locator("main img, main b b, #learning b").count()
    finally:
        shutil.rmtree(evil)


def test_on_a_phone(page):
    opened, _ = page
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.wait_for_selector("#pps .main-svg")
    opened.wait_for_function("document.querySelector('#pps .main-svg').getBoundingClientRect().width <= 390")
    opened.wait_for_function("document.documentElement.scrollWidth <= 390")  # the other charts follow


def test_a_run_that_trains_grows(page, results, tmp_path):
    opened, _ = page
    run_dir = results / "tiny" / "third"
    training = program.Started(tmp_path / "log", *TINY, *SLOW, "--run-dir", run_dir, "--log-seconds", 0.5)
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
