#!/bin/sh
# Runs the built opq as a user does. Asserts on exit statuses and output, and that no process is left running.
# Usage: Tests/opq-session.sh [path of opq]
set -u
opq=$(realpath "${1:-.build/debug/opq}")
shared=$(realpath "$(dirname "$0")/session.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$shared"

# gone FILE: the process whose identifier is in the file must end. A killed process may take a moment to end.
gone() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        has_ended "$1" && return
        sleep 0.2
    done
    false
}
has_ended() {
    case $(cat "/proc/$(cat "$1")/stat" 2> /dev/null) in
    '' | *') Z '*) true ;;
    *) false ;;
    esac
}

# line: reads a line from descriptor 3, a FIFO. An opq that fails early writes none.
line() { timeout 60 sh -c 'read -r _' <&3; }

cat > good.yml << 'END'
operations:
  first: { run: echo one; echo two >&2 }
  second: { run: printf three, after: first }
END
cat > watched.yml << 'END'
operations:
  first: { run: read -r _ < seen }
  second: { run: read -r _ < seen, after: first }
END
cat > failing.yml << 'END'
operations:
  bad: { run: echo why; exit 3 }
  next: { run: "true", after: bad }
  good: { run: "true" }
END
cat > items.yml << 'END'
name: items
operations:
  say: { run: "echo '<'{item}'>'", each: ["a b", "a\eb"] }
END
cat > wrong.yml << 'END'
operations:
  compress: { run: "true" }
  verify: { run: "true", after: compres, prioriti: low }
END
printf 'operations: {a: {run: "\303\050"}}' > latin.yml
cat > output.yml << 'END'
operations:
  much: { run: "head -c 100000000 /dev/zero | tr '\\0' x" }
  more: { run: "head -c 100000000 /dev/zero | tr '\\0' y" }
END
cat > endless.yml << 'END'
operations:
  stubborn:
    run: |
      sleep 1000 & echo $! > sleeper
      sh -c 'trap "" HUP INT TERM; echo $$ > stubborn; echo > gate; while :; do sleep 1; done' &
      wait
  tidy: { run: "trap 'touch tidied; exit' HUP INT TERM; echo > gate; while :; do sleep 1; done" }
  never: { run: touch ran, after: tidy }
END
cat > pipe.yml << 'END'
operations:
  endless: { run: "echo $$ > endless; echo > go; exec sleep 1000" }
  first: { run: read _ < go; seq 100000 }
END

status 0
check 'no arguments print help' grep -q SUBCOMMANDS out
status 0 --version
status 0 run --help
status 2 rnu good.yml
check 'a misspelled subcommand is named' grep -qx "opq: unknown subcommand 'rnu'; did you mean 'run'?" err
status 2 good.yml
check 'a file without a subcommand gets a suggestion' grep -qx "opq: unknown subcommand 'good.yml'; did you mean 'opq run good.yml'?" err
status 0 help run
status 2 run
status 2 run --jobs 0 good.yml
status 2 run --jobs many good.yml

status 0 check good.yml
check 'check prints a census' grep -qx 'good.yml: 1 queue, 2 operations' out
status 2 check wrong.yml
check 'the error of an unknown name has a place' grep -qx "wrong.yml:3:33: error: unknown operation 'compres'; did you mean 'compress'?" err
check 'the error of an unknown key has a place' grep -q "^wrong.yml:3:42: error: unknown key 'prioriti'" err
check 'errors are not printed on standard output' test ! -s out
status 2 run wrong.yml
check 'run refuses what check does' test "$(wc -l < err)" -eq 2
status 2 check missing.yml
check 'a missing file is reported' grep -qx 'missing.yml: error: cannot read the file: No such file or directory' err
status 2 check .
status 0 check - < good.yml
check 'standard input is a workflow' grep -qx -- '-: 1 queue, 2 operations' out
mkfifo piped
cat good.yml > piped &
status 0 run --quiet piped
wait
if [ -e /dev/full ]; then
    full() { timeout 60 "$opq" "$@" > /dev/full 2> err; }
    full check good.yml
    check 'check says that it cannot write' test $? -eq 1
    full run --dry-run good.yml
    check 'a dry run says that it cannot write' grep -q 'cannot write to standard output: No space left on device' err
    full run good.yml
    check 'a run whose output is lost fails' test $? -eq 1
    check 'a run says that it cannot write' grep -q 'cannot write to standard output: No space left on device' err
