# shellcheck shell=bash
# How the set-up runs other programs, and what it says of them.

said=$SECONDS # when something was said last

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
    (trap '' TTIN TTOU && export PYTHONUTF8=1 && "$@") &
    set +m
    wait $!
}

# The same, and what the command says goes to the log.
logged() { aside into_log "$@"; }

into_log() { "$@" >>"$venv.log" 2>&1; }

# The same with an installer of so many packages: a line for each of its stages says what is done of how much.
followed() {
    local packages=$1
    shift
    set -o pipefail
    "$@" 2>&1 | progress "$packages"
}

interrupted() {
    local job
    {
        for job in $(jobs -p); do kill -TERM -- "-$job" || true; done # it may just have ended
        wait
    } 2>/dev/null
    stop "$1" 'interrupted; the next start sets up again.'
}

failed() {
    tail -n 5 "$venv.log" >&2
    stop 1 "the set-up failed, for the reason above; $venv.log has the rest. The next start tries again."
}

# What pip or uv says goes to the log; a line for each stage shows what is done of how much. On a terminal it changes;
# elsewhere a new one comes after each ten seconds.
progress() {
    local line name size packages=0 all=0 got=0 sizes=' '
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$venv.log"
        case $line in
        'Downloading '*' ('*iB')') # uv's, for each large one: Downloading numpy (15.8MiB)
            name=${line#Downloading } size=${line##*(}
            case $size in *GiB*) size=$((${size%%[.G]*} * 1024)) ;; *MiB*) size=${size%%[.M]*} ;; *) size=0 ;; esac
            all=$((all + size)) sizes+="${name%% *}=$size "
            ;;
        ' Downloaded '*)
            size=${sizes#* "${line#* Downloaded }"=}
            got=$((got + ${size%% *}))
            changing "downloading: $got of $all MB"
            ;;
        'Prepared '*) stage "downloaded: $(words "$line")" ;;
        'Installed '*) stage "installed: $(words "$line")" ;;
        'Collecting '* | 'Requirement already satisfied: '*) # pip's
            packages=$((packages + 1))
            changing "downloading: $packages of $1 packages"
            ;;
        'Installing collected packages: '*)
            stage "downloaded: $packages of $1 packages"
            changing 'installing'
            ;;
        'Successfully installed '*) stage "installed: $packages packages" ;;
        esac
    done
}

# Of "Prepared 88 packages in 9.33s", how many.
words() {
    local count=${1#* }
    printf %s "${count%% in *}"
}

# Only shown where it can be written over, or nothing has been said for long.
changing() {
    if [[ -t 2 ]]; then
        printf 'GA3C: %s.\033[K\r' "$1" >&2
    elif ((SECONDS >= said + 10)); then
        stage "$1"
    fi
}

stage() {
    if [[ -t 2 ]]; then printf '\033[K' >&2; fi
    said=$SECONDS
    say "$1."
}
