# shellcheck shell=bash
# The set-up that run.sh, tests/run.sh and tests/benchmarks/run.sh share: `setup LIST...` makes .venv hold what
# these requirements files list, and sets the environment in which ga3c is found.
#
# The last thing an installation does is to leave a stamp in .venv: a copy of the list that was installed. As
# long as stamp and list agree, a start runs no Python here, needs no network and takes some milliseconds. Only when
# site-packages has changed since, it is looked whether all packages are still there.
#
# uv installs, and brings a Python where none fits. Where it is not installed, its pinned wheel is fetched; where that
# cannot be had, venv and pip do the work.

versions='3.13 3.12 3.11 3.10' # of Python, for which there are builds of all that is pinned
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
venv=$root/.venv
site=()           # its site-packages, once is_usable has looked
any=''            # a Python 3 of any version, once find_python has found it
python=''         # the Python that .venv is made from, once it is chosen
uv=''             # the program, once it is found or fetched
exported=''       # the names of what is in the environment for uv alone
download='0.9 GB' # roughly what an installation without CUDA fetches
hashes=$root/.requirements.lock # of all that may be installed; empty where nothing is held against any
# For all .venvs: what is fetched for the set-up alone, its wheel's version and hashes, and what Python does.
tools=$root/.uv pins=$root/requirements.txt locked=$hashes helper=$root/.setup/python.py
# shellcheck source=.setup/progress.sh
source "$root/.setup/progress.sh"
# shellcheck source=.setup/fetch.sh
source "$root/.setup/fetch.sh"

setup() {
    local list
    [[ $root != *:* ]] || stop 2 "A folder with a colon in its path does not work, as Python's search path is divided there: move $root."
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
    # shellcheck disable=SC2086
    unset $exported
    export PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH}
    unset PYTHONHOME        # another Python's: this one would not start with it
    export PYTHONSAFEPATH=1 # a random.py in the current directory stays out of the way
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

lacking() { "$venv/bin/python" -I -S "$helper" lacking "$venv" "$1"; }

install() {
    local stamp=$venv/${1//\//-} kind=cpu size=$download mend=''
    if has_gpu; then kind=cuda size='3.5 GB, CUDA included'; fi
    : >"$venv.log"
    find_uv

    if is_usable && [[ $uv || -d ${site[0]}/pip ]]; then
        say "installing $1 into .venv."
        if [[ ! -e $stamp ]]; then mend=yes; fi # half a package may lie there: put all in place again
        rm -f "$stamp"
    else
        if [[ ! $python ]]; then bring_python; fi
        if [[ ! $uv ]] && ! "$python" -I "$helper" has_venv 2>/dev/null; then
            stop 2 "$python has no venv module, and uv cannot be fetched ($venv.log says why). Install one of them (Debian, Ubuntu: apt install python3-venv)."
        fi
        say "setting up .venv with $python."
        say "this downloads about $size and takes some minutes, only this once."
        make_venv || failed
    fi
    wanted "$1" "$kind" >"$stamp.part"
    if ! install_packages "$stamp.part" "$mend"; then
        pip_instead || failed
        wanted "$1" "$kind" >"$stamp.part"
        install_packages "$stamp.part" || failed
    fi
    lacking "$stamp.part" >"$stamp.lacking" || failed
    if [[ -s $stamp.lacking ]]; then install_packages "$stamp.lacking" yes || failed; fi
    rm -rf "$stamp.lacking" "$venv/hashed" "$venv/tmp" "$tools/cache"
    touch "$stamp.part"
    mv "$stamp.part" "$stamp"
    say "$1 is installed."
    # uv leaves no bytecode. For what takes longest to load it is made beside the start, which compiles the emulator.
    ("$venv/bin/python" -I -c 'import tensorflow' 9>&- >/dev/null 2>&1 </dev/null &)
}

make_venv() {
    rm -rf "$venv"
    if [[ $uv ]]; then
        logged "$uv" --directory "$root" venv --quiet --python "$python" "$venv"
    else
        logged "$python" -I -m venv "$venv"
    fi
}

# Where pip is all that gets through, as with a password that its keyring knows, the uv that was fetched is in the way.
pip_instead() {
    [[ $uv == "$tools"/* && ! -e $venv/requirements.txt ]] && "$python" -I "$helper" has_venv 2>/dev/null || return 1
    say "uv cannot install this ($venv.log says why): pip tries."
    uv=''
    make_venv
}

# A list names all that its packages need, with hashes. What it leaves out on purpose is not fetched either.
install_packages() {
    local packages alone=$hashes${2:-} # uv takes --no-deps once
    hashed "$1" >"$venv/hashed" || return 1
    packages=$(grep -c '^[A-Za-z0-9]' "$venv/hashed") || true
    if [[ $uv ]]; then
        aside followed "$packages" "$uv" --directory "$root" pip install --python "$venv/bin/python" \
            ${hashes:+--require-hashes} ${alone:+--no-deps} ${2:+--reinstall} -r "$venv/hashed"
    else
        # What pip leaves when it is ended goes with .venv, and does not fill /tmp.
        mkdir -p "$venv/tmp"
        TMPDIR=$venv/tmp aside followed "$packages" "$venv/bin/python" -I -m pip install --disable-pip-version-check \
            ${hashes:+--require-hashes} ${alone:+--no-deps} ${2:+--ignore-installed} -r "$venv/hashed"
    fi
}

# The lines of a list, each with the hashes of its files. A line that has none is refused by the installer.
hashed() {
    awk '
FILENAME == ARGV[1] { if (/^[a-z0-9]/) package = $1; else known[package] = known[package] " " $1; next }
{ sub(/ *#.*/, ""); package = $1; sub(/\[.*\]/, "", package) }
NF { print $0 known[package] }
' "${hashes:-/dev/null}" "$1"
}

# One start sets up, others wait. The kernel frees the lock when the last process that holds it ends: an installer
# that outlives a killed start still keeps others out of its .venv, and no stale lock is ever left to clear away.
lock() {
    { [[ -w $root && (! -e $venv || -w $venv) ]] && exec 9>"$venv.lock"; } 2>/dev/null ||
        stop 2 "cannot write .venv or .venv.lock in $root: copy the program to a place of your own."
    aside "$any" -I "$helper" wait
}

unlock() { exec 9>&-; }
