// Functions that Swift does not offer: thread-local variables, and calls that differ between systems.
#ifndef C_PLATFORM_H
#define C_PLATFORM_H

#include <stdint.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#else
#define _Nonnull
#define _Nullable
#endif

/// The data that this library keeps for each thread. A read costs one load. `pthread_getspecific` with a lazily made key costs
/// about ten times as much, and each operation would need it several times.
///
/// The code that stores an object here must retain it, and must remove it when the thread ends.
typedef struct {
    /// The `ThreadContext` of `Operations`.
    void *_Nullable context;
    /// The `ObservingThread` of `KeyValueObserving`.
    void *_Nullable observing;
    /// Whether the system reads properties for its own purposes, so that the reads must not be tracked.
    bool isAsking;
    /// Set when the Observation framework hashes a key path that it received on this thread.
    bool isTracked;
} cplatform_thread;

// Initial-exec: a read needs no function call. The variable uses a few bytes of the space that the loader reserves for
// libraries that are loaded late.
#if defined(__ELF__)
#define CPLATFORM_THREAD_MODEL __attribute__((tls_model("initial-exec")))
#else
#define CPLATFORM_THREAD_MODEL
#endif

extern _Thread_local cplatform_thread cplatform_thread_storage CPLATFORM_THREAD_MODEL;

static inline cplatform_thread *_Nonnull cplatform_this_thread(void) { return &cplatform_thread_storage; }

/// Makes a key for `cplatform_at_thread_end`. When a thread ends, `end` is called with the object that the thread has set.
pthread_key_t cplatform_make_key(void (*_Nonnull end)(void *_Nonnull));
void cplatform_at_thread_end(pthread_key_t key, void *_Nonnull object);

/// Informs the processor that this thread repeatedly reads a value that another thread will change.
static inline void cplatform_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// Retains a Swift object that may be about to be freed. Its memory must still be valid. Returns NULL if the object is being
/// freed.
static inline void *_Nullable cplatform_try_retain(void *_Nonnull object) {
    extern void *_Nullable swift_tryRetain(void *_Nonnull object);
    return swift_tryRetain(object);
}

/// Does nothing, but the Swift optimizer moves no memory access, no retain and no release across the call.
static inline void cplatform_barrier(void) { __asm__ volatile("" ::: "memory"); }

/// Calls `body` on a new detached thread. Returns false if no thread could be created.
///
/// On Linux the thread has the signal mask, the affinity, the scheduling policy and the nice value of the process, not those of the
/// calling thread.
bool cplatform_start_thread(void (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

/// Handles a signal by a write of one byte, its number, to a descriptor: the only action that is safe inside a handler of signals.
/// One descriptor serves all signals. Returns false if the signal cannot be handled.
bool cplatform_write_at_signal(int signal, int descriptor);

/// Whether this process is the child of a fork whose parent had threads of the library. They do not exist here.
extern bool cplatform_lost_threads;
static inline bool cplatform_has_lost_threads(void) { return __builtin_expect(cplatform_lost_threads, false); }

/// Allocates memory that is 16-byte aligned. `UnsafeMutablePointer.allocate` calls `posix_memalign` for the same purpose, which
/// costs some 200 instructions more.
static inline void *_Nonnull cplatform_allocate(size_t size) {
    void *memory = malloc(size);
    if (!memory) abort();
    return memory;
}

static inline void cplatform_free(void *_Nonnull memory) { free(memory); }

/// Begins to fetch a cache line that is about to be written. The compiler's `__builtin_prefetch` fetches it for reading on a
/// generic x86-64, so the first write would have to wait for the other cores.
static inline void cplatform_prefetch_line(const void *_Nonnull line) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/// Begins to fetch an object of up to 128 bytes that is about to be written and freed. Its last bytes may be in a third cache
/// line, with the header of the next block of memory, which `free` reads.
static inline void cplatform_prefetch(const void *_Nonnull object) {
    cplatform_prefetch_line(object);
    cplatform_prefetch_line((const char *)object + 64);
    cplatform_prefetch_line((const char *)object + 136);
}

#if defined(__linux__)
/// Names the calling thread. The name may have at most 15 bytes; a longer name is refused.
int cplatform_set_thread_name(const char *_Nonnull name);
/// The kernel's identifier of the calling thread; equals the process identifier on the main thread.
int cplatform_thread_id(void);
/// The number of processors that the process may run on; 0 if the kernel does not say. Read once.
int cplatform_affine_processors(void);
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Whether a job of the Swift runtime is a task that resumes. Other jobs belong to the runtime, such as draining an actor. The
/// kind of a job is the lowest byte of its flags, which follow the object header and two words that belong to the executor
/// (`Job` in the runtime's ABI). The Swift interface to the kind is not public yet.
static inline _Bool cplatform_job_is_task(uintptr_t job) {
    return ((const unsigned char *)job)[4 * sizeof(void *)] == 0;
}

/// Whether a job of the Swift runtime resumes a continuation without a result, as `Task.yield()` creates it
/// (`JobKind::NullaryContinuation` in the runtime's ABI).
static inline _Bool cplatform_job_is_yield(uintptr_t job) {
    return ((const unsigned char *)job)[4 * sizeof(void *)] == 195;
}

#endif
