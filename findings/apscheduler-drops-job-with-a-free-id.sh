#!/bin/sh
# APScheduler 3.11.3 (PyPI): a one-time job is dropped if a job that had the same ID still runs, although the ID is free.
#
# A one-time job leaves the scheduler when it starts. So `get_job` returns None for its ID, and `add_job` accepts another job with
# this ID, also without `replace_existing`. But the executor counts the instances that run by ID, and `max_instances` is 1. It
# skips the new job, and a skipped one-time job has no next time. The only trace is a warning in the log, and an event
# of another type than those of missed, failed and removed jobs. A job that repeats would only lose one turn.
#
# Seen on 2026-11-29, Python 3.11:
#     while the first job runs: get_job None
#     added: report
#     after the first job: ran ['first'], jobs []
#     under another ID: ran ['first', 'third'], jobs []
#
# Here: a limit for keys makes an operation wait, and drops none; KeyLimitsTests.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q APScheduler==3.11.3 > log 2>&1 ||
    { tail -n 3 log; echo 'APScheduler 3.11.3 cannot be installed'; exit 2; }
cat > show.py << 'END'
import logging
import threading

from apscheduler.events import EVENT_JOB_EXECUTED, EVENT_JOB_MAX_INSTANCES
from apscheduler.schedulers.background import BackgroundScheduler

logging.disable(logging.WARNING)
ran, begun, may_end = [], threading.Event(), threading.Event()
dropped, ended = threading.Event(), threading.Semaphore(0)


def first():
    ran.append("first")
    begun.set()
    may_end.wait()


scheduler = BackgroundScheduler()
scheduler.add_listener(lambda event: dropped.set(), EVENT_JOB_MAX_INSTANCES)
scheduler.add_listener(lambda event: ended.release(), EVENT_JOB_EXECUTED)
scheduler.start()
scheduler.add_job(first, id="report")
begun.wait()
print("while the first job runs: get_job", scheduler.get_job("report"))
print("added:", scheduler.add_job(ran.append, args=["second"], id="report").id)
# A job that ran would end within milliseconds.
dropped.wait(10)
may_end.set()
ended.acquire()
print(f"after the first job: ran {ran}, jobs {scheduler.get_jobs()}")
scheduler.add_job(ran.append, args=["third"], id="other report")
ended.acquire()
print(f"under another ID: ran {ran}, jobs {scheduler.get_jobs()}")
scheduler.shutdown()
END
timeout 60 environment/bin/python show.py | tee seen
cat > expected << 'END'
while the first job runs: get_job None
added: report
after the first job: ran ['first'], jobs []
under another ID: ran ['first', 'third'], jobs []
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
