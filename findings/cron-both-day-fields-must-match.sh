#!/bin/sh
# crontab 1.0.5, cron-converter 2.0.2 and huey 3.5.4 (PyPI): a day must match both day fields.
#
# POSIX, and each cron of Linux, run a line with a day of the month and a day of the week when either matches: `0 0 1-7 * 1` is the
# first seven days of a month and each Monday. These three libraries require both: the first Monday of a month. The descriptions do
# not say so. croniter follows POSIX. A line that is copied from a crontab is run once a month instead of eleven times.
#
# Seen on 2026-11-30, Python 3.11:
#     croniter: [1, 2, 3, 4, 5, 6, 7, 8, 15, 22, 29]
#     crontab: [1]
#     cron-converter: [1]
#     huey: [1]
#
# Here: a day matches either field, as in POSIX; the table of cron in Durable/Documentation/ComingFrom.md, CronScheduleTests.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q croniter==7.0.0 crontab==1.0.5 cron-converter==2.0.2 huey==3.5.4 > log 2>&1 ||
    { tail -n 3 log; echo 'the packages cannot be installed'; exit 2; }
cat > show.py << 'END'
from datetime import datetime, timedelta

from cron_converter import Cron
from croniter import croniter
from crontab import CronTab
from huey import crontab

TEXT = "0 0 1-7 * 1"
START = datetime(2026, 5, 31)
JUNE = [datetime(2026, 6, day) for day in range(1, 31)]


def days(next_time):
    found, time = [], START
    while (time := next_time(time)).month == 6:
        found.append(time.day)
    return found


print("croniter:", days(lambda time: croniter(TEXT, time).get_next(datetime)))
print("crontab:", days(lambda time: CronTab(TEXT).next(time, default_utc=False, return_datetime=True)))
print("cron-converter:", days(lambda time: Cron(TEXT).schedule(time + timedelta(minutes=1)).next()))
matches = crontab(minute="0", hour="0", day="1-7", day_of_week="1")
print("huey:", [time.day for time in JUNE if matches(time)])
END
environment/bin/python -W ignore show.py | tee seen
cat > expected << 'END'
croniter: [1, 2, 3, 4, 5, 6, 7, 8, 15, 22, 29]
crontab: [1]
cron-converter: [1]
huey: [1]
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
