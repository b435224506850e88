#!/bin/sh
# GNU parallel 20221122 (Debian 12, package parallel 20221122+ds-2): with `--keep-order` and `--halt now`, the output of jobs that
# have ended is lost, and `--joblog` has no line for them.
#
# `--keep-order` holds the output of a job until all jobs before it have ended, and the line of the log waits with it. `--halt now`
# kills the jobs that run, and drops all that is held. So a run that stops at a failure shows neither the output of the failure nor
# that of a job that succeeded, and `--resume-failed` repeats the job that succeeded. A run that ends at the first success has the
# status 0 and prints nothing. The manual says that the option "only affects the order in which the output is printed".
#
# Seen on 2026-11-29, x86_64:
#     --halt now,fail=1: status 1, jobs in the log: 2, output: good result bad result
#     --keep-order --halt now,fail=1: status 1, jobs in the log: 0, output:
#     --keep-order --halt now,success=1: status 0, jobs in the log: 0, output:
#
# Here: the first failure can cancel the other operations in RunTests of opq; each operation that has ended is reported.
set -eu
for tool in apt-get dpkg perl; do command -v $tool > /dev/null || { echo "$tool is missing"; exit 2; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download parallel=20221122+ds-2 > /dev/null 2>&1 || { echo 'parallel 20221122+ds-2 cannot be downloaded'; exit 2; }
dpkg -x parallel_*.deb root
export PARALLEL_HOME="$folder/home"
mkdir home
touch home/will-cite
# The job "bad" begins when "good" has ended, because two jobs run at a time.
job='case {} in slow) exec sleep 60;; good) echo good result;; bad) echo bad result; exit 1;; esac'

show() {
    status=0
    output=$(perl root/usr/bin/parallel -j2 --joblog log "$@" "$job" ::: slow good bad 2> /dev/null) || status=$?
    echo "$*: status $status, jobs in the log: $(($(wc -l < log) - 1)), output:" $output
}
{
    show --halt now,fail=1
    show --keep-order --halt now,fail=1
    show --keep-order --halt now,success=1
} | tee seen
cat > expected << 'END'
--halt now,fail=1: status 1, jobs in the log: 2, output: good result bad result
--keep-order --halt now,fail=1: status 1, jobs in the log: 0, output:
--keep-order --halt now,success=1: status 0, jobs in the log: 0, output:
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
