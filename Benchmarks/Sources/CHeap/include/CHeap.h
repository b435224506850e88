// The statistics of malloc, which the Swift module of the C library does not export.
#ifndef C_HEAP_H
#define C_HEAP_H

#include <malloc.h>

#endif
