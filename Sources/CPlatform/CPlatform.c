#define _GNU_SOURCE
#include "CPlatform.h"

#if defined(__linux__)
#include <pthread.h>
#include <unistd.h>
#include <sys/syscall.h>

int cplatform_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int cplatform_thread_id(void) { return (int)syscall(SYS_gettid); }
#endif
