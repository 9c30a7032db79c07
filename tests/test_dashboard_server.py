"""The dashboard's server: whatever is asked in whatever form, by however many, whatever lies in the results."""

import contextlib
import json
import os
import random
import socket
import threading
import time
import urllib.request

import psutil
import pytest

from ga3c.records.columns import DECISION_COLUMNS, EPISODE_COLUMNS, THROUGHPUT_COLUMNS
from ga3c.views.dashboard import charts, serving
from ga3c.views.dashboard import shown_runs as runs
from ga3c.views.dashboard.page import MOST_NUMBERS
from tests import program
from tests.benchmarks.dashboard_clients import make_runs
from tests.dashboard_client import CALLBACKS, Served

FILM = bytes(range(256)) * 40


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Of two small runs that nobody has trained; the first has a recorded game."""
    results = tmp_path_factory.mktemp("small")
    make_runs(results, runs=2, rows=60)
    (results / "Pong" / "run-0" / "game.mp4").write_bytes(FILM)
    served = Served(results, tmp_path_factory.mktemp("out") / "complaints")
    yield served
    assert served.stop() == 0
    assert not served.complaints()


def test_it_serves_this_machine_only(served):
    listening = psutil.Process(served.process.pid).net_connections("tcp")
    places = [one.laddr for one in listening if one.status == "LISTEN"]
    assert {"127.0.0.1"} <= {place.ip for place in places} <= {"127.0.0.1", "::1"}
    assert {place.port for place in places} == {served.port}


OWN = ["localhost", "LOCALHOST", "LocalHost:80", "127.0.0.1", "127.0.0.1:8050", "[::1]", "[::1]:8050"]
OTHERS = [
    "elsewhere.example:8050",
    "localhost.elsewhere.example",
    "localhost.",
    "localhost@elsewhere",
    "127.0.0.2",
    "0",
]
OTHERS += ["", ":8050", "[::1", "::1", "[::2]", "[localhost]", "localhost:", "localhost:x", "localhost:123456"]
OTHERS += ["\xff", "localhost, elsewhere", "localhost\r\nHost: elsewhere"]


def test_it_answers_to_its_own_names(served):
    for host in OWN:
        assert served.get("/", f"Host: {host}") == 200, host
    for host in OTHERS:
        assert served.get("/", f"Host: {host}") == 403, host
    assert served.status(b"GET / HTTP/1.0\r\n\r\n") == 403


def test_films_are_those_of_the_runs(served, tmp_path):
    run = served.results / "Pong" / "run-0"
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    (tmp_path / "config.json").write_text("{}")
    (run / "link.mp4").symlink_to(tmp_path / "secret.mp4")
    (run / "inner.mp4").symlink_to("game.mp4")
    (run / "directory.mp4").mkdir()
    os.mkfifo(run / "pipe.mp4")
    (run.parent / "elsewhere").symlink_to(tmp_path)
    for place in (served.results, run.parent, run.parent / "no run", run / "deeper"):
        place.mkdir(exist_ok=True)
        (place / "game.mp4").write_bytes(FILM)
    (run / os.fsdecode(b"\xff.mp4")).write_bytes(FILM)

    for film in ("Pong/run-0/game.mp4", "Pong/game.mp4", "Pong/run-0/%FF.mp4"):
        assert served.get(f"/recorded/{film}") == 200, film
    for film in (
        *("game.mp4", "Pong/no%20run/game.mp4", "Pong/run-0/deeper/game.mp4", "Pong/run-0/config.json", "Pong/x.mp4"),
        *("Pong/run-0/link.mp4", "Pong/run-0/inner.mp4", "Pong/run-0/directory.mp4", "Pong/run-0/pipe.mp4"),
        *("Pong/elsewhere/secret.mp4", "Pong/run-0/%00.mp4", "%2e%2e/x.mp4", "Pong/../game.mp4", "%2fetc/x.mp4"),
        *("Pong/run-0/../../game.mp4", "a" * 300 + ".mp4"),
    ):
        assert served.get(f"/recorded/{film}") == 404, film


def test_parts_of_a_film(served):
    address = f"http://localhost:{served.port}/recorded/Pong/run-0/game.mp4"
    for asked, part in {
        "bytes=256-": FILM[256:], "bytes=-7": FILM[-7:], f"bytes=9-{10**30}": FILM[9:], "bytes=5-9": FILM[5:10],
        "": FILM, "lines=1-2": FILM, "bytes=x": FILM, "bytes=0-1,5-6": FILM,
    }.items():  # fmt: skip
        request = urllib.request.Request(address, headers={"Range": asked})
        with urllib.request.urlopen(request, timeout=program.HANG_SECONDS) as answer:
            assert answer.read() == part, asked
            assert (answer.status, "Content-Range" in answer.headers) == ((200, False) if part is FILM else (206, True))
    for asked in (f"bytes={len(FILM)}-", "bytes=9-5"):
        assert served.get("/recorded/Pong/run-0/game.mp4", f"Range: {asked}") in (200, 416), asked


def test_a_port_that_is_taken(served):
    ended = program.run("dashboard", "--port", served.port, "--results", served.results)
    assert ended.returncode == 2
    assert "Name another one" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_both_localhosts(served, tmp_path):
    with socket.create_connection(("::1", served.port), program.HANG_SECONDS) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"200"
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as other:  # a browser would find it at localhost
        ended = program.run("dashboard", "--port", other.getsockname()[1], "--results", tmp_path)
    assert ended.returncode == 2
    assert "Name another one" in ended.stderr


BODIES = [b"", b"{", b"null", b"[]", b"5", b'"x"', b"{}", b"\xff\xfe", b"NaN", b"9" * 5000, b"[" * 100_000]
BODIES += [b"[" * 900 + b"]" * 900, b'{"output": "nothing.figure"}', b'{"output": ["runs.options"]}', b'"\\ud800"']
BODIES += [b'{"a":' * 50_000]
KINDS = ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "\xff"]
ADDRESSES = ["/%", "/%zz", "/%ff", "/%00", "//elsewhere", "*", "http://elsewhere/", "/?%ff=%00&run=%", "/a b", "/\xff"]
ADDRESSES += ["/recorded/", "/recorded/%00.mp4", "/assets/%2e%2e/x", "/assets/%00", "/_dash-component-suites/x/y"]
ADDRESSES += ["/_dash-component-suites/dash/../x", "/_dash-component-suites/dash/%00", "/a" * 10_000]
LINES = ["GARBAGE", "GET", "GET  HTTP/1.1", "GET / HTTP/x", "\x16\x03\x01", "GET / HTTP/1.1\r\nHost : localhost"]
HEADERS = ["Content-Length: -1", "Content-Length: x", "Content-Length: 5\r\nContent-Length: 6", "Range: bytes=\xff"]
HEADERS += ["Cookie: \xff=;;=", "If-Modified-Since: x", 'If-None-Match: "', "Accept-Language: \xff;q=x", "X: \x01"]
HEADERS += ["Transfer-Encoding: chunked", "Transfer-Encoding: x", "Expect: 100-continue", "X-Forwarded-Host: x", ": x"]


def test_malformed_requests(served):
    """Each is answered, none with a traceback."""
    body = next(served.client().bodies())
    assert served.post(body) == 200
    for bad in BODIES:
        assert served.post(bad) == 400, bad[:40]
    assert served.post(b" " * 1_000_000) in (413, 0)
    for kind in KINDS:
        assert served.post(body, kind) == 415, kind
    for method in ("PUT", "DELETE", "PATCH", "NONSENSE"):
        request = f"{method} {CALLBACKS} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        assert served.status(request.encode()) == 405
    for address in ADDRESSES:
        assert served.get(address) in (200, 400, 404, 431, 0), address[:40]
    for line in LINES:
        assert served.status(f"{line}\r\n\r\n".encode("latin-1")) in (400, 403, 0), line
    for header in HEADERS:
        assert served.get("/", header) in (100, 200, 400, 501, 0), header
    assert served.post(body, "application/json\r\nRange: bytes=x") == 200
    assert served.get("/", "X: " + "x" * 100_000) in (431, 0)
    assert not served.complaints()
    assert served.post(body) == 200


VALUES = [None, True, -1, 0, 1e400, 10**30, "", "x", "..", "\ud800", "\x00", "x" * 9000, [], [[]], {}, {"a": []}]
VALUES += [["x"], [None], [3], {"id": "runs"}, {"id": {"number": "x"}, "property": "figure"}, {"number": {}}, "{", "[]"]


def damaged(body: dict, numbers: random.Random) -> bytes:
    """Some of its parts are others, or missing."""
    body = json.loads(json.dumps(body))
    for _ in range(numbers.choice((1, 1, 1, 2, 5))):
        where, key = body, numbers.choice(["output", "outputs", "inputs", "state", "changedPropIds"])
        while isinstance(where.get(key) if isinstance(where, dict) else where[key], dict | list) and where[key]:
            if numbers.random() < 0.2:
                break
            where = where[key]
            key = numbers.choice(list(where) if isinstance(where, dict) else range(len(where)))
        where[key] = numbers.choice(VALUES)
        if numbers.random() < 0.2:
            del where[key]
    text = json.dumps(body).encode()
    return text[: numbers.randrange(len(text))] if numbers.random() < 0.05 else text


def test_damaged_calls_of_callbacks(served):
    """Always the same; others with another seed."""
    numbers, client = random.Random(1), served.client("Pong/run-0", "Pong/run-1")
    client.update()
    bodies = [client.body(callback) for callback in client.callbacks]
    statuses = []
    for _ in range(200):
        body = damaged(numbers.choice(bodies), numbers)
        statuses.append(client.ask(CALLBACKS, body)[0])
        assert statuses[-1] in (200, 204, 400), body[:1000]
    assert statuses.count(400) > 40
    assert not served.complaints()


def test_an_error_of_our_own_is_no_bad_request(tmp_path):
    """It gets 500, and its traceback stands on the terminal; a wrong request still gets 400."""
    make_runs(tmp_path / "results", runs=1, rows=20)
    bug = "import ga3c.views.dashboard.contents as c; c.label = lambda *_: [][0]"
    served = Served(tmp_path / "results", tmp_path / "complaints", code=bug)
    body = next(body for body in served.client().bodies() if body["output"] == "runs.options")
    assert served.post(json.dumps(body).encode()) == 500
    assert "IndexError" in served.complaints()
    said = served.complaints()
    body["inputs"][1]["value"] = 5  # the filter
    assert served.post(json.dumps(body).encode()) == 400
    assert served.complaints() == said
    served.stop()


def test_clients_that_are_slow_or_silent_keep_nobody_out(tmp_path):
    results = tmp_path / "results"
    make_runs(results, runs=1, rows=20)
    limit = "import ga3c.views.dashboard.serving as s; s.SILENCE_SECONDS = 2.0"
    served = Served(results, tmp_path / "complaints", code=limit)
    half = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"
    opened = [socket.create_connection(("127.0.0.1", served.port), program.HANG_SECONDS) for _ in range(400)]
    for connection in opened:
        connection.sendall(half)
    served.client("Pong/run-0").update()
    assert psutil.Process(served.process.pid).num_threads() < 40
    for connection in opened:
        assert connection.recv(1) == b""  # closed
    deadline = time.monotonic() + program.HANG_SECONDS
    trickle = socket.create_connection(("127.0.0.1", served.port), program.HANG_SECONDS)
    with contextlib.suppress(ConnectionError):
        trickle.sendall(half)
        while time.monotonic() < deadline:
            trickle.sendall(b"x")  # a byte now and then is no sign of life
            time.sleep(0.1)
    assert time.monotonic() < deadline
    assert served.stop() == 0
    assert not served.complaints()


def rubbish(results) -> list[str]:
    """A run for each way in which its files can be bad: their names below the results."""
    (good,) = make_runs(results, runs=1, rows=20)
    config = (results / good / "config.json").read_text()
    header = ",".join(THROUGHPUT_COLUMNS)
    nested = "[" * 100_000
    bad = {
        "empty": {"config.json": ""},
        "nested": {"config.json": '{"settings":' + nested},
        "types": {"config.json": json.dumps({"settings": {key: [] for key in json.loads(config)["settings"]}})},
        "list": {"config.json": "[]"},
        "bytes": {"config.json": b"\xff\xfe\0" * 1000},
        "endless": {"config.json": "9" * 10_000},
        "rubbish": {"throughput.csv": bytes(range(256)) * 99, "episodes.csv": b"\0" * 9999, "controller.csv": b"\xff"},
        "numbers": {
            "throughput.csv": "\n".join([header, *(",".join([cell] * len(THROUGHPUT_COLUMNS))
                                         for cell in ("1e308", "-1e308", "inf", "nan", "9" * 400, "1"))]) + "\n",
            "episodes.csv": "\n".join([",".join(EPISODE_COLUMNS), "1e308,1e308,-1e308,1,1", "inf,nan,inf,1,1"]) + "\n",
            "controller.csv": ",".join(DECISION_COLUMNS) + "\n" + ",".join(["1e308"] * len(DECISION_COLUMNS)) + "\n",
        },
        "columns": {"throughput.csv": ",".join([header, *(f"n{index}" for index in range(5000))]) + "\n"},
        "names": {"throughput.csv": ",".join([header, "<b>", "", "a.b", "{", "x" * 9999, "\x1b"]) + "\n"},
        "lock": {".lock": nested, "evaluation.json": nested, "learning-curve.csv": "x"},
    }  # fmt: skip
    for name, files in bad.items():
        run = results / "Pong" / name
        run.mkdir()
        (run / "config.json").write_text(config)
        for file, content in files.items():
            (run / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name in ("config.json", "throughput.csv", "episodes.csv", "controller.csv", ".lock", "game.mp4"):
        run = results / "Pong" / f"pipe {name}"
        run.mkdir()
        if name != "config.json":
            (run / "config.json").write_text(config)
        os.mkfifo(run / name)
        directory = results / "Pong" / f"directory {name}"
        (directory / name).mkdir(parents=True)
        if name != "config.json":
            (directory / "config.json").write_text(config)
    for name in ODD_NAMES:
        run = results / "Pong" / os.fsdecode(name)
        run.mkdir()
        (run / "config.json").write_text(config)
        (run / "game.mp4").write_bytes(FILM)
    return [str(run.relative_to(results)) for run in (results / "Pong").iterdir()]


ODD_NAMES = [b"a\nb", b"\x1b[31mred", b"<script>document.title='hacked'<", b"m$\\frac$", b"\xff\xfe", b"x" * 200, b"_"]
ODD_NAMES += ["é\u202e💥".encode(), b"&lt;", b"{{ 1 }}", b"?run=x&y#z %41", b"..."]


def test_a_bad_run_is_one_line_in_the_list(tmp_path):
    names = rubbish(tmp_path / "results")
    served = Served(tmp_path / "results", tmp_path / "complaints")
    client = served.client(*(name for name in names if name != "Pong/columns"))
    client.update()
    listed = {option["value"]: option["label"] for option in client.values["runs.options"]}
    assert set(listed) == set(names)
    for name in ("empty", "nested", "types", "list", "bytes", "endless"):
        assert listed[f"Pong/{name}"] == f"Pong\n{name}: cannot be read"
    assert all(text.isprintable() for label in listed.values() for text in label.split("\n"))
    assert "run-0" in str(client.values["numbers.children"])
    for name in ("numbers", "names", "columns", "rubbish"):  # each alone beside one that is good
        client.values["runs.value"] = [f"Pong/{name}", "Pong/run-0"]
        client.update()
        assert "run-0" in str(client.values["numbers.children"])
        assert len(client.charts) == MOST_NUMBERS if name == "columns" else {"number": "loss"} in client.charts
    for name in map(os.fsdecode, ODD_NAMES):
        client.values["runs.value"] = [f"Pong/{name}"]
        client.tick(next(body for body in client.bodies() if "film.children" in body["output"]))
        film = client.values["film.children"][0]["props"]["src"]
        assert served.get(film) == 200, film
    assert served.stop() == 0
    assert not served.complaints()


SLOW = """
import threading
from ga3c.views.dashboard import shown_runs as runs
runs.PATIENCE_SECONDS = 0.5
View = runs.RunView
def slow(run, **options):
    if run.name.startswith("slow"):
        threading.Event().wait()
    return View(run, **options)
