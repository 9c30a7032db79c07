# shellcheck shell=bash
# The set-up that run.sh, tests/run.sh and tests/benchmarks/run.sh share: `setup LIST...` makes .venv hold what
# these requirements files list, and sets the environment in which ga3c is found.
#
# The last thing an installation does is to leave a stamp in .venv: a copy of the list that was installed. As
# long as stamp and list agree, a start runs no Python here, needs no network and takes some milliseconds. Only when
# site-packages has changed since, it is looked whether all packages are still there.

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
venv=$root/.venv
site=()           # its site-packages, once is_usable has looked
python=''         # the Python that .venv is made from, once find_python has chosen it
uv=''             # yes where uv is installed; it takes the place of venv and pip
download='0.8 GB' # roughly what an installation without CUDA fetches
hashes=$root/.requirements.lock # of all that may be installed; empty where nothing is held against any

setup() {
    local list
    for list; do
        if is_installed "$list"; then continue; fi
        trap 'interrupted 129' HUP
        trap 'interrupted 130' INT
        trap 'interrupted 143' TERM
        find_python
        lock
        if ! is_installed "$list"; then install "$list"; fi
        unlock
        trap - HUP INT TERM
    done
    export PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH}
    unset PYTHONHOME        # another Python's: this one would not start with it
    export PYTHONSAFEPATH=1 # a random.py in the current directory stays out of the way
}

say() { printf 'GA3C: %s\n' "$1" >&2; }

stop() {
    say "$2"
    exit "$1"
}

# Runs a command in a process group of its own: Ctrl-C, which Python would answer with a traceback, does not reach it
# there, and `interrupted` can end it together with all that it has started. A terminal stops such a group for what it
# asks or sets there; with these two signals ignored, it gets an error at worst and goes on. Without UTF-8, the Pythons
# that venv starts fail in a folder with other letters than ASCII.
aside() {
    set -m
    (trap '' TTIN TTOU && PYTHONUTF8=1 exec "$@") &
    set +m
    wait $!
}

interrupted() {
    local job
    {
        for job in $(jobs -p); do kill -TERM -- "-$job" || true; done # it may just have ended
        wait
    } 2>/dev/null
    stop "$1" 'interrupted; the next start sets up again.'
}

# What LIST asks for, with or without CUDA, headed by the place it is for: a .venv does not survive a move. Pages of
# packages for the CPU alone are not for a machine with a GPU.
wanted() {
    printf '# %s\n' "${venv//$'\n'/ }"
    if [[ $2 == cuda ]]; then
        sed -e 's/^tensorflow==/tensorflow[and-cuda]==/' -e 's/^#cuda //' -e '/^--find-links .*\/cpu\//d' "$root/$1"
    else
        cat "$root/$1"
    fi
}

has_gpu() { [[ $OSTYPE == linux* ]] && command -v nvidia-smi && nvidia-smi -L; } >/dev/null 2>&1

# Whether .venv was once completed, in this place and with the Python that is asked for, if one is.
is_usable() {
    local place
    site=("$venv"/lib/python3*/site-packages)
    [[ -x $venv/bin/python && -r $venv/requirements.txt ]] || return 1
    if [[ ${PYTHON:-} ]]; then
        [[ $venv/bin/python -ef $(type -P "$PYTHON") || $venv/bin/python -ef $python ]] || return 1
    fi
    read -r place <"$venv/requirements.txt" && [[ $place == "# ${venv//$'\n'/ }" ]]
}

