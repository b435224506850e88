# The set-up and the functions of the session scripts that need terminals. A script sources this file in place of session.sh, with its
# arguments: the path of opq, and the folder for the screens.
# Each terminal has a server of its own, because a server that ends refuses a new session.
opq=$(realpath "${1:-.build/debug/opq}")
screens=${2:-}
[ -z "$screens" ] || { mkdir -p "$screens" && screens=$(realpath "$screens"); }
shared=$(realpath "$(dirname "$0")/session.sh")
work=$(mktemp -d)
cd "$work" || exit 1
. "$shared"
: > err
mkdir bin && ln -s "$opq" bin/opq
count=0
mux() { tmux -L "opq-$$-$count" -f /dev/null "$@" 2> /dev/null; }
trap 'mux kill-server; rm -rf "$work"' EXIT

# terminal COLUMNS ROWS: a shell in a new terminal.
terminal() {
    mux kill-server
    count=$((count + 1))
    mux new-session -d -x "$1" -y "$2" "env PS1='\$ ' LC_ALL=C.UTF-8 TERM=screen-256color PATH=$work/bin:\$PATH sh -i"
}
# shows TEXT: waits until the screen has a line that matches.
shows() {
    for _ in $(seq 100); do
        mux capture-pane -p > out
        if grep -q -- "$1" out; then return 0; fi
        sleep 0.05
    done
    return 1
}
# prompts: waits until the shell reads a command. It would print what is typed before, in front of its prompt.
prompts() { shows '^\$ *$'; }
hides() {
    for _ in $(seq 100); do
        mux capture-pane -p > out
        if ! grep -q -- "$1" out; then return 0; fi
        sleep 0.05
    done
    return 1
}
# await COMMAND...: waits until the command succeeds.
await() {
    for _ in $(seq 100); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    return 1
}
# in_front FILE: a command of the run of this workflow has the terminal and is not stopped.
in_front() { ps -o stat= --ppid "$(cat ".opq/$1/lock")" | grep -q '^[SR].*+'; }
# runs_one FILE: the run of this workflow has one command.
runs_one() { test "$(ps -o pid= --ppid "$(cat ".opq/$1/lock")" | wc -l)" -eq 1; }
# is_stopped FILE: the opq that runs this workflow is stopped.
is_stopped() { ps -o stat= -p "$(cat ".opq/$1/lock")" | grep -q '^T'; }
keys() { mux send-keys "$@"; }
# keep NAME: stores the screen in $screens.
keep() {
    mux capture-pane -p > out
    [ -z "$screens" ] || cp out "$screens/$1.txt"
}
# open NAME: lets the command go on that waits for a gate.
open_gate() { timeout 5 sh -c "echo > $1"; }

