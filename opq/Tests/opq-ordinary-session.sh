#!/bin/sh
# Runs the session with opq, and the README's first command, under the conditions of ordinary machines: as a user other than
# root, with 1,024 descriptors, on one processor, in the C locale and in one of UTF-8, with little temporary space, without a
# terminal and with closed standard input, with umask 077, with few descriptors and with few processes.
# Usage: Tests/opq-ordinary-session.sh [path of opq]
#
# A condition that needs root or a missing tool is skipped, and a line reports it.
set -u
opq=$(realpath "${1:-.build/debug/opq}")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
passed=0 failed=0
mounted=

end() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

# All programs and files are copied to a folder that any user may read.
chmod 755 "$work"
mkdir -p "$work/bin" "$work/project/opq" "$work/project/Networking" "$work/tmp"
cp "$opq" "$work/bin/opq"
cp "$root/opq/Tests/opq-session.sh" "$root/opq/Tests/session.sh" "$work/bin"
cp -R "$root/Sources" "$root/Tests" "$work/project"
for package in Networking opq; do cp -RL "$root/$package/Sources" "$root/$package/Tests" "$work/project/$package"; done
cp -R "$root/opq/Workflows" "$work/project/opq"
chmod -R a+rX "$work"
chmod 1777 "$work/tmp"

# as_user COMMAND...: runs the command as the user nobody if this script runs as root, and otherwise as the current user.
as_user() { "$@"; }
if [ "$(id -u)" -eq 0 ]; then
    if command -v setpriv > /dev/null; then
        as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ "$@"; }
        chown -R 65534:65534 "$work/project" "$work/tmp"
    else
        echo 'skipped: another user than root, for want of setpriv'
    fi
fi

# condition NAME COMMAND...: the command must succeed.
condition() {
    name=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
        sed 's/^/    /' "$work/log" | tail -n 40
    fi
}

# session COMMAND...: runs the session with opq through this command.
session() { as_user env TMPDIR="$work/tmp" "$@" sh "$work/bin/opq-session.sh" "$work/bin/opq"; }

# first_command COMMAND...: runs the README's first command through this command. No operation may fail.
first_command() {
    as_user env TMPDIR="$work/tmp" "$@" "$work/bin/opq" run "$work/project/opq/Workflows/digest.yml" > "$work/first" 2>&1
    actual=$?
    tail -n 3 "$work/first"
    [ $actual -eq 0 ] && tail -n 1 "$work/first" | grep -Eq '^digest: [0-9]+ succeeded in '
}

# full_tier: whether each condition has a session of its own. Otherwise one session has all those that do not exclude each other.
full_tier() { [ "${CHECK_TIER:-full}" = full ]; }

limits=32
if full_tier; then limits='1024 64 32'; fi
for limit in $limits; do
    fewer() { first_command sh -c "ulimit -n $limit && exec \"\$@\"" sh; }
    condition "the README's first command with $limit descriptors" fewer
done
if command -v taskset > /dev/null; then
    condition 'on one processor' session taskset -c 0
    condition "the README's first command on one processor" first_command taskset -c 0
else
    echo 'skipped: one processor, for want of taskset'
fi
if full_tier; then
    condition 'as an ordinary user, with 1,024 descriptors' session sh -c 'ulimit -n 1024 && exec "$@"' sh
    condition 'in the C locale' session env -u LC_ALL LANG=C
    utf8=$(locale -a 2> /dev/null | grep -iE '^(C|en_US)\.utf-?8$' | head -n 1)
    if [ -n "$utf8" ]; then
        condition 'in a locale of UTF-8' session env -u LC_ALL LANG="$utf8"
    else
        echo 'skipped: a locale of UTF-8, for want of one'
    fi
    condition 'without a terminal and with closed standard input' session sh -c 'exec "$@" <&-' sh
    if command -v setsid > /dev/null; then
        condition 'in a session of its own' session setsid -w
    fi
    condition 'with umask 077' session sh -c 'umask 077 && exec "$@"' sh
