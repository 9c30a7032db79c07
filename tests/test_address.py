"""What may listen where a cluster is said to be: real sockets."""

import socket
import threading

import pytest

from ga3c.errors import ConfigError

pytest.importorskip("ray", reason="run tests/run.sh, which installs Ray")

from ray._private import services

from ga3c.cluster import address, connection

OWN = "127.0.0.2"  # what Ray makes of this machine's own name, here


@pytest.fixture(autouse=True)
def own_address(monkeypatch):
    monkeypatch.setattr(services, "get_node_ip_address", lambda: OWN)
    monkeypatch.setattr(address, "ANSWER_SECONDS", 1.0)


@pytest.fixture
def listening():
    """Starts one that says the bytes, if any, to each who comes, on an address of this machine; returns its port."""
    opened = []

    def listen(host, answer=b""):
        server = socket.create_server((host, 0))
        opened.append(server)
        threading.Thread(target=serve, args=(server, answer), daemon=True).start()
        return server.getsockname()[1]

    def serve(server, answer):
        while True:
            try:
                line = server.accept()[0]
            except OSError:  # it was closed
                return
            opened.append(line)
            line.sendall(answer)

    yield listen
    for one in opened:
        one.close()


NOT_RAY = [(b"", "nothing at {} answers within"), (b"HTTP/1.0 400 Bad Request\r\n", "what listens at {} is not Ray")]


@pytest.mark.parametrize(("answer", "said"), NOT_RAY)
def test_who_does_not_speak_as_ray_does_is_refused_in_one_line(listening, answer, said):
    port = listening(OWN, answer)
    with pytest.raises(ConfigError) as refused:
        connection.join(f"localhost:{port}", 1)
    assert said.format(f"{OWN}:{port}") in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_address_that_ray_uses_is_asked_and_joined(listening):
    settings = bytes([0, 0, 0, address.SETTINGS, 0, 0, 0, 0, 0])
    port = listening(OWN, settings)
    assert address.checked(f"127.0.0.1:{port}") == f"{OWN}:{port}"
    elsewhere = listening("127.0.0.1", settings)
    with pytest.raises(ConfigError, match=f"nothing answers at {OWN}:{elsewhere}"):
        address.checked(f"127.0.0.1:{elsewhere}")


@pytest.mark.parametrize("where", ["nonsense", "ray://localhost:10001", "localhost:x", "localhost:99999", ":6379"])
def test_what_is_no_address_is_refused(where):
    with pytest.raises(ConfigError, match=r"Cannot join --cluster .* Give "):
        address.checked(where)


def test_auto_takes_what_the_environment_says(listening, monkeypatch):
    port = listening(OWN)
    monkeypatch.setenv("RAY_ADDRESS", f"localhost:{port}")
    with pytest.raises(ConfigError, match=f"nothing at {OWN}:{port} answers"):
        address.checked("auto")
