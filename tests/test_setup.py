"""The set-up of run.sh, with real processes; only the installer is a stand-in that notes what it is given."""

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from tests.program import HANG_SECONDS
from tests.variants import long

ROOT = Path(__file__).resolve().parent.parent
PYTHON = Path(sys.executable).resolve()
BOTH = ("bash", "-c", 'set -eu; source "a copy/.setup.sh"; setup requirements.txt tests/requirements.txt')
ABSENT = "#!/bin/sh\nexit 1\n"
UV = f"""#!/usr/bin/env bash
set -eu
last=${{*: -1}}
flags=$(printf '%s\n' "$@" | grep -e '^--' | sort | uniq -d) || true
if [[ $flags ]]; then echo "$flags cannot be used multiple times"; exit 2; fi # as uv has it
case " $* " in
*" venv "*) mkdir -p "$last/bin" "$last/lib/python3/site-packages" && ln -s "{PYTHON}" "$last/bin/python" ;;
*" install "*)
    grep -v '^#' "$last" >>installed
    for name in $(sed -n 's/^\\([a-z]*\\).*==.*/\\1/p' "$last"); do
        package=${{last%/*}}/lib/python3/site-packages/$name
        if [[ -d $package-1.dist-info && " $* " != *" --reinstall "* ]]; then continue; fi
        mkdir -p "$package" "$package-1.dist-info"
        echo "$name/__init__.py,," >"$package-1.dist-info/RECORD"
    done
    eval "${{UV_DOES:-}}"
    ;;
esac
"""


def write(name, text):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)
    Path(name).chmod(0o755)


