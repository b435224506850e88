#!/bin/sh
# A session with opq on a cluster of two nodes on this machine: Slurm's own daemons, killed and started again. In each case, each
# command has run once.
#
# Usage: opq-slurm-session.sh PROGRAM
opq=$(realpath "$1")
tests=$(dirname "$(realpath "$0")")
slurm=$tests/../../Scripts/slurm
folder=$(mktemp -d)
cd "$folder" || exit 1
trap '"$slurm" stop "$folder/cluster" > /dev/null 2>&1; cd /; rm -rf "$folder"' EXIT
# shellcheck source=opq/Tests/session.sh
. "$tests/session.sh"

# The purge and the time-out of a node take minutes by default.
"$slurm" start "$folder/cluster" MinJobAge=10 SlurmdTimeout=15 > out 2> err || { cat out err; exit 1; }
export SLURM_CONF="$folder/cluster/slurm.conf"

# once NAME...: the commands of these operations have each written one line.
once() {
    for name in "$@"; do
        check "$name ran once" test "$(cat "ran.$name" 2> /dev/null | wc -l)" -eq 1
    done
}

# await COMMAND...: waits for up to a minute until the command succeeds.
await() {
    left=600
    until "$@" > /dev/null 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || { check "$* succeeds" false; return 1; }
        sleep 0.1
    done
}

no_jobs() { test -z "$(squeue -h)"; }
nodes_are_up() { test "$(sinfo -h -N -o %T | grep -c -E '^(idle|mixed|allocated)$')" -eq 2; }
# node_is NODE STATE: the controller sees the node in this state.
node_is() { test "$(sinfo -h -n "$1" -N -o %T)" = "$2"; }

# jobs COUNT: the commands of the last run have noted this number of different jobs in the file `jobs`.
jobs() { check "the commands ran in $1 jobs" test "$(sort -u jobs | wc -l)" -eq "$1"; }

# start FILE: starts a run in the background and waits until the command of the operation or the item `long` runs.
start() {
    rm -rf ran.* go jobs first
    "$opq" run --on slurm "$1" > out 2> err &
    run=$!
    await test -s ran.long
}

# finish STATUS: waits for the run in the background.
finish() {
    wait "$run"
    actual=$?
    check "the run ends with $1, not $actual" test "$actual" -eq "$1"
}

# --- A run: order, families, output, status, failures

cat > plain.yml <<'END'
operations:
  first: { run: "echo x >> ran.first; echo in $PWD", inputs: [plain.txt], outputs: [ran.first] }
  many: { each: [a, b, c, d], after: first, run: "echo x >> ran.{item}; echo item {item}" }
  bad: { after: many, run: "echo to see; exit 7" }
  skipped: { after: bad, run: "echo x >> ran.skipped" }
  big: { run: "echo x >> ran.big; echo $SLURM_CPUS_PER_TASK cpus", resources: { cpus: 2, memory: 100MiB }, slurm: [--nice=5] }
END
touch plain.txt
status 1 run --on slurm plain.yml
once first a b c d big
check "the output of a job is shown" grep -q "item c" out
check "a job runs in the folder of the file" grep -q "in $folder\$" out
check "resources reach Slurm" grep -q "2 cpus" out
check "a failure has its status" grep -q "bad.*exit 7" out
check "no dependent of a failed job runs" test ! -e ran.skipped
check "no files are left" test ! -e .opq/plain.yml/slurm
status 1 run --on slurm plain.yml
check "an operation that is up to date does not run again" test "$(wc -l < ran.first)" -eq 1
status 2 run --on slurm - < plain.yml
check "a stream is refused" grep -q "needs a workflow file" err
printf 'operations: { a: { run: "true", slurm: [--partition=none] } }\n' > partition.yml
status 1 run --on slurm partition.yml
check "a refusal of sbatch is named" grep -q "invalid partition" out
printf 'operations: { a: { run: "sleep 1000; true", timeout: 1s } }\n' > late.yml
status 1 run --on slurm late.yml
check "a time limit holds" grep -q "a  timed out after 1.00s" out

# --- Signals

cat > long.yml <<'END'
operations:
  long: { run: "echo x >> ran.long; while [ ! -e go ]; do sleep 0.2; done; echo finished" }
  next: { after: long, run: "echo x >> ran.next" }
END
start long.yml
kill -TERM "$run"
finish 143
check "a cancelled run leaves no job" no_jobs
check "nothing starts after a cancellation" test ! -e ran.next

# --- opq is killed: `resume` takes its jobs, and `run` ends them

start long.yml
kill -9 "$run"
wait "$run" 2> /dev/null
touch go
status 0 resume long.yml
once long next
check "resume runs in the same place" grep -q -- "with --on slurm" err
check "the job of the killed opq is taken" grep -q "continues in the job" err
check "its output is shown" grep -q finished out

start long.yml
kill -9 "$run"
wait "$run" 2> /dev/null
await no_jobs &
"$opq" run --on slurm long.yml > out 2> err &
run=$!
await grep -q "ends 1 job" err
await test "$(wc -l < ran.long)" -ge 1
touch go
finish 0
check "the job of the killed opq has ended" no_jobs