runs.RunView = slow
"""


def test_files_that_hang_hold_up_nobody_else(tmp_path):
    """More of them than there are threads that answer."""
    results = tmp_path / "results"
    make_runs(results, runs=2, rows=20)
    config = (results / "Pong" / "run-0" / "config.json").read_text()
    slow = [results / "Pong" / f"slow {index}" for index in range(3 * serving.THREADS)]
    for run in slow:
        run.mkdir()
        (run / "config.json").write_text(config)
    served = Served(results, tmp_path / "complaints", code=SLOW)
    for _ in range(2):
        client = served.client(*(f"Pong/{run.name}" for run in slow), "Pong/run-1")
        client.update()
        assert [line["name"] for line in client.values["tps.figure"]["data"] if "name" in line][:1] == ["run-1"]
    labels = {option["value"]: option["label"] for option in client.values["runs.options"]}
    assert labels["Pong/slow 0"] == "Pong\nslow 0: is being read"
    assert served.stop() == 0
    assert not served.complaints()


def test_slow_lists_of_recorded_games_are_waited_for_together(tmp_path, monkeypatch):
    names = make_runs(tmp_path, runs=3, rows=1)
    monkeypatch.setattr(runs, "PATIENCE_SECONDS", 20.0)
    together = threading.Barrier(len(names))

    def of_run(_, run):
        together.wait(program.HANG_SECONDS)
        return ((run.name, 1.0),)

    monkeypatch.setattr(runs.films, "of_run", of_run)
    assert len(runs.Runs(tmp_path).films(names)) == len(names)


def test_a_run_that_comes_changes_and_goes(served):
    run = served.results / "Pong" / "third"
    client, name = served.client("Pong/third"), "Pong/third"

    def seen(condition) -> None:
        deadline = time.monotonic() + program.HANG_SECONDS
        while not condition({option["value"]: option["label"] for option in client.values["runs.options"]}):
            assert time.monotonic() < deadline
            client.update()

    client.update()
    config = json.loads((served.results / "Pong" / "run-0" / "config.json").read_text())
    run.mkdir()
    (run / "config.json").write_text(json.dumps(config))
    seen(lambda labels: "third, ended" in labels.get(name, ""))
    config["settings"]["run"]["name"] = "renamed"
    (run / "config.json").write_text(json.dumps(config))
    seen(lambda labels: "renamed, ended" in labels[name])
    (run / "config.json").write_text("{")
    seen(lambda labels: "cannot be read" in labels[name])
    assert client.values["drawn.data"] == ""
    (run / "config.json").unlink()
    seen(lambda labels: name not in labels)


def test_what_has_not_changed_is_not_sent_again(served):
    client = served.client("Pong/run-0")
    client.update()
    drawn = {output: client.values[output] for output in ("drawn.data", "numbers-drawn.data")}
    for output in drawn:
        body = next(body for body in client.bodies() if output in body["output"])
        assert client.ask(CALLBACKS, json.dumps(body).encode()) == (204, b"")
    with (served.results / "Pong" / "run-0" / "throughput.csv").open("a") as log:
        log.write(",".join("300" for _ in client.charts) + "," + ",".join("300" for _ in THROUGHPUT_COLUMNS) + "\n")
    deadline = time.monotonic() + program.HANG_SECONDS
    while any(client.values[output] == before for output, before in drawn.items()):
        assert time.monotonic() < deadline
        client.update()


def test_text_in_charts_is_no_html(served):
    """Plotly would take it for that."""
    evil = '<a href="javascript:alert(1)">x</a>'
    view = charts.RunView(served.results / "Pong" / "run-0")
    view.decisions.add({"seconds": 1.0, "kept": 1.0, "reason": evil})
    for name in (*charts.CHARTS, evil):
        for views in ({evil: view}, {evil: view, "beside it": view}):
            text = repr(charts.figure_of(name, views).to_plotly_json())  # its to_json would write < in another way
            assert "<a" not in text
        assert "&lt;a" in text