@pytest.fixture(autouse=True)
def a_copy(tmp_path, monkeypatch):
    """The scripts, in a folder with a space in its name, around a program that shows its arguments."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    for name in ["PYTHON", *(name for name in os.environ if name.startswith("UV_"))]:
        monkeypatch.delenv(name, raising=False)
    for name in ("run.sh", "play.sh", ".setup.sh", ".setup/python.py", ".setup/progress.sh", ".setup/fetch.sh"):
        write(f"a copy/{name}", (ROOT / name).read_text())
    write("a copy/requirements.txt", "tensorflow==1\n")
    write("a copy/.requirements.lock", "")
    write("a copy/tests/requirements.txt", "pytest==1\n")
    write("a copy/ga3c/__init__.py", "")
    write("a copy/ga3c/__main__.py", "import os, sys; print(sys.argv[1:], os.getcwd())")
    write("bin/uv", UV)
    write("bin/nvidia-smi", ABSENT)


def start(*command, **env):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = command or ("a copy/run.sh",)
    return subprocess.Popen(command, env={**os.environ, **env}, start_new_session=True, **streams)


def run(*command, **env):
    process = start(*command, **env)
    output, errors = process.communicate()
    return process.returncode, output, errors


def wait_for(name):
    deadline = time.monotonic() + HANG_SECONDS
    while not Path(name).exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def start_up_to_the_installer():
    process = start(UV_DOES='echo $$ >"${last%/*}/half"; until [ -e go-on ]; do sleep 0.05; done')
    wait_for("a copy/.venv/half")
    return process


def installed():
    return Path("installed").read_text().split()


@pytest.mark.parametrize(
    ("flags", "installs"),
    [
        (["--track", "wandb"], True),
        (["--track=mlflow", "--seed", "1"], True),
        (["Pong", "--track", "tensorboard", "mlflow"], True),
        (["--name", "wandb", "--track", "tensorboard"], False),
        (["wandb", "--track"], False),
    ],
)
def test_trackers_are_installed_where_they_are_asked_for(flags, installs):
    write("a copy/ga3c/tracking/requirements.txt", "wandb==1\n")
    assert run("a copy/run.sh", *flags)[0] == 0
    assert installed() == ["tensorflow==1", "wandb==1"][: 1 + installs]


def test_only_the_first_start_installs():
    assert run("a copy/run.sh", "-x")[:2] == (0, f"['-x'] {Path.cwd()}\n")
    assert run("a copy/play.sh", "-x")[:2] == (0, f"['play', '-x'] {Path.cwd()}\n")
    assert installed() == ["tensorflow==1"]


def test_any_name_of_the_folder_and_the_home_of_another_python_will_do():
    place = Path("it's\n$HOME \\ [ü]").resolve()
    Path("a copy").rename(place)
    assert [run(f"{place}/run.sh", PYTHONHOME="/nowhere")[0] for _ in range(2)] == [0, 0]
    assert installed() == ["tensorflow==1"]


def test_a_changed_list_goes_into_the_same_venv_and_a_moved_copy_gets_its_own():
    run()
    write("a copy/.venv/kept", "")
    write("a copy/requirements.txt", "tensorflow==2\n")
    assert run()[0] == 0
    assert Path("a copy/.venv/kept").exists()
    Path("a copy").rename("moved")
    assert run("moved/run.sh")[0] == 0
    assert not Path("moved/.venv/kept").exists()
    assert installed() == ["tensorflow==1", "tensorflow==2", "tensorflow==2"]


def test_run_and_tests_leave_each_other_alone():
    assert [run(*command)[0] for command in [(), BOTH, (), BOTH]] == [0, 0, 0, 0]
    assert installed() == ["tensorflow==1", "pytest==1"]


@pytest.mark.parametrize("lives_on", [True, False], ids=["installer_lives_on", "all_killed"])
def test_after_a_kill_the_next_start_begins_anew(lives_on):
    os.killpg(start_up_to_the_installer().pid, signal.SIGKILL)
    if not lives_on:
        os.killpg(os.getpgid(int(Path("a copy/.venv/half").read_text())), signal.SIGKILL)
    following, said = start(), ""
    while lives_on and "waiting" not in said:
        said += following.stderr.readline()
    write("go-on", "")
    following.communicate()
    assert (following.returncode, len(installed())) == (0, 2)
    assert not Path("a copy/.venv/half").exists()


def test_interrupt_and_failure_are_said_and_mended():
    process = start_up_to_the_installer()
    os.killpg(process.pid, signal.SIGINT)
    assert "interrupted" in process.communicate()[1].splitlines()[-1]
    status, _, errors = run(UV_DOES="false")
    assert (process.returncode, status, "failed" in errors.splitlines()[-1]) == (130, 1, True)
    assert (run()[0], len(installed())) == (0, 3)


INTERRUPTED = "GA3C: interrupted; the next start sets up again."


def failed(copy):
    log = f"{Path(copy).resolve()}/.venv.log"
    return f"GA3C: the set-up failed, for the reason above; {log} has the rest. The next start tries again."


IN_PYTHON = """
import pathlib, subprocess, sys
child = subprocess.Popen(["sleep", "100000"])
pathlib.Path("half").touch()
child.wait()
"""
INTERRUPTS = [(os.killpg, signal.SIGINT, 130), long(os.killpg, signal.SIGHUP, 129), long(os.kill, signal.SIGTERM, 143)]


@pytest.mark.parametrize(("kill", "number", "status"), INTERRUPTS, ids=["ctrl_c", "terminal_closed", "kill"])
def test_an_interrupt_ends_the_installer_and_all_it_started_in_one_line(kill, number, status):
    write("installer.py", IN_PYTHON)
    process = start(UV_DOES=f'exec "{PYTHON}" installer.py')
    wait_for("half")
    kill(process.pid, number)
    errors = process.communicate(timeout=HANG_SECONDS)[1]  # until the last that could write there has ended
    assert (process.returncode, errors.splitlines()[2:]) == (status, [INTERRUPTED])


def test_an_interrupt_while_python_makes_the_venv_is_said_in_one_line():
    pytest.importorskip("ensurepip")
    write("bin/uv", ABSENT)
    process = start(PYTHON=str(PYTHON))
    wait_for("a copy/.venv/bin/python")
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate()[1]
    assert (process.returncode, errors.splitlines()[2:]) == (130, [INTERRUPTED])


def test_the_benchmarks_are_interrupted_in_one_line_too():
    for name in ("run.sh", "requirements.txt"):
        write(f"a copy/tests/benchmarks/{name}", (ROOT / "tests/benchmarks" / name).read_text())
    write("installer.py", IN_PYTHON)
    run()
    process = start("a copy/tests/benchmarks/run.sh", UV_DOES=f'exec "{PYTHON}" installer.py')
    wait_for("half")
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=HANG_SECONDS)[1]
    assert (process.returncode, errors.splitlines()[2:]) == (130, [INTERRUPTED])


def on_a_terminal(uv_does):
    """How a start ends there, and what it shows."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["UV_DOES"] = uv_does
        os.execv("a copy/run.sh", ["run.sh"])
    said = b""
    with contextlib.suppress(OSError):  # Linux says so where the other side has closed
        while more := os.read(terminal, 1000):
            said += more
    return os.waitpid(pid, 0)[1], said.decode()


