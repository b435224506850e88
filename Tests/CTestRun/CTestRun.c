#define _GNU_SOURCE
#include "CTestRun.h"

#if defined(__linux__)
#include <sched.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/// Limits the number of parallel tests to twice the number of processors. Otherwise swift-testing would start more than a
/// thousand tests at once, and the time that they wait for a thread would count against their time limits.
__attribute__((constructor)) static void limitWidth(void) {
    char width[16];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(width, sizeof width, "%ld", processors > 0 ? 2 * processors : 2);
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", width, 0);
}

bool ctestrun_use_one_processor(void) {
#if defined(__linux__)
    int processor = sched_getcpu();
    if (processor < 0 || processor >= CPU_SETSIZE) return false;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    // The first thread counts as the process, and the calling thread may be another one.
    return sched_setaffinity(0, sizeof one, &one) == 0 && sched_setaffinity(getpid(), sizeof one, &one) == 0;
#else
    return false;
#endif
}
