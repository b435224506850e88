#!/bin/sh
# libfaketime 0.9.10 (Debian 12, package libfaketime 0.9.10-2.1): under a date in the past, the processor time of a thread is negative,
# and the monotonic clock shows the faked date.
#
# The library shifts every clock that it does not know. It knows CLOCK_THREAD_CPUTIME_ID and CLOCK_PROCESS_CPUTIME_ID. It does not
# know the identifier that pthread_getcpuclockid returns, which means the same clock. So one clock of the same thread is right under
# one name, and ten days before zero under the other. Its default also fakes CLOCK_MONOTONIC: the clock is near the seconds since 1970,
# not near the time since boot. Code that converts such a time to an unsigned number stops or gets a huge number.
#
# Seen on 2026-11-29 with FAKETIME=-10d, x86_64:
#     thread clock by CLOCK_THREAD_CPUTIME_ID: not negative
#     thread clock by pthread_getcpuclockid: negative
#     monotonic clock equals the faked date: yes
#
# Here: rule A19; ClockTests.
set -eu
for tool in apt-get dpkg cc; do command -v $tool > /dev/null || { echo "$tool is missing"; exit 2; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download libfaketime=0.9.10-2.1 > /dev/null 2>&1 || { echo 'libfaketime 0.9.10-2.1 cannot be downloaded'; exit 2; }
dpkg -x libfaketime_*.deb root
library=$(find "$folder/root" -name libfaketime.so.1)
cat > show.c << 'END'
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static long seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (long)time.tv_sec;
}

int main(void) {
    clockid_t clock;
    pthread_getcpuclockid(pthread_self(), &clock);
    const char *signs[] = {"not negative", "negative"};
    printf("thread clock by CLOCK_THREAD_CPUTIME_ID: %s\n", signs[seconds(CLOCK_THREAD_CPUTIME_ID) < 0]);
    printf("thread clock by pthread_getcpuclockid: %s\n", signs[seconds(clock) < 0]);
    long difference = seconds(CLOCK_MONOTONIC) - seconds(CLOCK_REALTIME);
    printf("monotonic clock equals the faked date: %s\n", -2 < difference && difference < 2 ? "yes" : "no");
}
END
cc show.c -o show -pthread
FAKETIME=-10d LD_PRELOAD=$library ./show | tee seen
cat > expected << 'END'
thread clock by CLOCK_THREAD_CPUTIME_ID: not negative
thread clock by pthread_getcpuclockid: negative
monotonic clock equals the faked date: yes
END
cmp -s seen expected || { echo 'This has changed.'; exit 1; }