fi
(trap '' CHLD && exec timeout 60 "$opq" run good.yml > out 2> err)
check 'an inherited SIGCHLD does not matter' grep -q '^2 succeeded' out
status 2 check latin.yml
check 'a file that is not UTF-8 is reported' grep -qx 'latin.yml:1:24: error: the file is not UTF-8' err

status 0 run good.yml
check 'output is in order and in one piece' test "$(sed 's/  .*//' out | head -n 5 | tr '\n' '|')" = '✓ first|one|two|✓ second|three|'
check 'the summary counts' grep -q '^2 succeeded in ' out
# A pipe that another process has made nonblocking.
printf 'operations: { long: { run: "yes x | head -c 6000000" } }' > long.yml
python3 - "$opq" > out << 'END'
import fcntl, os, subprocess, sys, time
reader, writer = os.pipe()
os.set_blocking(writer, False)
opq = subprocess.Popen([sys.argv[1], "run", "long.yml"], stdout=writer)
os.close(writer)
count = 0
while chunk := os.read(reader, 4096):
    count += chunk.count(b"x")
print(count, opq.wait())
END
check 'a nonblocking pipe loses no output' grep -qx '3000000 0' out
status 0 run --dry-run good.yml
check 'a dry run prints commands' grep -qx 'printf three' out
status 0 run --dry-run items.yml
check 'a dry run prints variables' grep -qx "OPQ_ITEM='a b'" out
status 0 run -j2 items.yml
check 'any name is an item' grep -qx '<a b>' out
check 'a workflow has a name' grep -q '^items: 2 succeeded' out
check 'a name prints no control character' test "$(grep '^✓' out | grep -c "$(printf '\033')")" -eq 0
cp good.yml kept.yml
status 2 run kept.yml --report kept.yml
check 'a report does not take the place of the workflow' cmp -s kept.yml good.yml
ln -s kept.yml link.yml
status 2 run kept.yml --trace link.yml
check 'not by another name either' cmp -s kept.yml good.yml
status 2 run good.yml --trace same --report same
check 'a refused file is not left behind' test ! -e same
echo old > old
status 2 run wrong.yml --report old
check 'a report keeps its old contents until the end' grep -qx old old
status 1 run failing.yml --report page.html --trace trace.json
check 'a report shows the output of a failed operation' grep -q '<pre>why' page.html
check 'a report shows skipped operations' grep -q '<td>skipped: dependency bad failed</td>' page.html
status 0 run --quiet good.yml
check 'quiet success is silent' test ! -s out
status 1 run failing.yml
check 'a failure is reported' grep -qx '✗ bad  exit 3' out
check 'a skipped operation is reported' grep -qx -- '– next  skipped: dependency bad failed' out
check 'the summary counts failures' grep -q '^1 succeeded, 1 failed, 1 skipped in ' out
check 'no color without a terminal' test "$(grep -c "$(printf '\033')" out)" -eq 0

status 0 run --jobs 2 output.yml
check 'large outputs are not mixed' test "$(tr -s xy < out | grep -c '^[xy]$')" -eq 2
(ulimit -v 4000000 && timeout 60 "$opq" run output.yml > out 2> err)
check 'much output takes no memory' test "$(wc -c < out)" -gt 200000000

mkdir -p folder/below
cat > folder/opq.yml << 'END'
vars: { mode: debug }
operations:
  prepare: { run: 'echo {mode} in $(basename "$PWD")' }
  compile: { each: [a, b c], run: "echo '<'{item}'>'", after: prepare }
  link: { run: echo linked, after: compile }
