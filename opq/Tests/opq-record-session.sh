#!/bin/sh
# Runs the built opq on workflows with inputs and outputs: what is up to date, resumed, recorded and removed.
# Usage: Tests/opq-record-session.sh [path of opq]
set -u
opq=$(realpath "${1:-.build/debug/opq}")
shared=$(realpath "$(dirname "$0")/session.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$shared"

# ran NAME...: exactly these operations ran in the last run, in any order.
ran() {
    test "$(sed -n 's/^✓ \([^ ]*\)  .*/\1/p' out | sort | tr '\n' ' ')" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')"
}
nothing_ran() { ! grep -q '^[✓✗]' out; }

cat > make.yml << 'END'
operations:
  upper: { each: [a, b], run: "tr a-z A-Z < {item}.txt > {item}.up", inputs: ["{item}.txt"], outputs: ["{item}.up"] }
  join: { after: upper, run: "cat a.up b.up > all", inputs: [a.up, b.up], outputs: [all] }
END
echo one > a.txt
echo two > b.txt
status 0 run make.yml
check 'the first run runs everything' ran 'upper[a]' 'upper[b]' join
status 0 run make.yml
check 'the second run runs nothing' nothing_ran
check 'the summary counts what is up to date' grep -q '^0 succeeded, 3 up to date in ' out
touch a.txt
status 0 run make.yml
check 'a newer time alone changes nothing' nothing_ran
echo ONE > a.txt
status 0 run --explain make.yml
check 'an operation whose outputs did not change does not make its dependents run' ran 'upper[a]'
check 'the reason is named' grep -qx 'upper\[a\]: the input a.txt changed' out
echo 1 > a.txt
status 0 run make.yml
check 'a changed output makes the dependents run' ran 'upper[a]' join
echo edited > all
status 0 run --explain make.yml
check 'an output that was edited by hand is made again' grep -qx 'join: the output all was changed' out
rm all
status 0 run --dry-run make.yml
check 'a dry run makes nothing' test ! -e all
check 'a dry run has only what would run, with the reason' test "$(grep '^#' out)" = '# join in .: the output all is missing'
status 0 run make.yml
check 'a dry run marks nothing as done' ran join
status 0 run --force make.yml
check 'everything can be forced' ran 'upper[a]' 'upper[b]' join
check 'git ignores the folder of the journal' test "$(cat .opq/.gitignore)" = '*'

# Two runs at once.
printf 'operations: { waits: { run: "echo > gate; read -r _ < door" } }' > busy.yml
mkfifo gate door
timeout 60 "$opq" run busy.yml > first 2>&1 &
first=$!
read -r _ < gate
status 2 run busy.yml
check 'a second run of the same file is refused, with the process that runs' grep -q "cannot run: process [0-9]* runs 'busy.yml' already" err
echo > door
wait $first
check 'the first run is not disturbed' test $? -eq 0

# opq is killed while an output is half-written.
cat > half.yml << 'END'
operations:
  half: { run: "echo first > half; if [ -e gate ]; then echo > gate; sleep 1000; fi; echo last >> half", outputs: [half] }
END
timeout 60 "$opq" run half.yml > first 2>&1 &
read -r _ < gate
kill -KILL "$(cat .opq/half.yml/lock)"
wait
rm gate
status 0 run --explain half.yml
check 'a half-written output of a killed run is made again' grep -qx 'half: no success is recorded' out
check 'the output is complete' test "$(wc -l < half)" -eq 2

# opq is killed, and its command goes on.
cat > left.yml << 'END'
operations:
  writes: { run: "trap '' TERM PIPE; if [ -e gate ]; then echo > gate; while :; do echo x >> endless; sleep 0.01; done; fi", grace: 1ms }
END
mkfifo gate
timeout 60 "$opq" run left.yml > first 2>&1 &
read -r _ < gate
# The command may run before opq has recorded its process.
until grep -q writes .opq/left.yml/journal; do sleep 0.01; done
kill -KILL "$(cat .opq/left.yml/lock)"
wait
rm gate
status 0 run left.yml
check 'a command that a killed opq has left behind is ended first' grep -q "^opq: ended 'writes' (process [0-9]*), which an opq that was killed had left behind" err
size=$(wc -c < endless)
sleep 0.1
check 'it writes no more' test "$size" -eq "$(wc -c < endless)"
status 0 run left.yml
check 'it is ended once' test ! -s err

# A signal removes half-written outputs.
printf 'operations: { half: { run: "echo x > part; echo > gate; sleep 1000", outputs: [part] } }' > stopped.yml
mkfifo gate
timeout --foreground 60 "$opq" run stopped.yml > out 2> err &
timer=$!
read -r _ < gate
kill -TERM "$(cat .opq/stopped.yml/lock)"
wait $timer
check 'the outputs of an interrupted command are removed' test ! -e part
timeout --foreground 60 "$opq" run stopped.yml > out 2> err &
timer=$!
read -r _ < gate
kill -USR1 "$(cat .opq/stopped.yml/lock)"
wait $timer
check 'SIGUSR1 ends the commands, too' test ! -e part

# No file of the user is removed.
mkdir own && cd own || exit 1
cat > own.yml << 'END'
operations:
  fmt: { each: "*.src", run: "echo x >> {item}; exit 1", inputs: ["{item}"], outputs: ["{item}"] }
  edit: { after: reads, run: "echo x >> read; exit 1", outputs: [read] }
  reads: { run: "true", inputs: [./read, "*.h"] }
  makes: { after: reads, run: "echo x > new.h; exit 1", outputs: [new.h] }
  file: { run: "echo '#' >> own.yml; exit 1", outputs: [own.yml] }
  old: { run: "echo x >> old; exit 1", outputs: [old] }
  part: { run: "touch part-1", outputs: [part-1, part-2] }
  kinds: { run: "mkfifo pipe; ln -s nowhere dangling; exit 1", outputs: [pipe, dangling] }
  item: { each: ['b\*'], run: "exit 1", outputs: ["{item}.o"] }
END
printf 'operations: { all: { run: "exit 1", outputs: ["."] } }' > all.yml
for name in a.src read old bprecious.o; do echo mine > $name; done
status 1 run own.yml
status 1 run all.yml
check 'inputs, the workflow file and older files stay after a failure' cat a.src read old bprecious.o own.yml new.h
check 'files that the failed commands have made are removed' test ! -e part-1 -a ! -p pipe -a ! -h dangling
printf 'operations: { a: { run: "cat in > result; [ ! -e bad ]", inputs: [in, bad], outputs: [result] } }' > made.yml
echo 1 > in
status 0 run made.yml
touch bad && echo 2 > in
status 1 run made.yml
check 'an output of an earlier success is removed after a failure' test ! -e result
cd .. || exit 1

# Names with special characters.
cat > names.yml << 'END'
operations:
  copy: { each: "*].c", run: "cp {item} {item}.o", inputs: ["{item}"], outputs: ["{item}.o"] }
  page: { run: 'mkdir -p app; echo page > "app/[id].js"', outputs: ['app/\[id].js'] }
END
echo 1 > 'a[1].c'
status 0 run names.yml
status 0 run names.yml
check 'names with special characters are up to date' nothing_ran
echo 2 > 'a[1].c'
status 0 run names.yml
check 'a change of a file with special characters counts' ran 'copy[a[1].c]'

# Depfiles.
cat > dep.yml << 'END'
operations:
  race: { run: "cat h > raced; echo v2 > h; echo 'raced: h' > raced.d", outputs: [raced], depfile: raced.d }
  makes: { run: "echo 1 > gen.h; touch made; echo 'made:gen.h made' > made.d", outputs: [made], depfile: made.d }
END
echo v1 > h
status 0 run dep.yml
status 0 run --explain dep.yml
check 'a header that changed while the command ran makes it run again' grep -q 'race: the input h may have changed while the command ran' out
status 0 run dep.yml
check 'a header that the command itself makes does not make it run each time' nothing_ran
printf 'operations: { a: { run: "echo words > bad.d", outputs: [bad.d], depfile: bad.d } }' > bad.yml
status 1 run bad.yml
check 'a depfile of another form is an error' grep -q "line 1 of the depfile 'bad.d' has no colon" out

# Two names of one file.
ln -s make.yml link.yml
status 0 run link.yml
check 'a link has the journal of its target' test ! -e .opq/link.yml

# Resume after kill -9 at each step: each operation succeeds once.
cat > chain.yml << 'END'
operations:
  a: { run: "echo a >> log; [ ! -e kill-a ] || { rm kill-a; kill -9 $(cat .opq/chain.yml/lock); sleep 1000; }; echo a >> done" }
  b: { after: a, run: "echo b >> log; [ ! -e kill-b ] || { rm kill-b; kill -9 $(cat .opq/chain.yml/lock); sleep 1000; }; echo b >> done" }
  c: { after: b, run: "echo c >> log; [ ! -e kill-c ] || { rm kill-c; kill -9 $(cat .opq/chain.yml/lock); sleep 1000; }; echo c >> done" }
END
touch kill-a kill-b kill-c
timeout 60 "$opq" run chain.yml > /dev/null 2>&1
timeout 60 "$opq" resume chain.yml > /dev/null 2>&1
timeout 60 "$opq" resume chain.yml > /dev/null 2>&1
status 0 resume chain.yml
check 'each operation succeeds once, although opq was killed at each step' test "$(tr '\n' ' ' < done)" = 'a b c '
check 'only the killed operations ran twice' test "$(tr '\n' ' ' < log)" = 'a a b b c c '
status 0 resume chain.yml
check 'a run without anything left does nothing' nothing_ran
status 2 resume missing.yml
check 'resume complains about a missing file, and about nothing else' test "$(grep -c . err) $(grep -c recorded err)" = '1 0'
sed -i 's/echo b >> done/echo B >> done/' chain.yml
status 0 resume --explain chain.yml
check 'a changed command runs again, and so do the operations after it' ran b c
check 'a changed file is announced' grep -q 'the workflow file has changed since run' err

# Resume what was asked for.
cat > asked.yml << 'END'
vars: { mode: debug }
operations:
  a: { run: "echo {mode} >> modes" }
  b: { after: a, run: "test -e allowed && echo {mode} >> modes" }
  c: { run: "touch c-ran" }
END
status 1 run asked.yml b --set mode=release
touch allowed
status 0 resume asked.yml
check 'resume has the variables of the run' test "$(sort -u modes | tr '\n' ' ')" = 'release '
check 'resume runs only operations of the run' test ! -e c-ran
check 'resume names its choice' grep -q 'continues run 1 with b --set mode=release' err
cat > again.yml << 'END'
operations:
  a: { run: "true" }
  b: { run: "test -e ok || { kill -9 $(cat .opq/again.yml/lock); sleep 1000; }", after: a }
  c: { run: "echo c >> c-log" }
END
cp again.yml keep.yml && sed 's/^  b: .*/  b: { run: "false", after: a }/' keep.yml > again.yml
status 1 run again.yml
cp keep.yml again.yml
timeout 60 "$opq" resume again.yml > /dev/null 2>&1
touch ok
status 0 resume again.yml
check 'a resumed run that was killed keeps the earlier successes' test "$(wc -l < c-log)" -eq 1
printf 'operations: { a: { run: "true" } }' | timeout 60 "$opq" resume - > out 2> err
check 'a stream has no run to resume' grep -q "no run of '-' is recorded" err

# History.
status 0 history make.yml
check 'the history has a line for each run' test "$(wc -l < out)" -eq 9
status 0 show --run 1 make.yml
check 'a run has a line for each operation' grep -q '^succeeded  upper\[a\]  ' out
status 2 show --run 99 make.yml
printf 'operations: { says: { run: "echo hello; exit 3" } }' > says.yml
status 1 run says.yml
check 'the last lines name the failed operation' test "$(tail -n 4 out | head -n 3 | tr '\n' '|')" = 'failed: says  exit 3|  $ echo hello; exit 3|  | hello|'
status 0 log says.yml says
check 'the output of an operation is kept' test "$(cat out)" = hello
status 0 show says.yml
check 'a failure is shown with its status' grep -q '^failed  says  .*exit 3' out
status 2 log says.yml other

# Drawings, events and results for other programs.
status 0 graph --format dot make.yml
check 'a drawing has the operations' grep -q 'label="upper (2)"' out
for form in mermaid svg; do status 0 graph --format $form make.yml join; done
status 2 graph --format png make.yml
cat > mixed.yml << 'END'
operations:
  good: { run: "echo good >> ran" }
  bad: { run: "echo bad >> ran; echo 'why \"it\" failed'; test -e repaired" }
  next: { after: bad, run: "echo next >> ran" }
END
status 1 run --json --junit results.xml mixed.yml
check 'each line is an object of JSON' python3 -c 'import json; [json.loads(line)["event"] for line in open("out")]'
check 'an event has the output' grep -qF '"name":"bad","outcome":"failed","reason":"exit 1","output":"why \"it\" failed' out
check 'the results are XML' python3 -c '
import xml.etree.ElementTree as tree
suite = tree.parse("results.xml").getroot()[0]
assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
assert suite.find("testcase/failure").text.startswith("why \"it\" failed")'
status 2 run --junit mixed.yml mixed.yml
rm ran && touch repaired
status 0 run --failed mixed.yml
check 'the failed operations run, and those after them' test "$(tr '\n' ' ' < ran)" = 'bad next '
status 2 run --failed mixed.yml
check 'without a failure, nothing is chosen' grep -q 'no operation failed in the last run' err

# Secrets.
mkdir secret && cat > secret/secret.yml << 'END'
secrets: [TOKEN, KEY]
vars: { key: none }
environment: { KEY: "{key}" }
operations:
  prints: { run: "printf 'a hunt'; sleep 0.05; printf 'er2 b\n'; echo $TOKEN $KEY; echo hunter2 > made; exit 1", outputs: [made] }
END
cd secret || exit 1
for form in --json --verbose --explain; do
    TOKEN=hunter2 timeout 60 "$opq" run --set key=k3y-v4lue $form --junit j.xml --report r.html --trace t.json secret.yml >> shown 2>&1
done
TOKEN=hunter2 timeout 60 "$opq" run --dry-run --set key=k3y-v4lue secret.yml >> shown 2>&1
TOKEN=hunter2 timeout 60 "$opq" log secret.yml prints >> shown 2>&1
TOKEN=hunter2 timeout 60 "$opq" resume secret.yml >> shown 2>&1
check 'no secret is shown or written' test "$(grep -rlE 'hunter2|k3y-v4lue' . | tr '\n' ' ')" = './secret.yml '
check 'masks are in place of secrets' grep -q 'a ••• b' shown
check 'a secret of the command line is not recorded' grep -q "the value of 'key' is a secret and is not recorded" shown
cd .. || exit 1

# Fewer runs.
for run in 1 2 3 4 5; do status 1 run --keep-runs 2 says.yml; done
status 0 history says.yml
check 'the history has the wanted number of runs' test "$(wc -l < out)" -eq 2

# Records that are lost.
printf 'operations: { big: { run: "head -c 100000 /dev/zero" }, small: { run: "echo x" } }' > big.yml
(ulimit -f 40; timeout 60 "$opq" run big.yml > /dev/null 2> err)
check 'a log that cannot be written is announced' grep -q "^opq: the log of 'big' is lost: File too large" err
status 2 log big.yml big
check 'a lost log is no empty log' grep -q "the output of 'big' could not be recorded" err
status 0 log big.yml small
mkdir gone && printf 'operations: { a: { run: "rm -r .opq" } }' > gone/gone.yml
status 0 run gone/gone.yml
check 'a record that was removed is announced' grep -q 'gone/.opq/gone.yml/journal was removed during the run' err
status 2 history --run 014 says.yml
status 2 run -j 014 says.yml

# Output of running commands.
mkfifo latch
printf 'operations: { slow: { run: "echo one; read -r _ < latch; echo two; printf half" } }\n' > slow.yml
timeout 60 "$opq" run --stream slow.yml > out 2> err &
run=$!
# The command waits for the latch, so its first line is there before its end, or never.
for _ in $(seq 200); do ! grep -q one out || break; sleep 0.05; done
check 'a line is shown while its command runs' grep -qx 'slow | one' out
check 'no later line is shown yet' test "$(wc -l < out)" -eq 1
timeout 10 sh -c 'echo > latch'
wait "$run"
check 'the run that streams succeeds' test $? -eq 0
check 'the later lines are shown' grep -qx 'slow | two' out
check 'the last line is shown' grep -qx 'slow | half' out
check 'no output is shown twice' test "$(grep -c one out)" -eq 1

# Damage.
cp .opq/make.yml/journal journal
printf 'opq journal 9\nx' > .opq/make.yml/journal
status 2 run make.yml
check 'a journal of a later version is named, with a remedy' grep -q "cannot read .opq/make.yml/journal: it was written by a later version of opq ('opq journal 9'); use that version, or move the file away" err
{ head -c 30 journal; printf 'XX'; tail -c +33 journal; } > .opq/make.yml/journal
status 2 run make.yml
check 'a damaged journal is named, with the place' grep -q 'the entry at byte [0-9]* is damaged; move the file away' err
check 'a damaged journal is left as it is' test "$(wc -c < .opq/make.yml/journal)" -eq "$(wc -c < journal)"
head -c -3 journal > .opq/make.yml/journal
status 0 run make.yml
check 'a journal that was cut off is used' grep -q ' up to date' out
if [ "$(id -u)" -ne 0 ] || command -v setpriv > /dev/null; then
    mkdir fixed && cp make.yml a.txt b.txt fixed
    printf 'operations: { a: { run: "true", inputs: [a.txt] } }' > fixed/ro.yml
    chmod 555 fixed && chmod 755 .
    as=
    [ "$(id -u)" -ne 0 ] || as='setpriv --reuid=65534 --regid=65534 --clear-groups'
    $as timeout 60 "$opq" run fixed/ro.yml > out 2> err
    check 'a folder that cannot be written is named, and the run succeeds' test $? -eq 0
    check 'the missing record is announced' grep -q 'nothing is recorded: cannot make fixed/.opq: Permission denied' err
    chmod 755 fixed
fi

check 'a stream leaves no journal' test ! -e .opq/-
echo "$passed passed, $failed failed"
test $failed -eq 0
