#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

_Thread_local cplatform_thread cplatform_thread_storage CPLATFORM_THREAD_MODEL;

pthread_key_t cplatform_make_key(void (*end)(void *)) {
    pthread_key_t key = 0;
    pthread_key_create(&key, end);
    return key;
}

void cplatform_at_thread_end(pthread_key_t key, void *object) { pthread_setspecific(key, object); }

#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

// A new thread inherits the signal mask, the affinity, the scheduling policy and the nice value of the thread that creates it. So
// threads of the library would depend on the thread that adds the first operation: a thread of Dispatch blocks nearly all signals,
// and a process that an operation starts would ignore SIGTERM. The threads of the library take the values of the process instead:
// those of its first thread, read when the library creates its first thread. Not earlier, because a program that waits for signals
// in one thread blocks them before it starts others, and may have made a queue by then.
static struct {
    sigset_t mask;
    cpu_set_t *processors;
    size_t size;
    int policy;
    struct sched_param parameters;
    int niceness;
} process;
static pthread_once_t process_is_read = PTHREAD_ONCE_INIT, processors_are_read = PTHREAD_ONCE_INIT;

// The mask when this library was loaded, usually by the first thread. Used where the file system of processes is not mounted.
__attribute__((constructor)) static void note_mask(void) { pthread_sigmask(SIG_BLOCK, NULL, &process.mask); }

// Only a file tells the mask of another thread. Its first 64 signals are all that Linux has.
static bool read_blocked_signals(unsigned long long *bits) {
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    size_t length = 0;
    for (;;) {
        ssize_t count = read(file, text + length, sizeof text - 1 - length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        length += (size_t)count;
    }
    close(file);
    text[length] = 0;
    const char *line = strstr(text, "\nSigBlk:");
    return line && sscanf(line, "\nSigBlk: %llx", bits) == 1;
}

static void read_mask(void) {
    // While the first thread creates a thread, the C library blocks all signals in it for a moment, its own two included, which a
    // program cannot block.
    const unsigned long long own = 3ULL << 31;
    unsigned long long bits = own;
    for (int attempt = 0; bits & own; attempt++) {
        if (attempt > 1000 || !read_blocked_signals(&bits)) return;
        if (bits & own) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    sigemptyset(&process.mask);
    for (int signal = 1; signal <= 64; signal++)
        if (bits >> (signal - 1) & 1) sigaddset(&process.mask, signal);
}

static void read_processors(void) {
    int error = errno;
    // The kernel rejects a set that is smaller than its own number of processors.
    for (int count = 1024; count <= 1024 * 1024; count *= 4) {
        process.processors = CPU_ALLOC(count);
        if (!process.processors) break;
        process.size = CPU_ALLOC_SIZE(count);
        if (!sched_getaffinity(getpid(), process.size, process.processors)) break;
        CPU_FREE(process.processors);
        process.processors = NULL;
        if (errno != EINVAL) break;
    }
    errno = error;
}

static void read_process(void) {
    int error = errno;
    read_mask();
    process.policy = sched_getscheduler(getpid());
    if (process.policy >= 0 && sched_getparam(getpid(), &process.parameters)) process.policy = -1;
    process.niceness = getpriority(PRIO_PROCESS, (id_t)getpid());
    errno = error;
}

// What the system does not permit stays as it was: without privilege, nobody reduces a nice value.
static void become_thread_of_process(void) {
    if (process.processors) sched_setaffinity(0, process.size, process.processors);
    if (process.policy >= 0 && sched_getscheduler(0) != process.policy) {
        sched_setscheduler(0, process.policy, &process.parameters);
    }
    if (getpriority(PRIO_PROCESS, 0) != process.niceness) setpriority(PRIO_PROCESS, 0, process.niceness);
    pthread_sigmask(SIG_SETMASK, &process.mask, NULL);
}

static void prepare_threads(void) {
    pthread_once(&processors_are_read, read_processors);
    pthread_once(&process_is_read, read_process);
}
#else
static void become_thread_of_process(void) {}
static void prepare_threads(void) {}
#endif

bool cplatform_lost_threads = false;

// In the child of a fork only the forking thread exists, and a lock of the others stays locked.
static void note_fork(void) { cplatform_lost_threads = true; }
static void watch_for_fork(void) { pthread_atfork(NULL, NULL, note_fork); }
static pthread_once_t fork_is_watched = PTHREAD_ONCE_INIT;

typedef struct {
    void (*body)(void *);
    void *argument;
} start;

static void *run(void *memory) {
    start begun = *(start *)memory;
    free(memory);
    become_thread_of_process();
    begun.body(begun.argument);
    return NULL;
}

bool cplatform_start_thread(void (*body)(void *), void *argument) {
    prepare_threads();
    pthread_once(&fork_is_watched, watch_for_fork);
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

// Atomic, because a handler may read it on another thread.
static atomic_int signal_descriptor = -1;

static void write_signal(int signal) {
    int error = errno;
    char byte = (char)signal;
    // If the pipe is full, the reader has enough to do.
    (void)!write(signal_descriptor, &byte, 1);
    errno = error;
}

bool cplatform_write_at_signal(int signal, int descriptor) {
    signal_descriptor = descriptor;
    struct sigaction action = {.sa_handler = write_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0;
}

#if defined(__linux__)
int cplatform_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int cplatform_thread_id(void) { return (int)syscall(SYS_gettid); }

int cplatform_affine_processors(void) {
    pthread_once(&processors_are_read, read_processors);
    return process.processors ? CPU_COUNT_S(process.size, process.processors) : 0;
}
#endif