END
(cd folder/below && timeout 60 "$opq" run 'compile[b c]' > out 2> err)
check 'a target of the default file above runs with what it needs' grep -q '^2 succeeded' folder/below/out
check 'its commands run in the folder of the file' grep -qx 'debug in folder' folder/below/out
check 'an item of a target arrives' grep -qx '<b c>' folder/below/out
status 0 run folder/opq.yml --set mode=release prepare
check 'a variable is set' grep -qx 'release in folder' out
status 0 run folder/opq.yml --list
check 'the list has families with their sizes' grep -q '^compile (2)  echo' out
status 0 run folder/opq.yml --only link
check 'only runs one operation' grep -q '^1 succeeded' out
status 0 run folder/opq.yml --from compile
check 'from runs what comes after' grep -q '^3 succeeded' out
status 2 run folder/opq.yml complie
check 'an unknown target is reported' grep -qx "opq: unknown operation 'complie'; did you mean 'compile'?" err
status 2 run folder/opq.yml --set mod=x
check 'an unknown variable is reported' grep -q "the file declares no variable 'mod'; did you mean 'mode'?" err
status 2 run
check 'a missing default file is reported' grep -q 'there is no opq.yml or opq.yaml, here or in a folder above' err
status 2 run good.yml --report=
check 'an option without a value is an error' grep -qx 'opq: --report= has no value' err
status 2 run good.yml --report failing.yml
check 'a report does not overwrite another workflow' grep -q 'would overwrite a workflow' err
status 2 run ''
printf 'operations: { where: { run: pwd } }' > where.yml
for path in /dev/stdin /dev/fd/0 /proc/self/fd/0; do
    status 0 run "$path" < where.yml
    check "the commands of $path run in the current folder" grep -qx "$(pwd -P)" out
done
status 0 schema
check 'the schema is JSON' grep -q '"additionalProperties": false' out
mkdir first && (cd first && touch a.txt && timeout 60 "$opq" init > out 2> err && timeout 60 "$opq" run > out 2> err)
check 'the first workflow runs' grep -q '^3 succeeded' first/out
(cd first && timeout 60 "$opq" init > out 2> err)
check 'a workflow is not overwritten' test $? -eq 2

items=$(seq -s ', ' 4000)
cat > families.yml << END
operations:
  bad: { run: exit 1 }
  one: { run: "true", each: [$items], after: bad }
  two: { run: "true", each: [$items], after: one }
END
(ulimit -v 1000000 && timeout 60 "$opq" run families.yml --trace trace.json > out 2> err)
check 'a family after a family takes memory for their members, not for all pairs of them' grep -q '^0 succeeded, 1 failed, 8000 skipped in ' out
check 'each member of the later family is skipped for a reason' test "$(grep -cxE -- '– two\[[0-9]+\]  skipped: dependency one\[1\] was skipped' out)" -eq 4000
check 'a trace contains the operations of the file only' test "$(grep -o '"ph":"X"' trace.json | wc -l)" -eq 8001

(unset TMPDIR; export TMPDIR=/nowhere/at/all; timeout 60 "$opq" run good.yml > out 2> err)
check 'a run that cannot begin exits with 2' test $? -eq 2
check 'a missing TMPDIR is named' grep -q "cannot make a temporary file in '/nowhere/at/all': No such file" err

{ echo operations:; for i in $(seq 300); do echo "  o$i: { run: 'echo $i' }"; done; } > many.yml
for limit in 1024 64 32; do
    (ulimit -n $limit && timeout 60 "$opq" run --jobs 100 many.yml > out 2> err)
    check "$limit descriptors are enough" grep -q '^300 succeeded' out
done
# The shell sets the limit last, because the shell needs descriptors itself.
sh -c 'ulimit -n 11 && exec timeout 60 "$@"' sh "$opq" run many.yml > out 2> err
check 'too few descriptors exit with 2' test $? -eq 2
check 'too few descriptors are named' grep -q 'no file descriptor is left (ulimit -n is 11)' err

