"""The dashboard in a process of its own, and a client that asks what a browser's page asks, without a browser."""

import http.client
import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests import program

CALLBACKS = "/_dash-update-component"
VALUES = {"tick.n_intervals": 0, "filter.value": "", "address.search": ""}  # as the page begins


class Client:
    """One page that somebody has open. Raises AssertionError where something is not answered."""

    def __init__(self, port: int, chosen: list[str], timeout_seconds: float = program.HANG_SECONDS):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_seconds)
        self.values = VALUES | {"runs.value": chosen}
        self.charts: list[dict] = []  # ids of those that the algorithm's numbers have

    def close(self) -> None:
        self._connection.close()

    def ask(self, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Status and content of the answer. `body`: what a callback is sent."""
        headers = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request("GET" if body is None else "POST", path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def _get(self, path: str, body: bytes | None = None) -> bytes:
        status, content = self.ask(path, body)
        assert status in (200, 204), f"{path}: {status}\n{body}\n{content[:2000].decode()}"
        return content

    def open(self) -> None:
        """Everything but the scripts, which a browser keeps."""
        self._get("/")
        self._get("/_dash-layout")
        self.callbacks = json.loads(self._get("/_dash-dependencies"))

    def bodies(self) -> Iterator[dict]:
        """What each callback is asked at a tick, in turn."""
        return (self.body(one) for one in self.callbacks if "tick.n_intervals" in map(_name, one["inputs"]))

    def body(self, callback: dict) -> dict:
        output = callback["output"]
        names = output[2:-2].split("...") if output.startswith("..") else [output]
        outputs = [self._all(_split(name), with_values=False) for name in names]
        return {
            "output": output,
            "outputs": outputs if output.startswith("..") else outputs[0],
            "inputs": [self._all(one) for one in callback["inputs"]],
            "state": [self._all(one) for one in callback["state"]],
            "changedPropIds": [_name(callback["inputs"][0])],
        }

    def _all(self, one: dict, with_values: bool = True):
        """Of the page as it is; a list of the charts where it stands for each of them."""
        if one["id"].startswith("{"):
            return [{"id": chart, "property": one["property"]} for chart in self.charts]
        value = {"value": self.values[_name(one)]} if with_values and _name(one) in self.values else {}
        return {"id": one["id"], "property": one["property"]} | value

    def tick(self, body: dict) -> None:
        """Asks one callback, and keeps what it says in `values`."""
        content = self._get(CALLBACKS, json.dumps(body).encode())
        answer = json.loads(content)["response"] if content else {}
        for component, properties in answer.items():
            self.values |= {f"{component}.{name}": value for name, value in properties.items()}
        self.charts = [{"number": name} for name in self.values.get("reported.data") or []]

    def update(self) -> None:
        """All that a tick brings."""
        for body in self.bodies():
            self.tick(body)


def _name(one: dict) -> str:
    return f"{one['id']}.{one['property']}"


def _split(name: str) -> dict:
    """{"number":["ALL"]}.figure"""
    component, _, prop = name.rpartition(".")
    return {"id": component, "property": prop}


class Served:
    """The dashboard, started; what it complains of goes to a file. `code` runs before it."""

    def __init__(self, results: Path, complaints: Path, code=""):
        self.results, self._complaints = results, complaints
        with complaints.open("w") as file:
            command = program.command("dashboard", "--port", 0, "--results", results, code=code)
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True, cwd=program.ROOT)
        line = self.process.stdout.readline()
        found = re.match(r"http://localhost:(\d+)/", line)
        assert found, complaints.read_text()
        self.port = int(found.group(1))

    def complaints(self) -> str:
        return self._complaints.read_text()

    def client(self, *chosen: str) -> Client:
        client = Client(self.port, list(chosen))
        client.open()
        return client

    def status(self, request: bytes) -> int:
        """Of its answer to these bytes; 0: it closed the connection without one."""
        with socket.create_connection(("127.0.0.1", self.port), program.HANG_SECONDS) as connection:
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.makefile("rb").read()
            except OSError:  # it closed before it had read all
                return 0
        return int(answer.split()[1]) if answer else 0

    def get(self, path: str, *headers: str) -> int:
        host = () if any(header.startswith("Host:") for header in headers) else ("Host: localhost",)
        lines = [f"GET {path} HTTP/1.1", *host, "Connection: close", *headers, "", ""]
        return self.status("\r\n".join(lines).encode("latin-1"))

    def post(self, body, kind="application/json") -> int:
        """A call of a callback."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"POST {CALLBACKS} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n"
        return self.status(f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body)

    def stop(self) -> int:
        """As Ctrl-C does. Returns the exit status."""
        self.process.send_signal(signal.SIGINT)
        with self.process:
            return self.process.wait(program.HANG_SECONDS)
