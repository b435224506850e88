#define _GNU_SOURCE
#include "CPlatform.h"

#include <stdlib.h>

_Thread_local cplatform_thread cplatform_thread_storage CPLATFORM_THREAD_MODEL;

pthread_key_t cplatform_make_key(void (*end)(void *)) {
    pthread_key_t key = 0;
    pthread_key_create(&key, end);
    return key;
}

void cplatform_at_thread_end(pthread_key_t key, void *object) { pthread_setspecific(key, object); }

typedef struct {
    void (*body)(void *);
    void *argument;
} start;

static void *run(void *memory) {
    start begun = *(start *)memory;
    free(memory);
    begun.body(begun.argument);
    return NULL;
}

bool cplatform_start_thread(void (*body)(void *), void *argument) {
    start *memory = malloc(sizeof *memory);
    if (!memory) return false;
    *memory = (start){body, argument};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, memory)) {
        free(memory);
        return false;
    }
    pthread_detach(thread);
    return true;
}

#if defined(__linux__)
#include <errno.h>
#include <sched.h>
#include <unistd.h>
#include <sys/syscall.h>

int cplatform_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int cplatform_thread_id(void) { return (int)syscall(SYS_gettid); }

int cplatform_affine_processors(void) {
    // The kernel rejects a set that is smaller than its own number of processors.
    for (int count = 1024; count <= 1024 * 1024; count *= 4) {
        cpu_set_t *set = CPU_ALLOC(count);
        if (!set) return 0;
        size_t size = CPU_ALLOC_SIZE(count);
        int found = sched_getaffinity(0, size, set) ? 0 : CPU_COUNT_S(size, set);
        bool again = !found && errno == EINVAL;
        CPU_FREE(set);
        if (!again) return found;
    }
    return 0;
}
#endif