for number in 2 15 1 3; do
    signal=$(kill -l $number)
    rm -f gate tidied && mkfifo gate
    timeout --foreground 60 "$opq" run --jobs 2 endless.yml > out 2> err &
    timer=$!
    exec 3<> gate
    line && line
    kill -"$signal" "$(pgrep -P $timer)"
    wait $timer
    actual=$?
    exec 3>&-
    check "SIG$signal ends opq by the same signal, not by status $actual" test $actual -eq $((128 + number))
    test $signal = QUIT || check "SIG$signal lets commands clean up" test -e tidied
    check "SIG$signal ends commands that ignore the signal" gone stubborn
    check "SIG$signal ends grandchildren" gone sleeper
    check "SIG$signal appears in the summary" grep -q '^0 succeeded, 3 cancelled in ' out
    check "SIG$signal starts no more commands" test ! -e ran
    test $signal = QUIT || check "SIG$signal is announced" grep -q '^opq: stopping; a second signal' err
done

rm -f gate && mkfifo gate
timeout --foreground 60 "$opq" run --jobs 2 endless.yml > out 2> err &
timer=$!
exec 3<> gate
line && line
process=$(pgrep -P $timer)
kill -TSTP "$process" && kill -TERM "$process"
# Whether opq was stopped depends on the process group of this script: an orphaned group is not stopped.
while kill -CONT "$process" 2> /dev/null; do sleep 0.1; done
wait $timer
actual=$?
exec 3>&-
check "SIGTSTP does not block other signals: exit $actual" test $actual -eq 143
check 'SIGTSTP leaves no command stopped' gone stubborn

if command -v script > /dev/null; then
    printf 'operations: { asks: { run: stty raw < /dev/tty } }' > asks.yml
    TERM=xterm timeout 60 script -qec "'$opq' run asks.yml" /dev/null < /dev/null > out
    check 'a command that wants the terminal fails' grep -q 'asks  exit' out
    rm -f seen && mkfifo seen
    TERM=xterm timeout 60 script -qfec "'$opq' run watched.yml" /dev/null < /dev/null > out &
    session=$!
    # Each command waits until its status has appeared.
    until tr '\r' '\n' < out | grep -q '  first  [0-9]' || ! kill -0 $session; do sleep 0.02; done
    echo > seen
    until tr '\r' '\n' < out | grep -q '  second  [0-9]' || ! kill -0 $session; do sleep 0.02; done
    echo > seen
    wait $session
    check 'a terminal shows the running operations and the ended count' test $? -eq 0
    check 'the status is gone at the end' test "$(tr '\r' '\n' < out | grep . | tail -n 1 | grep -c '[█░]')" -eq 0
    TERM=dumb script -qec "'$opq' run good.yml" /dev/null < /dev/null > out
    check 'a terminal that cannot erase shows no status' test "$(grep -c '[█░]' out)" -eq 0
fi

rm -f gate tidied && mkfifo gate
timeout --foreground 60 "$opq" run --jobs 2 endless.yml > out 2> err &
timer=$!
exec 3<> gate
line && line
started=$(date +%s)
# Two signals of different kinds, because two equal pending signals would be delivered as one.
kill -INT "$(pgrep -P $timer)" && kill -TERM "$(pgrep -P $timer)"
wait $timer
actual=$?
exec 3>&-
check "a second signal exits with 130, not $actual" test $actual -eq 130
check 'a second signal takes effect without waiting' test $(($(date +%s) - started)) -lt 2
check 'a second signal ends all commands' gone stubborn

# The time that a command gets to end does not pass while opq is stopped.
cat > tidying.yml << 'END'
operations:
  tidy: { run: "trap 'echo > gate; read -r _ < tidying; touch tidied; exit' INT; echo > gate; while :; do sleep 1; done" }
END
rm -f gate tidying tidied && mkfifo gate tidying
timeout --foreground 60 "$opq" run tidying.yml > out 2> err &
timer=$!
exec 3<> gate 4<> tidying
line
process=$(pgrep -P $timer)
kill -INT "$process"
line
kill -STOP "$process"
sleep 4
kill -CONT "$process"
sleep 0.3
echo >&4
wait $timer
actual=$?
exec 3>&- 4>&-
check "a stopped run that is interrupted exits with 130, not $actual" test $actual -eq 130
check 'a command has its full time to end although opq was stopped' test -e tidied

