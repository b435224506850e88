// What the Swift module of the C library leaves out: malloc's own statistics.
#ifndef C_HEAP_H
#define C_HEAP_H

#include <malloc.h>

#endif
