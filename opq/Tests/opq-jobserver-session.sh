#!/bin/sh
# Runs the built opq under make, and make under opq, with the jobserver of GNU make.
# Usage: Tests/opq-jobserver-session.sh [path of opq]
set -u
command -v make > /dev/null || { echo 'make is not installed: the jobserver is not checked'; exit 0; }
opq=$(realpath "${1:-.build/debug/opq}")
shared=$(realpath "$(dirname "$0")/session.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$shared"
unset MAKEFLAGS MFLAGS MAKELEVEL

# Each job notes its start and its end, so the largest number at a time can be counted.
cat > job << 'END'
#!/bin/sh
echo + >> "$WORK/jobs"
sleep 0.1
echo - >> "$WORK/jobs"
END
chmod +x job
export WORK=$work OPQ=$opq
most() { awk '$1 == "+" { n++; if (n > most) most = n } $1 == "-" { n-- } END { print most + 0 }' jobs; }
count() { grep -c + jobs; }

cat > many.yml << 'END'
queues: { wide: { concurrency: 20 } }
operations:
  many: { each: [1, 2, 3, 4, 5, 6, 7, 8], queue: wide, run: ./job }
END
printf 'all: opq more\nopq:\n\t+$(OPQ) run many.yml\nmore: 1 2 3 4 5 6\n1 2 3 4 5 6:\n\t./job\n' > Makefile
: > jobs
make -j3 > out 2> err
check 'make with opq in it succeeds' test $? -eq 0
check 'all jobs ran' test "$(count)" -eq 14
check "make and opq share three jobs, not $(most)" test "$(most)" -eq 3
check 'no token is missing at the end' test "$(grep -c 'jobserver tokens' err)" -eq 0
: > jobs
make -j3 OPQ="$opq" opq > out 2> err
check "opq alone under make takes all jobs, not $(most)" test "$(most)" -eq 3

# A recipe without the plus sign.
sed -i 's/\t+/\t/' Makefile
: > jobs
make -j3 opq > out 2> err
check 'make closes the jobserver of a plain recipe, and opq says so' grep -q "begin the recipe with '+'" err
check 'one command runs at a time then' test "$(most)" -eq 1
sed -i 's/run many/run -j 2 many/' Makefile
printf 'operations:\n  many: { each: [1, 2, 3, 4], run: ./job }\n' > many.yml
: > jobs
make -j3 opq > out 2> err
check 'a number of jobs on the command line counts more' test "$(most)" -eq 2
check 'and opq says nothing' test "$(grep -c '^opq:' err)" -eq 0

# A fifo, as make 4.4 has it, and tokens of a killed opq.
mkfifo tokens
exec 3<> tokens
printf 'ab' >&3
printf 'operations:\n  many: { each: [1, 2, 3], run: "echo > started; exec sleep 1000" }\n' > long.yml
printf 'queues: { default: { concurrency: 3 } }\n' >> long.yml
mkfifo started
# Open for reading all the time, so that no line is lost between two reads.
exec 4<> started
MAKEFLAGS="k -j3 --jobserver-auth=fifo:$work/tokens" "$opq" run long.yml > out 2> err &
killed=$!
for _ in 1 2 3; do read -r _ <&4; done
check 'opq takes the tokens of a fifo' sh -c '! timeout 0.2 head -c 1 <&3 | grep -q .'
kill -KILL $killed
wait $killed 2> /dev/null
check 'a killed opq gives its tokens back, the same bytes' test "$(timeout 5 head -c 2 <&3 | fold -w 1 | sort | tr -d '\n')" = ab
printf 'ab' >&3
printf 'operations:\n  many: { each: [1, 2, 3, 4, 5], run: "true" }\n' > long.yml
MAKEFLAGS="-j3 --jobserver-auth=fifo:$work/tokens" "$opq" run long.yml > out 2> err
check 'the next run succeeds, and ends the commands that are left' test $? -eq 0
check 'all tokens are back after a run' test "$(timeout 5 head -c 2 <&3 | fold -w 1 | sort | tr -d '\n')" = ab
exec 3>&-

# An own jobserver for makes.
printf 'all: 1 2 3 4\n1 2 3 4:\n\t@./job\n' > sub.mk
cat > server.yml << 'END'
jobserver: true
queues: { wide: { concurrency: 20 } }
operations:
  makes: { each: [1, 2, 3], queue: wide, run: "make -f sub.mk {item} && make -f sub.mk" }
END
: > jobs
status 0 run -j 3 server.yml
check 'the makes ran all their jobs' test "$(count)" -eq 15
check "makes in opq share three jobs, not $(most)" test "$(most)" -eq 3
check 'no make complains' test "$(grep -ci 'jobserver' out)" -eq 0
# A make that is killed keeps its tokens. They are made again when no command runs.
cat > lost.yml << 'END'
jobserver: true
operations:
  thief: { run: "fd=${MAKEFLAGS##*=}; fd=${fd%%,*}; eval \"head -c 2 <&$fd > /dev/null\"; kill -KILL $$", mayFail: true }
  makes: { after: thief, when: always, run: "make -f sub.mk" }
END
: > jobs
status 0 run -j 3 lost.yml
check "lost tokens are made again: $(most) jobs" test "$(most)" -eq 3
# Another jobserver in the environment is handed on.
printf 'jobserver: true\noperations: { show: { run: "echo $MAKEFLAGS" } }\n' > show.yml
MAKEFLAGS='-k' "$opq" run -j 2 show.yml > out 2> err
check 'other flags of make stay' grep -q '^-k -j2 --jobserver-auth=[0-9]*,[0-9]*$' out

echo "$passed passed, $failed failed"
test $failed -eq 0