def test_an_installer_that_uses_the_terminal_is_not_stopped():
    """As pip might, to ask for a password: it gets an error and does not hang."""
    status, said = on_a_terminal("stty tostop; echo typed; read -r line </dev/tty || echo refused")
    assert status == 0, said
    assert re.fullmatch("typed\n.*\nrefused\n", Path("a copy/.venv.log").read_text())


def test_where_nobody_may_write_one_line_says_so():
    Path("a copy").chmod(0o500)
    if os.access("a copy", os.W_OK):  # root, whom no mode keeps out
        Path("a copy/.venv.lock").mkdir()
    said = "GA3C: cannot write .venv or .venv.lock in {}/a copy: copy the program to a place of your own.\n"
    assert run() == (2, "", said.format(Path.cwd()))


def test_a_deleted_package_is_put_in_place_again():
    site = Path("a copy/.venv/lib/python3/site-packages")
    one, all_lines = ["--find-links x", "numpy==1"], ["--find-links x", "numpy==1", "tensorflow==1"]
    write("a copy/requirements.txt", "--find-links x\nnumpy==1 # this\ntensorflow==1\n")
    for gone, expected in (("numpy", all_lines + one), ("numpy-1.dist-info", all_lines)):
        run()
        Path("installed").write_text("")
        shutil.rmtree(site / gone)
        assert run()[0] == 0
        assert (site / gone).exists()
        assert Path("installed").read_text().splitlines() == expected
    write(site / "more", "")
    stamp = Path("a copy/.venv/requirements.txt")
    assert [run()[0], stamp.stat().st_mtime >= site.stat().st_mtime] == [0, True]
    assert Path("installed").read_text().splitlines() == all_lines


HASHES = """tensorflow==1 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
cuda==1 \\
    --hash=sha256:cc
"""


@pytest.mark.skipif(sys.platform != "linux", reason="CUDA is for Linux")
def test_what_is_installed_is_held_against_its_hashes():
    write("bin/nvidia-smi", "#!/bin/sh\n")
    write("a copy/.requirements.lock", HASHES)
    write("a copy/requirements.txt", "tensorflow==1  # that\n#cuda cuda==1\nnumpy==1\n")
    run(UV_DOES='echo "$*" >asked')
    assert "--require-hashes" in Path("asked").read_text()  # so numpy is refused
    assert Path("installed").read_text().splitlines() == [
        "tensorflow[and-cuda]==1 --hash=sha256:aa --hash=sha256:bb",
        "cuda==1 --hash=sha256:cc",
        "numpy==1",
    ]


def test_without_a_lock_nothing_is_installed():
    Path("a copy/.requirements.lock").unlink()
    assert (run()[0], Path("installed").exists()) == (1, False)


def test_each_pinned_package_has_hashes():
    """requirements.txt says how .requirements.lock is made."""
    rooms = "cluster", "emulator/cuda", "environments", "experiments/search", "exports", "tracking"
    folders = "", "tests", *(f"ga3c/{room}" for room in rooms)
    lists = [(ROOT / folder / "requirements.txt").read_text() for folder in folders]
    pinned = {
        "".join(one) for one in re.findall(r"^(?:#\w+ )?([\w.-]+)(?:\[.*\])?(==\S+)", "\n".join(lists), re.MULTILINE)
    }
    lock = (ROOT / ".requirements.lock").read_text()
    assert sorted(re.findall(r"^(\S+==\S+)(?: ;.*)? \\\n +--hash=sha256:[0-9a-f]{64}\b", lock, re.MULTILINE)) == sorted(
        pinned
    )
    assert "://" not in lock


def test_starts_at_the_same_time_install_once():
    processes = [start(UV_DOES="sleep 1") for _ in range(3)]
    waited = ["waiting" in process.communicate()[1] for process in processes]
    assert ([process.returncode for process in processes], sum(waited)) == ([0, 0, 0], 2)
    assert installed() == ["tensorflow==1"]


@pytest.mark.skipif(sys.platform != "linux", reason="CUDA is for Linux")
def test_a_gpu_brings_cuda():
    write("a copy/requirements.txt", "--find-links https://torch/cpu/\ntensorflow==1\n")
    for nvidia_smi in (ABSENT, "#!/bin/sh\n", ABSENT):
        write("bin/nvidia-smi", nvidia_smi)
        assert run()[0] == 0
    assert installed() == ["--find-links", "https://torch/cpu/", "tensorflow==1", "tensorflow[and-cuda]==1"]


