// The statistics of malloc, which the Swift module of the C library does not export.
#ifndef C_ALLOCATOR_H
#define C_ALLOCATOR_H

#if defined(__GLIBC__) || (defined(__has_include) && __has_include(<gnu/libc-version.h>))
#include <malloc.h>
#endif

#endif