else
    condition 'as an ordinary user, with 1,024 descriptors, in the C locale, with closed standard input and umask 077' \
        session env -u LC_ALL LANG=C sh -c 'ulimit -n 1024 && umask 077 && exec "$@" <&-' sh
fi

# full: the output of commands exceeds the space. Operations that may have lost output report it, and the run does not hang.
full() {
    printf 'operations:\n  big: { run: "head -c 3000000 /dev/zero; true" }\n  small: { run: "echo x", after: big }\n' > "$work/full.yml"
    as_user env TMPDIR="$work/small" timeout 60 "$work/bin/opq" run "$work/full.yml" > "$work/first" 2>&1
    [ $? -eq 1 ] && grep -aq "big  exit 0, but output may be lost: no space was left in '$work/small'" "$work/first"
}
roomy() {
    # An ended operation frees its space for the next operation.
    printf 'operations: { f: { run: "head -c 700000 /dev/zero", each: [1, 2, 3, 4, 5, 6, 7, 8] } }' > "$work/roomy.yml"
    as_user env TMPDIR="$work/small" timeout 60 "$work/bin/opq" run --jobs 1 "$work/roomy.yml" > "$work/first" 2>&1
    tail -n 1 "$work/first" | grep -aq '^8 succeeded'
}
mkdir "$work/small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1m,mode=1777 tmpfs "$work/small" 2> /dev/null; then
    mounted=$work/small
    condition 'with too little temporary space' full
    condition 'with little temporary space' roomy
else
    echo 'skipped: little temporary space, for want of the right to mount'
fi

# processes LIMIT: with at most LIMIT processes and threads, the run succeeds or reports the cause.
processes() {
    printf 'operations: { f: { run: "sleep 0.05 | cat", each: [1, 2, 3, 4, 5, 6, 7, 8, 9] } }' > "$work/processes.yml"
    timeout 60 prlimit --nproc="$1" setpriv --reuid="$user" --regid="$user" --clear-groups \
        "$work/bin/opq" run --jobs 100 "$work/processes.yml" > "$work/first" 2>&1
    actual=$?
    cat "$work/first"
    case $actual in
    0) true ;;
    124 | 137) false ;;
    *) grep -Eq "no process is left \(ulimit -u is $1|[Cc]annot fork" "$work/first" ;;
    esac
}
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null && command -v prlimit > /dev/null; then
    # The identifier of a user without other processes.
    user=64917
    for limit in 4 6 8 10 12 14 16 20 40; do condition "with $limit processes" processes $limit; done
else
    echo 'skipped: few processes, for want of a user who has no others'
fi

# reserved COMMAND...: opq reserves three processes for each command, and counts its own threads. No command may fail.
reserved() {
    printf 'operations: { f: { run: "sleep 0.2 | cat; (sleep 0.1; true); echo ok", each: [%s] } }' "$(seq -s ', ' 20)" \
        > "$work/reserved.yml"
    timeout 60 "$@" "$work/bin/opq" run --jobs 20 "$work/reserved.yml" > "$work/first" 2>&1
    actual=$?
    cat "$work/first"
    [ $actual -eq 0 ] && tail -n 1 "$work/first" | grep -q '^20 succeeded'
}
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null && command -v prlimit > /dev/null; then
    for limit in 25 40 60; do
        condition "no command fails with $limit processes" \
            reserved prlimit --nproc=$limit setpriv --reuid="$user" --regid="$user" --clear-groups
    done
fi
group=/sys/fs/cgroup/pids/opq-$$
if [ -w /sys/fs/cgroup/pids ] && mkdir "$group" 2> /dev/null; then
    for limit in 25 40; do
        echo $limit > "$group/pids.max"
        condition "no command fails in a control group of $limit processes" \
            reserved sh -c "echo \$\$ > $group/cgroup.procs && exec \"\$@\"" sh
    done
    rmdir "$group"
else
    echo 'skipped: a control group of few processes, for want of a group that can be made'
fi

echo "$passed conditions passed, $failed failed"
test $failed -eq 0
