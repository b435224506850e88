#ifndef C_TEST_RUN_H
#define C_TEST_RUN_H

#include <stdbool.h>

// The limit of parallel tests needs no call, because loading the tests sets it.

/// Restricts the calling thread, and threads that it starts later, to one processor. Returns false if the system cannot do
/// this.
bool ctestrun_use_one_processor(void);

#endif
