# shellcheck shell=bash
# What the set-up needs before it can install: a Python, and uv.

# The newest Python that fits. It is run, not only looked up: pyenv has shims of versions that it does not offer. One
# of another version can still lock, and fetch uv.
find_python() {
    local candidate found
    if [[ $any ]]; then return; fi
    # shellcheck disable=SC2086
    if [[ ${PYTHON:-} ]]; then set -- "$PYTHON"; else set -- $(printf 'python%s ' $versions) python3; fi
    for candidate; do
        # shellcheck disable=SC2086
        if found=$("$candidate" -I "$helper" fits $versions 2>/dev/null); then
            python=$found any=$found
            return
        fi
        any=${any:-$found}
    done

    if [[ ${PYTHON:-} ]]; then
        stop 2 "PYTHON=$PYTHON is not a Python $(those_that_fit) that runs. Name another, or leave PYTHON unset."
    elif [[ ! $any ]]; then
        stop 2 "no Python 3 is found. Install one, or say where it is: PYTHON=/path/to/python3."
    fi
}

those_that_fit() { printf '%s to %s' "${versions##* }" "${versions%% *}"; }

# The uv that is installed, or that which requirements.txt pins.
find_uv() {
    local pin place setting
    if [[ $uv ]]; then return; fi
    if uv --version >/dev/null 2>&1; then
        uv=uv
        return
    fi
    pin=$(sed -n 's/^#setup \([^ ]*\).*/\1/p' "$pins")
    place=$tools/${pin/==/-}
    if [[ ! $pin ]] || ! { [[ -x $place ]] || fetch_uv "$pin" "$place"; } || ! "$place" --version >/dev/null 2>&1; then
        return
    fi
    uv=$place
    # pip's settings hold for it too, and what it keeps goes when all is installed.
    for_uv "UV_CACHE_DIR=$tools/cache"
    for_uv "UV_PYTHON_INSTALL_DIR=$tools/python"
    for_uv UV_INDEX_STRATEGY=unsafe-best-match # as pip does: of all indexes
    while IFS= read -r setting; do for_uv "$setting"; done < <("$any" -I "$helper" settings "$tools/pip" 2>/dev/null)
}

# Exports NAME=VALUE for the length of the set-up, where the environment does not have it.
for_uv() {
    local name=${1%%=*}
    if [[ ${!name:-} ]]; then return; fi
    export "${1?}"
    exported+=" $name"
}

# pip fetches it: it knows where from. Where Debian and Ubuntu have none, their package of it is only unpacked.
fetch_uv() {
    local fetched=$tools/fetched
    say 'fetching uv, which sets up faster than pip does (18 MB).'
    rm -rf "$fetched"
    mkdir -p "$fetched" "$tools/pip"
    printf '%s\n' "$1" >"$fetched/list"
    hashes=$locked hashed "$fetched/list" >"$fetched/hashed"
    "$any" -I "$helper" pip "$tools/pip" --version >/dev/null 2>&1 || logged distribution_pip "$tools/pip" || true
    logged "$any" -I "$helper" pip "$tools/pip" download --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --progress-bar off -d "$fetched" -r "$fetched/hashed" &&
        logged "$any" -I "$helper" unpack "$fetched"/uv-*.whl "$2"
    rm -rf "$fetched"
    [[ -x $2 ]]
}

distribution_pip() { cd "$1" && apt-get download python3-pip-whl && dpkg-deb -x python3-pip-whl_*.deb .; }

# One that uv has brought before, or brings now.
bring_python() {
    local newest=${versions%% *}
    if [[ $uv ]] && ! python=$(brought "$newest"); then
        say "no Python $(those_that_fit) is found: uv brings Python $newest (35 MB, only this once)."
        logged "$uv" python install --no-bin "$newest" && python=$(brought "$newest")
    fi
    [[ $python ]] || stop 2 "no Python $(those_that_fit) is found, and none can be fetched ($venv.log says why). Install one, or say where it is: PYTHON=/path/to/python3."
}

brought() { "$uv" --directory "$root" python find --managed-python --no-python-downloads "$1" 2>/dev/null; }