# GNU timeout sends its signal to opq and then to the group of opq.
printf "operations: { slow: { run: \"trap 'sleep 0.5; touch tidied; exit 0' TERM; sleep 5 & wait\" } }" > slow.yml
rm -f tidied
timeout 0.5 "$opq" run slow.yml > out 2> err
check 'commands under GNU timeout have time to clean up' test -e tidied

# Processes that left the group of their command, and orphans.
cat > leaving.yml << 'END'
operations:
  group: { run: "timeout 1000 sh -c 'echo $$ > moved; echo > gate; sleep 1000'; true" }
  orphan: { run: "setsid sh -c 'echo $$ > orphan; trap \"\" TERM; echo > gate; while :; do sleep 1; done' & sleep 1000" }
END
rm -f gate && mkfifo gate
timeout --foreground 60 "$opq" run --jobs 2 leaving.yml > out 2> err &
timer=$!
exec 3<> gate
line && line
kill -TERM "$(pgrep -P $timer)"
wait $timer
exec 3>&-
check 'a process in a group of its own ends with its command' has_ended moved
check 'an adopted orphan is killed when the run is cancelled' has_ended orphan

# Without a signal, a process that has left the session continues, and may write.
cat > daemon.yml << 'END'
operations:
  starts: { run: "setsid -f sh -c 'echo > up; sleep 0.3; echo late; echo > lives'; while [ ! -e up ]; do sleep 0.01; done" }
  waits: { after: starts, run: sleep 1 }
END
rm -f lives up
status 0 run daemon.yml
check 'a process that left the session continues, and writes to the output without a signal' test -e lives

# Output goes to a pipe.
cat > reopened.yml << 'END'
operations:
  a: { run: "echo 1; echo 2 > /dev/stdout; echo 3; echo 4 > /dev/stderr; echo 5 | tee /dev/stderr > /dev/null; echo 6" }
END
status 0 run reopened.yml
check 'a reopened output loses nothing' test "$(sed 1d out | head -n 6 | tr -d '\n')" = 123456
printf 'operations: { a: { run: seq 100000; echo end } }' > long.yml
(ulimit -f 100 && timeout 60 "$opq" run long.yml 2> err | wc -l > lines)
check 'a limit of file sizes does not cut the output' test "$(cat lines)" -eq 100003

# A noninteractive shell ignores SIGINT in its background jobs, and nohup ignores SIGHUP.
printf 'operations: { waits: { run: "echo > gate; read -r _ < tidying" } }' > waits.yml
for signal in INT HUP QUIT; do
    rm -f gate tidying && mkfifo gate tidying
    # Without `timeout`, which would restore the default action of the signal.
    (trap '' $signal && exec "$opq" run waits.yml > out 2> err) &
    process=$!
    exec 3<> gate 4<> tidying
    line
    kill -$signal $process
    echo >&4
    wait $process
    actual=$?
    exec 3>&- 4>&-
    check "an ignored SIG$signal stays ignored: exit 0, not $actual" test $actual -eq 0
done

if [ -e /dev/full ]; then
    status 2 run good.yml --report /dev/full
    check 'a report that cannot be written is printed' grep -q 'cannot write /dev/full: No space left on device' err
    status 1 run failing.yml --report /dev/full --trace trace.json
    check 'a report error is printed beside a failure, which decides the exit status' grep -q 'cannot write /dev/full' err
    check 'the trace is written although the report is not' grep -q traceEvents trace.json
    timeout 60 "$opq" run --quiet failing.yml > /dev/full 2> err
    check 'a quiet run says that it cannot write' grep -q 'cannot write to standard output' err
fi

mkfifo go
timeout 60 "$opq" run --jobs 2 pipe.yml 2> err | head -n 1 > out
check 'closing the output ends all commands' gone endless

echo "$passed passed, $failed failed"
test $failed -eq 0
