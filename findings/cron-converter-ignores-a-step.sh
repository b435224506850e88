#!/bin/sh
# cron-converter 2.0.2 (PyPI): a step behind a single number is accepted and has no effect.
#
# `5/15 * * * *` means minutes 5, 20, 35 and 50 for croniter, cronsim and Quartz. POSIX has no steps, so a reader that does not know the
# form should refuse it. cron-converter reads it as minute 5 alone, without an error: the job is run once an hour instead of four
# times. Its own text of the schedule has lost the step too.
#
# Seen on 2026-11-30, Python 3.11:
#     croniter: ['00:05', '00:20', '00:35', '00:50']
#     cron-converter: ['00:05', '01:05', '02:05', '03:05']
#     as text: 5 * * * *
#
# Here: a step behind a number counts to the end of the field; the table of cron in Durable/Documentation/ComingFrom.md, CronScheduleTests.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q croniter==7.0.0 cron-converter==2.0.2 > log 2>&1 ||
    { tail -n 3 log; echo 'the packages cannot be installed'; exit 2; }
cat > show.py << 'END'
from datetime import datetime

from cron_converter import Cron
from croniter import croniter

TEXT = "5/15 * * * *"
START = datetime(2026, 11, 30)

times = croniter(TEXT, START)
print("croniter:", [f"{times.get_next(datetime):%H:%M}" for _ in range(4)])
times = Cron(TEXT).schedule(START)
print("cron-converter:", [f"{times.next():%H:%M}" for _ in range(4)])
print("as text:", Cron(TEXT).to_string())
END
environment/bin/python -W ignore show.py | tee seen
cat > expected << 'END'
croniter: ['00:05', '00:20', '00:35', '00:50']
cron-converter: ['00:05', '01:05', '02:05', '03:05']
as text: 5 * * * *
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
