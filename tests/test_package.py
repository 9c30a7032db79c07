"""The program as a package: what the wheel holds, what it needs, and the installed command in another folder."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import ga3c
from tests import program
from tests.program import ROOT

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

COMMAND = (
    "import sys; from importlib.metadata import entry_points as found; sys.exit([*found(name='ga3c')][0].load()())"
)
IN_TURN = r"# What \w+ needs? in turn"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy: a build leaves files beside what it builds."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "ga3c", source / "ga3c", ignore=shutil.ignore_patterns("__pycache__"))
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(out)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    return next(out.glob("ga3c-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A Python that finds the wheel's content, and all other packages where they are installed already."""
    place = tmp_path_factory.mktemp("installed")
    venv.create(place, symlinks=True)
    (site,) = place.glob("lib/python3*/site-packages")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    others = next(path for path in map(Path, sys.path) if path.name == "site-packages")
    (site / "others.pth").write_text(f"{others}\n")
    return place / "bin" / "python", site / "ga3c"


def run(python, folder, *words, code=COMMAND):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}
    command = [str(python), "-c", code, *map(str, words)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=program.HANG_SECONDS
    )


def test_the_wheel_holds_all_that_the_program_reads(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    tracked = subprocess.run(["git", "ls-files", "ga3c"], cwd=ROOT, capture_output=True, text=True, check=False)
    files = tracked.stdout.split() or [str(file.relative_to(ROOT)) for file in (ROOT / "ga3c").rglob("*.py")]
    assert set(files) - {"ga3c/pretrained"} <= names
    for agent in (ROOT / "results" / "pretrained").glob("*/checkpoints/*.npz"):
        assert f"ga3c/pretrained/{agent.relative_to(ROOT / 'results' / 'pretrained')}" in names
    assert not [name for name in names if not name.startswith(("ga3c/", f"ga3c-{ga3c.__version__}.dist-info/"))]


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_metadata_is_that_of_the_project(wheel):
    with zipfile.ZipFile(wheel) as packed:
        found = metadata.PathDistribution(zipfile.Path(packed, f"ga3c-{ga3c.__version__}.dist-info/"))
        assert found.metadata["Version"] == ga3c.__version__
        assert set(found.metadata.get_all("Provides-Extra")) == set(project()["optional-dependencies"])
        (command,) = found.entry_points
        assert (command.name, command.value) == ("ga3c", "ga3c.__main__:command")


def pins(*lists: str) -> dict[str, str]:
    """The packages that these lists name, without what those need in turn, and their versions."""
    texts = [re.split(IN_TURN, (ROOT / name).read_text())[0] for name in lists]
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", "\n".join(texts), re.MULTILINE))


def test_requirements_and_project_are_one_list():
    extras, own = project()["optional-dependencies"], pins("requirements.txt")
    of_extras = [*extras["control"], *extras["dashboard"]]  # ./run.sh installs these, too
    for asked, pinned in (
        ([*project()["dependencies"], *of_extras], own),
        (extras["cluster"], pins("ga3c/cluster/requirements.txt")),
        (extras["tune"], pins("ga3c/experiments/search/requirements.txt")),
        (extras["track"], pins("ga3c/tracking/requirements.txt")),
        (extras["export"], pins("ga3c/exports/requirements.txt")),
        (extras["players"], pins("ga3c/environments/requirements.txt")),
        (extras["cuda"], pins("ga3c/emulator/cuda/requirements.txt") | {"tensorflow": own["tensorflow"]}),
    ):
        requirements = {one.name: str(one.specifier) for one in map(Requirement, asked)}
        assert requirements == {name: f"~={version}" for name, version in pinned.items()}


def test_an_installed_program_trains_and_plays_in_another_folder(installed, tmp_path):
    python, package = installed
    before = set(package.rglob("*"))
    small = ["--agents", 1, "--envs-per-agent", 4, "--plot-seconds", 0]
    trained = run(python, tmp_path, "train", "--game", "CartPole-v1", "--steps", 2000, "--name", "first", *small)
    assert trained.returncode == 0, trained.stderr
    assert "\nga3c --resume results/CartPole-v1/first\n" in trained.stdout
    assert "\nga3c play results/CartPole-v1/first\n" in trained.stdout
    assert (tmp_path / "results" / "CartPole-v1" / "first" / "config.json").exists()
    played = run(python, tmp_path, "play", "--record", "game.gif")
    assert (played.returncode, (tmp_path / "game.gif").exists()) == (0, True), played.stderr
    script = "import ga3c; run = ga3c.Run('results/CartPole-v1/first'); print(run.mean > 0, ga3c.load(run).game)"
    assert run(python, tmp_path, code=script).stdout == "True CartPole-v1\n"
    script = "from ga3c.records import chosen_runs; print(chosen_runs.trained('Pong'))"  # it comes along
    assert run(python, tmp_path, code=script).stdout == f"{package / 'pretrained' / 'Pong'}\n"
    looked_after = run(python, tmp_path, "doctor", "--no-measure")
    assert looked_after.stdout.startswith("ok  Python"), looked_after.stderr
    refused = run(python, tmp_path, "watch", "--game", "Boxing")
    assert (refused.returncode, "Train one: ga3c --game Boxing" in refused.stderr) == (2, True)
    assert {path for path in package.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"} <= before


def test_machine_code_of_an_installed_emulator_is_the_users(installed, tmp_path):
    code = "from ga3c.emulator import step; print(step._frame._cache.cache_path)"
    shown = run(installed[0], tmp_path, code=code)
    assert Path(shown.stdout.strip()).is_relative_to(tmp_path / "cache" / "ga3c"), shown.stderr