start long.yml
kill -9 "$run"
wait "$run" 2> /dev/null
touch go
await no_jobs
sleep 15 # Slurm forgets the job.
status 0 resume --on slurm long.yml
once long next

# --- A node's daemon is killed, beyond Slurm's patience: the job is lost for Slurm, and its command goes on

start long.yml
node=$(squeue -h -o %N)
"$slurm" kill "$folder/cluster" "$node" || check "the daemon of $node ends" false
await node_is "$node" 'down*'
check "Slurm has lost the job" no_jobs
touch go
finish 0
once long next
"$slurm" restart "$folder/cluster" "$node"
await nodes_are_up

# --- A node's daemon starts again while the command runs

start long.yml
node=$(squeue -h -o %N)
"$slurm" kill "$folder/cluster" "$node"
"$slurm" restart "$folder/cluster" "$node"
await nodes_are_up
touch go
finish 0
once long next

# --- The controller is killed and starts again

start long.yml
sleep 7 # The controller saves its state every five seconds.
"$slurm" kill "$folder/cluster" slurmctld
await grep -q "does not answer" err
"$slurm" restart "$folder/cluster" slurmctld
await nodes_are_up
touch go
finish 0
once long next

# A controller that was killed before it saved its state ends a job that it does not know, or starts it again.
start long.yml
"$slurm" kill "$folder/cluster" slurmctld
await grep -q "does not answer" err
"$slurm" restart "$folder/cluster" slurmctld
await nodes_are_up
touch go
wait "$run"
once long
await no_jobs

# --- opq is stopped until Slurm has forgotten the job

start long.yml
kill -STOP "$run"
touch go
await no_jobs
sleep 15
kill -CONT "$run"
finish 0
once long next

# --- Commands of a family share jobs

cat > shared.yml <<'END'
operations:
  many:
    each: { command: seq 200 }
    batch: 50
    run: "echo x >> ran.{item}; echo $SLURM_JOB_ID >> jobs; echo item {item}"
END
rm -f ran.* jobs
status 0 run --on slurm shared.yml
# shellcheck disable=SC2046
once $(seq 200)
jobs 4
check "the output of each command is shown" test "$(grep -c '^ *item [0-9]*$' out)" -eq 200
check "no files are left" test ! -e .opq/shared.yml/slurm

cat > ends.yml <<'END'
operations:
  many:
    each: [a, bad, c, late, e]
    batch: 5
    timeout: 1s
    run: "echo x >> ran.{item}; echo $SLURM_JOB_ID >> jobs; case {item} in bad) exit 7 ;; late) sleep 1000 ;; esac"
END
rm -f ran.* jobs
status 1 run --on slurm ends.yml
once a bad c late e
jobs 1
check "a failure in the middle of a job has its status" grep -q "many\[bad\].*exit 7" out
check "a time limit in the middle of a job holds" grep -q "many\[late\]  timed out" out
check "the others succeed" grep -q "3 succeeded" out
status 1 run --on slurm --jobs 2 ends.yml
check "a queue that is too narrow is named" grep -q "its queue starts 2 commands at a time" err

# The first command of the job waits, and the others come after it. Their order in the job is that of their starts in opq.
cat > shared-long.yml <<'END'
operations:
  many:
    each: [a, b, c, d]
    batch: 4
    run: |
      echo x >> ran.{item}
      echo $SLURM_JOB_ID >> jobs
      if mkdir first; then echo x >> ran.long; while [ ! -e go ]; do sleep 0.2; done; fi
  next: { after: many, run: "echo x >> ran.next" }
END

# runs COUNT: the commands of the family have run this number of times together.
runs() { check "the commands ran $1 times" test "$(cat ran.[a-d] | wc -l)" -eq "$1"; }
all_ran() { test -s ran.a -a -s ran.b -a -s ran.c -a -s ran.d; }

start shared-long.yml
kill -TERM "$run"
finish 143
check "a cancelled run leaves no shared job" no_jobs
runs 1
check "nothing starts after a cancellation" test ! -e ran.next

# start_and_kill: starts a run, and kills its opq in the middle of the job.
start_and_kill() {
    start shared-long.yml
    kill -9 "$run"
    wait "$run" 2> /dev/null
}

start_and_kill
touch go
status 0 resume shared-long.yml
once a b c d next
jobs 1

start_and_kill
touch go
await no_jobs
sleep 15 # Slurm forgets the job.
status 0 resume shared-long.yml
once a b c d next

# The file has changed, so the job ends, and all commands run by the new file.
start_and_kill
sed -i 's/sleep 0.2/sleep 0.1/' shared-long.yml
status 0 resume shared-long.yml
runs 5
once next
check "no job is left" no_jobs

# Slurm loses the node: the command continues there, and the next ones run in a job on the other node.
start shared-long.yml
node=$(squeue -h -o %N)
"$slurm" kill "$folder/cluster" "$node" || check "the daemon of $node ends" false
await node_is "$node" 'down*'
await all_ran
touch go
finish 0
once a b c d next
jobs 2
"$slurm" restart "$folder/cluster" "$node"
await nodes_are_up

start shared-long.yml
node=$(squeue -h -o %N)
"$slurm" kill "$folder/cluster" "$node"
"$slurm" restart "$folder/cluster" "$node"
await nodes_are_up
touch go
finish 0
once a b c d next

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
