#!/bin/sh
# humanfriendly 10.0 (PyPI): a year has 364 days.
#
# A time span of "1y" is 52 weeks. A retention or a deadline that is written in years ends a day early for each year, two in a leap
# year, and 365 days are printed as a year and a day. The value differs from "365d", and from the year of systemd and of durationpy.
#
# Seen on 2026-11-30, Python 3.11:
#     humanfriendly, 1y: 364.0 days
#     humanfriendly, 365 days: 1 year and 1 day
#     durationpy, 1y: 365.0 days
#
# Here: no duration of a workflow or schedule has a unit above days; `an invalid schedule is refused` of CronScheduleTests.
set -eu
command -v python3 > /dev/null || { echo 'python3 is missing'; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment && environment/bin/pip install -q humanfriendly==10.0 durationpy==0.11 > log 2>&1 ||
    { tail -n 3 log; echo 'the packages cannot be installed'; exit 2; }
cat > show.py << 'END'
import durationpy
from humanfriendly import format_timespan, parse_timespan

DAY = 24 * 60 * 60
print("humanfriendly, 1y:", parse_timespan("1y") / DAY, "days")
print("humanfriendly, 365 days:", format_timespan(365 * DAY))
print("durationpy, 1y:", durationpy.from_str("1y").total_seconds() / DAY, "days")
END
environment/bin/python -W ignore show.py | tee seen
cat > expected << 'END'
humanfriendly, 1y: 364.0 days
humanfriendly, 365 days: 1 year and 1 day
durationpy, 1y: 365.0 days
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
