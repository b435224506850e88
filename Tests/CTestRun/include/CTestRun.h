#ifndef C_TEST_RUN_H
#define C_TEST_RUN_H

#include <stdbool.h>

// The limit of tests at a time needs no call: it is set when the tests are loaded.

/// Restricts the calling thread, and the threads that it starts, to one of its processors. False where the system cannot.
bool ctestrun_use_one_processor(void);

#endif
