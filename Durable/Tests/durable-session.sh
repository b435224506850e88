#!/bin/sh
# Runs the built durable as an operator does. Asserts on exit statuses, output, and unchanged files.
# Usage: Tests/durable-session.sh DIRECTORY     the directory has durable and DurableSessionWorker
# With an address of PostgreSQL in DATABASE_URL, the session runs on an empty database of the server, too.
set -u
programs=$(realpath "${1:-.build/debug}")
durable=$programs/durable
page=$(realpath "$(dirname "$0")/../Documentation/durable.1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
chmod 755 .
passed=0 failed=0

# check NAME COMMAND...: the command must succeed.
check() {
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
        head -c 3000 out err | sed 's/^/    /'
    fi
}

# status EXPECTED ARGUMENT...: durable with these arguments must exit with the status EXPECTED.
status() {
    expected=$1
    shift
    timeout 60 "$durable" "$@" > out 2> err < /dev/null
    actual=$?
    check "durable $* exits with $expected, not $actual" test "$actual" -eq "$expected"
}
has() { grep -q -e "$1" out; }
says() { grep -q -e "$1" err; }
lacks() { ! grep -q -e "$1" out err; }
worker() { "$programs/DurableSessionWorker" "$@"; }

# work_until CONDITION WORKER-ARGUMENT...: runs a worker until the condition holds or the worker ends.
work_until() {
    condition=$1
    shift
    rm -f gate
    mkfifo gate
    worker work "$@" < gate &
    pid=$!
    exec 6> gate
    while kill -0 "$pid" 2> /dev/null && ! $condition; do sleep 0.1; done
    exec 6>&-
    wait "$pid" 2> /dev/null
}
has_crashed() { "$durable" --store "$store" list --state crashed > /dev/null 2>&1; }
is_repaired() { test "$("$durable" --store "$store" list --state succeeded 2> /dev/null | wc -l)" -eq 5; }
has_worker() { "$durable" --store "$store" explain 4 2> /dev/null | grep -q 'registers'; }

# A poisoned, a stuck, a failed and a scheduled operation are found and repaired.
repair() {
    store=$1
    status 3 --store "$store" list
    check 'a store that does not exist is said' grep -q -e 'is no store' -e 'No such file' err
    worker fill "$store"
    for _ in 1 2 3 4 5 6 7 8; do
        has_crashed && break
        work_until has_crashed "$store" 2> /dev/null
    done
    status 0 --store "$store" list --state failed,crashed
    check 'failed operations have their reasons' has 'failed .*letter .*the mail server is away'
    check 'the poisoned operation has crashed' has 'crashed .*photos .*thumbnail'
    check 'the list has three rows' test "$(wc -l < out)" -eq 4
    status 0 --store "$store" list --state failed --queue mail --name letter --newer 1h
    check 'a selection has all conditions' test "$(wc -l < out)" -eq 3
    status 1 --store "$store" list --state failed --older 1h
    check 'nothing found is said' says 'no operation matches'
    status 0 --store "$store" show 3
    check 'the deaths of workers are attempts' has 'lost-lease .*the worker vanished'
    work_until has_worker "$store"
    status 0 --store "$store" explain 4 5
    check 'a waiting operation names its dependency' has "waits for operation 4 'fax', which is ready"
    status 0 --store "$store" list --state scheduled --json
    check 'JSON has the scheduled operation' has '"name":"report"'
    check 'JSON is one line' test "$(wc -l < out)" -eq 1
    status 0 --store "$store" schedules
    check 'schedules have their times' has 'nightly .*0 3 \* \* \*'

    status 1 --store "$store" retry --state failed
    check 'a change of two operations needs a confirmation' says 'would change 2 operations; add --yes'
    status 0 --store "$store" retry --state failed,crashed --dry-run
    check 'a dry run lists the selection' test "$(wc -l < out)" -eq 4
    status 0 --store "$store" list --state failed,crashed
    check 'neither changed anything' test "$(wc -l < out)" -eq 4
    status 2 --store "$store" retry --yes
    check 'a change needs a selection' says 'use --all'
    status 0 --store "$store" retry --state failed,crashed --yes
    check 'three operations are retried' has '^retried 3 operations$'
    status 0 --store "$store" discard 4 --reason 'no fax any more'
    check 'the stuck operation is discarded' has '^discarded 1 operation$'
    status 1 --store "$store" retry 99 6
    check 'an unknown operation is named' says 'the store has no operation 99'
    check 'a refusal names the states' says 'operation 6 is scheduled; retry needs one of failed'
    work_until is_repaired "$store" repaired
    status 0 --store "$store" list --state succeeded
    check 'everything repaired has succeeded' test "$(wc -l < out)" -eq 5
    status 0 --store "$store" show 1 --json
    check 'an output is JSON in a text' has '"output":"\\"sent to ada\\""'

    status 0 --store "$store" move 6 --to archive
    status 0 --store "$store" prioritize 6 --to high
    status 0 --store "$store" list --queue archive --json
    check 'the operation moved, and has a priority' has '"queue":"archive","name":"report","priority":"high"'
    status 0 --store "$store" suspend mail photos
    status 0 --store "$store" queues
    check 'the queues are suspended' test "$(grep -c suspended out)" -eq 2
    status 0 --store "$store" resume mail photos
    status 1 --store "$store" suspend mial
    check 'an unknown queue is not created' says "no queue 'mial'"
    status 0 --store "$store" limits mail --limit 8 --rate 100/1m --limit-per-key 2
    check 'limits are set' has 'mail .* 8 *100/1m *2'
    status 0 --store "$store" limits mail --limit none --rate none --limit-per-key none
    status 2 --store "$store" limits mail --rate fast
    status 0 --store "$store" cancel 6
    status 0 --store "$store" stats
    check 'the sum of all operations' has '^all  *0  *0  *0  *4  *0  *1  *1$'
    status 0 --store "$store" delete --state ended --yes
    check 'all records are deleted' has '^deleted 6 operations$'
    status 0 --store "$store" schedules --remove nightly
    status 1 --store "$store" schedules
    status 1 --store "$store" workers
    status 0 --store "$store" check
    check 'the store is sound' has '^the store is sound$'
}

# Wrong use, and databases that are no stores.
status 0 --help
check 'help names the exit statuses' has 'Exit status'
check 'help names the page' has '^  serve '
status 0 --version
status 2 list
check 'a store is needed' says 'DURABLE_STORE'
status 2 --store work.db lst
status 2 --store work.db list --state done
check 'the states are named' says 'awaiting-signal'
status 2 --store work.db show x
status 2 --store work.db list --limit -1
status 2 --store mysql://ada:s3cret@host list
status 3 --store postgresql://ada:s3cret@127.0.0.1:1/work --wait 2s list
check 'a password in an argument is said' says 'PGPASSFILE\|built without'
for option in --stor --store=x=; do
    status 2 "$option" postgresql://ada:s3cret@host/work list
    check 'a mistake shows no password' lacks s3cret
done
status 3 --store absent.db list
check 'an absent file is not created' test ! -e absent.db
status 3 --store . list
printf 'a text' > text.db
: > empty.db
for file in text.db empty.db; do
    cp "$file" before
    status 3 --store "$file" list
    status 3 --store "$file" check
    check "$file is unchanged" cmp -s "$file" before
done
check 'no file appeared beside them' test -z "$(ls ./*-wal ./*-shm ./*-leases 2> /dev/null)"

repair "$work/work.db"
if [ -n "${DATABASE_URL:-}" ]; then
    repair "$DATABASE_URL"
    status 1 --store "$DATABASE_URL" backup copy.db
    check 'PostgreSQL has its own tools' says pg_dump
    status 1 --store "$DATABASE_URL" compact
else
    echo 'skipped: the session on PostgreSQL, without DATABASE_URL'
fi

# Copies and compaction.
rm -f work.db*
worker fill work.db
export DURABLE_STORE=work.db
status 0 backup copy.db
status 0 --store copy.db list
check 'the copy has all operations' test "$(wc -l < out)" -eq 7
status 1 backup copy.db
check 'a copy replaces no file' says 'a file has the path'
status 3 backup absent/copy.db
status 0 compact
status 0 check --json
check 'JSON of a sound store' has '^{"sound":true,"problems":\[\]}$'
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2> /dev/null; then
    mkdir small
    unshare --mount sh -c 'mount -t tmpfs -o size=64k none small && "$0" backup small/copy.db; echo $? > code; ls small > left' \
        "$durable" > out 2> err
    check 'a copy on a full disk fails' test "$(cat code)" -eq 3
    check 'and says so' says 'make space'
    check 'and leaves no file' test ! -s left
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null; then
    other() { setpriv --reuid nobody --regid nogroup --clear-groups timeout 60 "$durable" "$@" > out 2> err; }
    chmod 600 work.db
    other list
    check 'a file that another user may not read' test $? -eq 3
    check 'is said' says 'Permission denied; run the command as the owner'
    mkdir own
    cp copy.db own/work.db
    chown -R nobody own
    other --store own/work.db cancel --all --yes
    check 'a user who is not root changes a store of his own' test $? -eq 0
fi
head -c 6000 copy.db > damaged.db
cp damaged.db before
status 3 --store damaged.db list
check 'a damaged file has a remedy' says 'restore a backup'
check 'a damaged file is unchanged' cmp -s damaged.db before

# The output.
(timeout 60 "$durable" list >&- 2> err)
check 'a closed output is an error' test $? -eq 4
if [ -e /dev/full ]; then
    timeout 60 "$durable" list > /dev/full 2> err
    check 'a full output is an error' test $? -eq 4
fi
# The store is not the closed output.
status 0 check
timeout --preserve-status -s INT 3 "$durable" list --watch --every 300ms > out 2> err
check 'an interrupted watch ends by the signal' test $? -eq 130
check 'a watch repeats' test "$(grep -c '^ID' out)" -ge 3
timeout --preserve-status -s INT 2 "$durable" stats --watch --every 300ms --json > out 2> err
check 'a watch with JSON has a line each time' test "$(grep -c '^{.*}$' out)" -ge 3

# Hostile names.
worker names work.db
for command in list queues limits stats 'show 7' 'explain 7' 'list --json' 'queues --json' 'show 7 --json'; do
    # shellcheck disable=SC2086
    status 0 $command
    check "durable $command prints no control character" test "$(tr -d '\n' < out | LC_ALL=C tr -dc '\000-\037\177' | wc -c)" -eq 0
    check "durable $command prints no mark of direction" test "$(grep -c "$(printf '\342\200\256')" out)" -eq 0
done
odd=$(printf -- '--\033]0;title\007')
status 0 suspend -- "$odd"
status 0 list "--queue=$odd"
status 0 cancel "--queue=$odd"
if command -v script > /dev/null; then
    for columns in 20 60 200; do
        for command in list queues limits stats; do
            script -qec "stty cols $columns rows 40; '$durable' $command" /dev/null < /dev/null | tr -d '\r' > out
            check "a terminal of $columns columns fits durable $command" test "$(LC_ALL=C.UTF-8 wc -L < out)" -le "$columns"
        done
    done
    printf 'n\n' | script -qec "'$durable' cancel --queue mail" /dev/null > out 2>&1
    check 'a terminal is asked' has 'cancel 5 operations? \[y/N\]'
    status 0 list --queue mail --state ready
    printf 'y\n' | script -qec "'$durable' cancel --queue mail" /dev/null > out 2>&1
    check 'an answer permits the change' has 'cancelled 5 operations'
fi

# The page is another program.
mkdir folder
printf '#!/bin/sh\necho "$* $DURABLE_STORE"\n' > folder/durable-serve
chmod +x folder/durable-serve
if [ ! -x "$programs/durable-serve" ]; then
    status 2 --store work.db serve
    check 'a missing program has a remedy' says 'product durable-serve'
    PATH=$work/folder:$PATH status 0 --store work.db serve --port 0 --steer
    check 'the store is not an argument' has '^--port 0 --steer work.db$'
fi
status 3 --store absent.db serve
status 2 --store work.db serve --port 70000

# Many operations.
rm -f work.db*
worker many work.db 100000
check '100,000 operations are listed' test "$(timeout 60 "$durable" list --limit 0 | wc -l)" -eq 100001
check 'the first line of many is enough' test "$("$durable" list --limit 0 | head -n 1 | wc -l)" -eq 1
status 0 list
check 'a limit is said, with the next page' says '--after 1000$'
status 0 list --after 99999 --json
check 'the last page has no next one' has '"next":null}$'
status 0 stats
check 'all are counted' has '^all  *0  *100000'
status 0 cancel --all --yes
check 'all are cancelled' has '^cancelled 100000 operations$'

# Completions and the manual.
for shell in bash zsh fish; do
    status 0 --generate-completion-script "$shell"
    check "completions of $shell name the commands" has prioritize
done
"$durable" --generate-completion-script bash | bash -n
check 'completions of bash are a program' test $? -eq 0
commands=$("$durable" --help | sed -n '/^SUBCOMMANDS/,/^$/s/^  \([a-z]*\) .*/\1/p')
check 'there are commands' test "$(echo "$commands" | wc -w)" -eq 20
for command in $commands; do
    check "the manual has $command" grep -q "^\.B durable $command\$\|^\.B durable $command " "$page"
    for option in $("$durable" help "$command" | grep -o -e '--[a-z][a-z-]*' | sort -u); do
        check "the manual has $option of $command" grep -q -F -e "$(echo "$option" | sed 's/-/\\-/g')" "$page"
    done
done
if command -v groff > /dev/null; then
    groff -man -Tutf8 -ww -z "$page" > out 2>&1
    check 'the manual has no mistake' test ! -s out
fi

echo "$passed checks passed, $failed failed"
[ "$failed" -eq 0 ]