def test_the_benchmarks_get_a_venv_of_their_own():
    write("a copy/tests/benchmarks/run.sh", (ROOT / "tests/benchmarks/run.sh").read_text())
    write("a copy/tests/benchmarks/requirements.txt", "--find-links https://torch/cpu/\ntorch==1\n")
    write("a copy/tests/benchmarks/compare.py", "import sys; print(sys.argv[1:])")
    assert run("a copy/tests/benchmarks/run.sh", "--python", "x")[:2] == (0, "['--python', 'x']\n")
    assert installed() == ["tensorflow==1"]
    assert [run("a copy/tests/benchmarks/run.sh", "--rounds=1")[:2] for _ in range(2)] == [(0, "['--rounds=1']\n")] * 2
    assert installed() == ["tensorflow==1", "--find-links", "https://torch/cpu/", "torch==1"]
    assert Path("a copy/tests/benchmarks/.venv/bin/python").exists()
    assert (run()[0], len(installed())) == (0, 4)


NO_PYTHON = "no Python 3.10 to 3.13 is found, and none can be fetched"
NAMES = ("python3.13", "python3.12", "python3.11", "python3.10", "python3")


OLD = "sys.version_info = collections.namedtuple('V', 'major minor micro releaselevel serial')(3, 9, 0, 'final', 0)"


def every_python_lies(lie, site=True):
    """All Pythons that are found say something else of themselves than what they are."""
    for name in NAMES:
        code = f"import collections, runpy, sys; {lie}; sys.argv = sys.argv[1:]; "
        code += f"sys.executable = {str(Path.cwd() / 'bin' / name)!r}; "
        code += "runpy.run_path(sys.argv[0], run_name='__main__')"
        write(f"bin/{name}", f'#!/bin/sh\nshift\nexec "{PYTHON}" -I {"" if site else "-S"} -c "{code}" "$@"\n')


UV_SAYS = """
echo 'Resolved 3 packages in 1ms' >&2
echo 'Downloading large (1.5GiB)' >&2
echo 'Downloading small-one (3.2MiB)' >&2
echo ' Downloaded small-one' >&2
echo ' Downloaded large' >&2
echo 'Prepared 3 packages in 9.33s' >&2
echo 'Installed 3 packages in 40ms' >&2
for one in 1 2 3; do echo " + package-$one==1"; done
"""


def test_a_line_for_each_stage_and_the_rest_in_a_log():
    said = [line.removeprefix("GA3C: ") for line in run(UV_DOES=UV_SAYS)[2].splitlines()]
    assert said[2:] == ["downloaded: 3 packages.", "installed: 3 packages.", "requirements.txt is installed."]
    assert Path("a copy/.venv.log").read_text().splitlines() == re.findall(r"echo ['\"](.*)['\"]", UV_SAYS)[:-1] + [
        f" + package-{one}==1" for one in (1, 2, 3)
    ]


def test_on_a_terminal_a_line_changes_to_what_is_done_of_how_much():
    _, said = on_a_terminal(UV_SAYS)
    assert re.findall(r"GA3C: (downloading.*?)\x1b", said) == [
        "downloading: 3 of 1027 MB.",
        "downloading: 1027 of 1027 MB.",
    ]


def test_a_failure_shows_the_end_of_the_log_and_where_it_is():
    status, _, errors = run(UV_DOES="for line in 1 2 3 4 5 6; do echo line $line; done; echo No space left; false")
    assert status == 1
    assert errors.splitlines()[2:] == [*(f"line {line}" for line in (3, 4, 5, 6)), "No space left", failed("a copy")]


LACKS = [(OLD, NO_PYTHON), ("sys.modules['venv'] = None", "no venv module")]


@pytest.mark.parametrize(("lack", "said"), LACKS)
def test_without_a_fitting_python_one_line_says_so(lack, said):
    write("bin/uv", ABSENT)
    every_python_lies(lack)
    status, _, errors = run()
    assert (status, errors.count("\n"), said in errors) == (2, 1, True)


def test_without_any_python_one_line_says_so():
    for name in NAMES:
        write(f"bin/{name}", ABSENT)
    assert run() == (2, "", "GA3C: no Python 3 is found. Install one, or say where it is: PYTHON=/path/to/python3.\n")