# Whether .venv holds all of LIST. With CUDA it serves a machine without a GPU too, so nvidia-smi, which can be
# slow, is only asked when CUDA is not there.
is_installed() {
    local stamp=$venv/${1//\//-}
    is_usable && [[ -r $stamp ]] || return 1
    if [[ $(<"$stamp") != "$(wanted "$1" cuda)" ]]; then
        [[ $(<"$stamp") == "$(wanted "$1" cpu)" ]] && ! has_gpu || return 1
    fi
    [[ ${site[0]} -nt $stamp ]] || return 0
    [[ ! $(lacking "$stamp" 2>&1) ]] || return 1 # what a broken Python says is a reason too
    touch "$stamp" 2>/dev/null || true # where nobody may write, each start looks
}

# The lines of a list whose packages are not in site-packages with each file and folder that they put there. Both pip
# and uv go by the .dist-info folder alone.
lacking() {
    "$venv/bin/python" -I -S -c '
import csv, pathlib, re, sys
def plain(name):
    return re.sub("[-_.]+", "-", name).lower()
there = set()
for record in pathlib.Path(sys.argv[1]).glob("lib/*/site-packages/*.dist-info/RECORD"):
    with record.open(encoding="utf-8", newline="") as rows:
        names = {row[0].split("/")[0] for row in csv.reader(rows) if row} - {"__pycache__"}
    if all((record.parent.parent / name).exists() for name in names):
        there.add(plain(record.parent.name.split("-")[0]))
lines = open(sys.argv[2], encoding="utf-8", errors="surrogateescape").readlines()
lacking = [line for line in lines if line[0].isalnum() and plain(re.match("[A-Za-z0-9_.-]+", line)[0]) not in there]
options = [line for line in lines if line[0] == "-"]
sys.stdout.writelines(lacking and options + lacking)
' "$venv" "$1"
}

install() {
    local stamp=$venv/${1//\//-} kind=cpu size=$download mend=''
    if has_gpu; then kind=cuda size='3.5 GB, CUDA included'; fi

    if is_usable && [[ $uv || -d ${site[0]}/pip ]]; then
        say "installing $1 into .venv."
        if [[ ! -e $stamp ]]; then mend=yes; fi # half a package may lie there: put all in place again
        rm -f "$stamp"
    else
        say "setting up .venv with $python."
        say "this downloads about $size and takes some minutes, only this once."
        rm -rf "$venv"
        make_venv || failed
    fi
    wanted "$1" "$kind" >"$stamp.part"
    install_packages "$stamp.part" "$mend" || failed
    lacking "$stamp.part" >"$stamp.lacking" || failed
    if [[ -s $stamp.lacking ]]; then install_packages "$stamp.lacking" yes || failed; fi
    rm -rf "$stamp.lacking" "$venv/hashed" "$venv/tmp"
    touch "$stamp.part"
    mv "$stamp.part" "$stamp"
    say "$1 is installed."
}

make_venv() {
    if [[ $uv ]]; then
        aside uv --directory "$root" venv --quiet --python "$python" "$venv"
    else
        aside "$python" -I -m venv "$venv"
    fi
} >&2

# A list names all that its packages need, with hashes. What it leaves out on purpose is not fetched either.
install_packages() {
    hashed "$1" >"$venv/hashed" || return 1
    if [[ $uv ]]; then
        aside uv --directory "$root" pip install --python "$venv/bin/python" ${hashes:+--require-hashes --no-deps} \
            ${2:+--reinstall --no-deps} -r "$venv/hashed"
    else
        # What pip leaves when it is ended goes with .venv, and does not fill /tmp.
        mkdir -p "$venv/tmp"
        TMPDIR=$venv/tmp aside "$venv/bin/python" -I -m pip install --disable-pip-version-check \
            ${hashes:+--require-hashes --no-deps} ${2:+--ignore-installed --no-deps} -r "$venv/hashed"
    fi
} >&2

# The lines of a list, each with the hashes of its files. A line that has none is refused by the installer.
hashed() {
    awk '
FILENAME == ARGV[1] { if (/^[a-z0-9]/) package = $1; else known[package] = known[package] " " $1; next }
{ sub(/ *#.*/, ""); package = $1; sub(/\[.*\]/, "", package) }
NF { print $0 known[package] }
' "${hashes:-/dev/null}" "$1"
}

failed() { stop 1 'the set-up failed, for the reason above; the next start tries again.'; }

# The newest Python that fits. It is run, not only looked up: pyenv has shims of versions that it does not offer.
find_python() {
    local candidate bare=''
    if [[ $python ]]; then return; fi
    if uv --version >/dev/null 2>&1; then uv=yes; fi

    set -- python3.13 python3.12 python3.11 python3.10 python3
    if [[ ${PYTHON:-} ]]; then set -- "$PYTHON"; fi
    for candidate; do
        python=$("$candidate" -I -c '
import os, sys
if not (3, 10) <= sys.version_info < (3, 14):
    sys.exit(1)
print(os.path.realpath(sys.executable))
try:
    import ensurepip, venv
except ImportError:
    sys.exit(sys.argv[1] != "yes" and 3)
' "$uv" 2>/dev/null) && return
        if [[ $? -eq 3 && -z $bare ]]; then bare=$candidate; fi
    done

    if [[ $bare ]]; then
        stop 2 "$bare has no venv module. Install it (Debian, Ubuntu: apt install python3-venv), or install uv."
    elif [[ ${PYTHON:-} ]]; then
        stop 2 "PYTHON=$PYTHON is not a Python 3.10 to 3.13 that runs. Name another, or leave PYTHON unset."
    else
        stop 2 'no Python 3.10 to 3.13 is found. Install one, or say where it is: PYTHON=/path/to/python3.'
    fi
}

# One start sets up, others wait. The kernel frees the lock when the last process that holds it ends: an installer
# that outlives a killed start still keeps others out of its .venv, and no stale lock is ever left to clear away.
lock() {
    { [[ -w $root && (! -e $venv || -w $venv) ]] && exec 9>"$venv.lock"; } 2>/dev/null ||
        stop 2 "cannot write .venv or .venv.lock in $root: copy the program to a place of your own."
    aside "$python" -I -c '
import fcntl, sys
try:
    fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("GA3C: waiting for another start that sets up .venv.", file=sys.stderr, flush=True)
    fcntl.flock(9, fcntl.LOCK_EX)
'
}

unlock() { exec 9>&-; }
