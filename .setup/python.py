"""What .setup.sh asks of a Python 3 of any version: python3 -I .setup/python.py COMMAND ARGUMENTS."""

import csv
import fcntl
import glob
import io
import os
import pathlib
import re
import runpy
import shutil
import sys
import zipfile
from ast import literal_eval
from contextlib import redirect_stdout

# What uv calls pip's settings, and what stands between several.
UV_SETTINGS = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
}


def fits(*versions):
    """Prints where this Python is. Ends with 3 if it is of none of these versions."""
    print(os.path.realpath(sys.executable))
    return 0 if "%d.%d" % sys.version_info[:2] in versions and sys.maxsize > 2**32 else 3  # noqa: UP031


def has_venv():
    """Ends with 1 if this Python cannot make a .venv with pip, as Debian's cannot without python3-venv."""
    import ensurepip  # noqa: F401
    import venv  # noqa: F401


def wait():
    """Until nobody else holds the lock on the open file 9; then this start holds it."""
    try:
        fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if not isinstance(error, BlockingIOError):
            print(f"GA3C: no lock here ({error.strerror}): do not set up twice at a time.", file=sys.stderr, flush=True)
            return
        print("GA3C: waiting for another start that sets up .venv.", file=sys.stderr, flush=True)
        fcntl.flock(9, fcntl.LOCK_EX)


def lacking(venv, requirements):
    """Prints the lines of a list whose packages are not in site-packages with each file and folder that they put there.

    Both pip and uv go by the .dist-info folder alone.
    """
    there = set()
    for record in pathlib.Path(venv).glob("lib/*/site-packages/*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as rows:
            names = {row[0].split("/")[0] for row in csv.reader(rows) if row} - {"__pycache__"}
        if all((record.parent.parent / name).exists() for name in names):
            there.add(_plain(record.parent.name.split("-")[0]))
    with open(requirements, encoding="utf-8", errors="surrogateescape") as file:
        lines = file.readlines()
    gone = [line for line in lines if line[0].isalnum() and _plain(re.match("[A-Za-z0-9_.-]+", line)[0]) not in there]
    sys.stdout.writelines(gone and [line for line in lines if line[0] == "-"] + gone)


def _plain(name):
    return re.sub("[-_.]+", "-", name).lower()


def pip(folder, *arguments):
    """Runs pip, which need not be installed: a wheel of it comes with most Pythons, or lies below `folder`."""
    os.environ["PIP_REQUIRE_VIRTUALENV"] = "0"  # nothing is installed into this Python
    try:
        import pip  # noqa: F401
    except ImportError:
        sys.path[:0] = _wheels_of_pip(folder)[:1]
    sys.argv[:] = ["pip", *arguments]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


def _wheels_of_pip(folder):
    places = [f"{folder}/usr/share/python-wheels", "/usr/share/python-wheels"]
    try:
        import ensurepip

        places.insert(0, os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"))
    except ImportError:
        pass
    return [wheel for place in places for wheel in glob.glob(f"{glob.escape(place)}/pip-*.whl")]


def settings(folder):
    """Prints pip's settings as uv's, NAME=VALUE, where the environment does not have them."""
    said, found = io.StringIO(), {}
    try:
        with redirect_stdout(said):
            pip(folder, "config", "list")
    except SystemExit:
        pass
    lines = re.findall(r"^(global|install|:env:)\.([\w-]+)=(.+)$", said.getvalue(), re.MULTILINE)
    for section in ("global", "install", ":env:"):  # a later one counts
        found.update({name: literal_eval(value) for of, name, value in lines if of == section})
    for name, (variable, between) in UV_SETTINGS.items():
        if found.get(name) and variable not in os.environ:
            several = [os.path.abspath(one) if os.path.exists(one) else one for one in found[name].split()]
            print(f"{variable}={between.join(several)}")


def unpack(wheel, place):
    """Puts the program `uv` from its wheel there: whole, or not at all."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".data/scripts/uv"))
        with archive.open(name) as packed, open(f"{place}.part", "wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
    os.chmod(f"{place}.part", 0o755)
    os.replace(f"{place}.part", place)


if __name__ == "__main__":
    commands = [fits, has_venv, wait, lacking, pip, settings, unpack]
    sys.exit({command.__name__: command for command in commands}[sys.argv[1]](*sys.argv[2:]))
