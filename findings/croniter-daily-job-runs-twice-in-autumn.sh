#!/bin/sh
# croniter 7.0.0 (PyPI): a daily job runs twice in the night in which the clock is put back.
#
# `30 2 * * *` in Berlin gives 02:30 in summer time and, an hour later, 02:30 in winter time. The cron of Debian and cronsim run a
# job with a fixed time once in that night. In spring croniter moves the missing 02:30 to 03:00 as they do, so that a reader who tries
# one of the two nights expects the same care in the other one.
#
# Seen on 2026-11-30, Python 3.11:
#     spring croniter: 03-29 03:00+0200, 03-30 02:30+0200, 03-31 02:30+0200
#     spring cronsim: 03-29 03:00+0200, 03-30 02:30+0200, 03-31 02:30+0200
#     autumn croniter: 10-25 02:30+0200, 10-25 02:30+0100, 10-26 02:30+0100
#     autumn cronsim: 10-25 02:30+0200, 10-26 02:30+0100, 10-27 02:30+0100
#
# Here: a time that exists twice counts once; `R37: a time that exists twice counts once` of CronScheduleTests.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q croniter==7.0.0 cronsim==2.8 > log 2>&1 ||
    { tail -n 3 log; echo 'the packages cannot be installed'; exit 2; }
cat > show.py << 'END'
from datetime import datetime
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

TEXT = "30 2 * * *"
ZONE = ZoneInfo("Europe/Berlin")

for season, start in [("spring", datetime(2026, 3, 28, 12, tzinfo=ZONE)), ("autumn", datetime(2026, 10, 24, 12, tzinfo=ZONE))]:
    times = croniter(TEXT, start)
    print(season, "croniter:", ", ".join(times.get_next(datetime).strftime("%m-%d %H:%M%z") for _ in range(3)))
    times = CronSim(TEXT, start)
    print(season, "cronsim:", ", ".join(next(times).strftime("%m-%d %H:%M%z") for _ in range(3)))
END
environment/bin/python -W ignore show.py | tee seen
cat > expected << 'END'
spring croniter: 03-29 03:00+0200, 03-30 02:30+0200, 03-31 02:30+0200
spring cronsim: 03-29 03:00+0200, 03-30 02:30+0200, 03-31 02:30+0200
autumn croniter: 10-25 02:30+0200, 10-25 02:30+0100, 10-26 02:30+0100
autumn cronsim: 10-25 02:30+0200, 10-26 02:30+0100, 10-27 02:30+0100
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