def write_wheel(name, files):
    """Returns its SHA-256."""
    with zipfile.ZipFile(f"{name}-1-py3-none-any.whl", "w") as wheel:
        for file, content in files.items():
            wheel.writestr(file, content)
        wheel.writestr(f"{name}-1.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        wheel.writestr(f"{name}-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.dist-info/RECORD", "".join(f"{file},,\n" for file in files))
    return hashlib.sha256(Path(wheel.filename).read_bytes()).hexdigest()


def lock_of(hashes):
    return "".join(f"{name}==1 \\\n    --hash=sha256:{known}\n" for name, known in hashes.items())


def write_index(*names):
    """An index of local files. Returns where it is."""
    for name in names:
        file = f"{name}-1-py3-none-any.whl"
        write(f"simple/{name}/index.html", f'<a href="../../{file}">{file}</a>')
    return Path("simple").resolve().as_uri()


def write_python_to_bring():
    """What uv fetches, as its list of them and an archive. Returns where the list is, and the version."""
    version = "%d.%d" % sys.version_info[:2]  # noqa: UP031
    libc = "gnu" if sys.platform == "linux" else "none"
    arch = {"arm64": "aarch64"}.get(os.uname().machine, os.uname().machine)
    write(f"python/bin/python{version}", f'#!/bin/sh\nexec "{PYTHON}" "$@"\n')
    facts = Path(importlib.util.find_spec(sysconfig._get_sysconfigdata_name()).origin)  # uv looks for them
    write(f"python/lib/python{version}/{facts.name}", facts.read_text())
    with tarfile.open("python.tar.gz", "w:gz") as archive:
        archive.add("python")
    row = {
        "name": "cpython", "arch": {"family": arch, "variant": None}, "os": sys.platform, "libc": libc,
        "major": sys.version_info[0], "minor": sys.version_info[1], "patch": sys.version_info[2], "prerelease": "",
        "url": Path("python.tar.gz").resolve().as_uri(), "sha256": None, "variant": None,
    }  # fmt: skip
    write("pythons.json", json.dumps({"python": row}))
    return str(Path("pythons.json").resolve()), version


@pytest.mark.long
def test_where_the_uv_that_was_fetched_cannot_install_pip_does():
    pytest.importorskip("ensurepip")
    broken = (
        b"""#!/bin/sh\ncase "$*" in *install*) echo no such index; exit 2 ;; *venv*) mkdir "a copy/.venv" ;; esac\n"""
    )
    hashes = {
        "uv": write_wheel("uv", {"uv-1.data/scripts/uv": broken}),
        "thing": write_wheel("thing", {"thing/__init__.py": ""}),
    }
    write("bin/uv", ABSENT)
    write("a copy/requirements.txt", "thing==1\n#setup uv==1\n")
    write("a copy/.requirements.lock", lock_of(hashes))
    ended = run(PYTHON=str(PYTHON), PIP_INDEX_URL=write_index("uv", "thing"), PIP_CONFIG_FILE=os.devnull)
    assert ended[0] == 0, ended
    assert "pip tries" in ended[2]
    assert list(Path("a copy/.venv/lib").glob("*/site-packages/thing"))


@pytest.mark.parametrize("has_pip", [True, long(False)], ids=["pip_is_there", "pip_is_debians_package"])
def test_where_no_python_fits_uv_is_fetched_and_brings_one(has_pip):
    """All of it real, from files: pip, an index, uv, an archive of a Python; but for apt-get, which takes root."""
    ensurepip = pytest.importorskip("ensurepip")
    real_uv = Path(sys.executable).parent / "uv"
    if not real_uv.exists():
        pytest.skip("uv is not installed")
    hashes = {
        "uv": write_wheel("uv", {"uv-1.data/scripts/uv": real_uv.read_bytes()}),
        "thing": write_wheel("thing", {"thing/__init__.py": ""}),
    }
    pythons, version = write_python_to_bring()
    write("bin/uv", ABSENT)
    lie = OLD
    if not has_pip:
        lie += "; sys.modules['ensurepip'] = sys.modules['venv'] = None"
        lie += "; import glob, os; find = glob.glob"
        lie += "; glob.glob = lambda place: [] if place.startswith('/usr') else find(place)"
        pip = next((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
        write("bin/apt-get", '#!/bin/sh\n[ "$*" = "download python3-pip-whl" ] && touch python3-pip-whl_1_all.deb\n')
        unpack = f'mkdir -p "$3/usr/share/python-wheels" && cp "{pip}" "$3/usr/share/python-wheels"'
        write("bin/dpkg-deb", f"#!/bin/sh\n[ -e $2 ] && {unpack}\n")
    every_python_lies(lie, site=has_pip)
    write("a copy/.setup.sh", Path("a copy/.setup.sh").read_text().replace("3.13 3.12 3.11 3.10", version))
    write("a copy/requirements.txt", "thing==1\n#setup uv==1\n")
    write("a copy/.requirements.lock", lock_of(hashes))
    write("a copy/ga3c/__main__.py", "import os; print([name for name in os.environ if name.startswith('UV_')])")
    ended = run(
        PIP_INDEX_URL=write_index("uv", "thing"), PIP_CONFIG_FILE=os.devnull, UV_PYTHON_DOWNLOADS_JSON_URL=pythons
    )
    assert ended[0] == 0, (ended, Path("a copy/.venv.log").read_text())
    assert list(Path("a copy/.venv/lib").glob("*/site-packages/thing"))
    first, second, *_, last = ended[2].splitlines()
    assert "fetching uv" in first
    assert f"uv brings Python {version} (35 MB" in second
    assert last == "GA3C: requirements.txt is installed."
    assert ended[1] == "['UV_PYTHON_DOWNLOADS_JSON_URL']\n"  # what is set for uv alone is gone
    assert run()[:2] == (0, "[]\n")


def test_without_uv_venv_and_pip_do_the_work_whatever_the_locale():
    """And what is not the file that it ought to be is refused."""
    pytest.importorskip("ensurepip")
    run()  # with uv there is no pip in .venv
    write("bin/uv", ABSENT)
    known = write_wheel("thing", {"thing/__init__.py": ""})
    env = {"PYTHON": str(PYTHON), "PYTHONUTF8": "0", "LC_ALL": "C", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "."}
    write("a copy/requirements.txt", "thing==1\n")
    Path("a copy").rename("a cöpy")
    for number, (sha256, status) in enumerate((("0" * 64, 1), (known, 0))):
        write("a cöpy/.requirements.lock", f"thing==1 \\\n    --hash=sha256:{sha256}\n")
        ended = run("a cöpy/run.sh", **env)
        assert ended[0] == status, ended
        assert len(list(Path("a cöpy/.venv/lib").glob("*/site-packages/thing"))) == number
        assert ended[2].splitlines()[-1] == ("GA3C: requirements.txt is installed." if number else failed("a cöpy"))


def test_what_is_pinned_is_there_for_every_python():
    """As each installed package says of itself; pip would find no candidate for another Python."""
    from packaging.specifiers import SpecifierSet

    lists = (ROOT / "tests" / "requirements.txt").read_text()
    later = re.findall(r"^([\w-]+)==\S+ ; python_version >= '3.11'", lists, re.MULTILINE)
    refused = []
    for one in metadata.distributions():
        versions = SpecifierSet(one.metadata["Requires-Python"] or "")
        for version in ("3.10", "3.11", "3.12", "3.13"):
            if not versions.contains(f"{version}.99") and not (version == "3.10" and one.name in later):
                refused.append(f"Python {version}: {one.name}=={one.version}")
    assert not refused


BROKEN = {
    "missing": (
        'raise ModuleNotFoundError("No module named \'tyro\'", name="tyro")',
        r"tyro .*\(No module named 'tyro'\)",
    ),
    "half_missing": ("from numpy import nothing", r"numpy .*\(cannot import name 'nothing' from 'numpy' .*\)"),
    "many_lines": ('raise ImportError("\\n\\nPlease read this.\\n")', r"tyro is missing or damaged"),
}


@pytest.mark.parametrize(("does", "said"), BROKEN.values(), ids=BROKEN)
def test_a_package_that_cannot_be_imported_is_named_with_what_to_do(does, said):
    write("tyro.py", f"{does}\n")
    ended = run(sys.executable, "-c", "import sys; sys.path[:0] = ['.', sys.argv[1]]; "
                "from ga3c.__main__ import main; sys.exit(main(['list']))", str(ROOT))  # fmt: skip
    assert ended[0] == 2
    assert re.fullmatch(rf"ga3c: The package {said}: delete .* and start ./run\.sh again\.\n", ended[2]), ended[2]


def test_where_files_cannot_be_locked_the_set_up_goes_on():
    done = subprocess.run(
        [sys.executable, "-I", ROOT / ".setup" / "python.py", "wait"], capture_output=True, text=True
    )  # there is no open file 9
    assert done.returncode == 0
    assert "no lock here" in done.stderr
