#!/bin/sh
# croniter 7.0.0, cronsim 2.8 and crontab 1.0.5 (PyPI): the same six fields are three different schedules.
#
# All three accept `0 5 10 * * *` without an error. For cronsim the additional field is the second at the start: each day at 10:05.
# For croniter it is the second at the end, and the star means each second: at 05:00:00, 05:00:01 and so on, on the tenth of a month.
# For crontab it is the year at the end: once a month. A schedule that moves between two programs keeps its text, and runs 30 times
# as often or 60 times in a minute.
#
# Seen on 2026-11-30, Python 3.11:
#     croniter: 12-10 05:00:00, 12-10 05:00:01
#     cronsim: 11-30 10:05:00, 12-01 10:05:00
#     crontab: 12-10 05:00:00, 01-10 05:00:00
#
# Here: a sixth field is the second at the start; the table of cron in Durable/Documentation/ComingFrom.md, CronScheduleTests.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q croniter==7.0.0 cronsim==2.8 crontab==1.0.5 > log 2>&1 ||
    { tail -n 3 log; echo 'the packages cannot be installed'; exit 2; }
cat > show.py << 'END'
from datetime import datetime

from croniter import croniter
from cronsim import CronSim
from crontab import CronTab

TEXT = "0 5 10 * * *"
START = datetime(2026, 11, 30)


def show(name, first, second):
    print(f"{name}: {first:%m-%d %H:%M:%S}, {second:%m-%d %H:%M:%S}")


times = croniter(TEXT, START)
show("croniter", times.get_next(datetime), times.get_next(datetime))
times = CronSim(TEXT, START)
show("cronsim", next(times), next(times))
table = CronTab(TEXT)
first = table.next(START, default_utc=False, return_datetime=True)
show("crontab", first, table.next(first, default_utc=False, return_datetime=True))
END
environment/bin/python -W ignore show.py | tee seen
cat > expected << 'END'
croniter: 12-10 05:00:00, 12-10 05:00:01
cronsim: 11-30 10:05:00, 12-01 10:05:00
crontab: 12-10 05:00:00, 01-10 05:00:00
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
