// What Swift has no words for: a thread's own variables; and what is spelled another way on each system.
#ifndef C_PLATFORM_H
#define C_PLATFORM_H

#include <stdint.h>
#include <pthread.h>
#include <stdbool.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#else
#define _Nonnull
#define _Nullable
#endif

/// What this library keeps for each thread. Reading it costs a load: `pthread_getspecific` behind a lazily made key is
/// some ten times as much, and is asked several times an operation.
///
/// Objects are retained by whoever puts them here, who also has to take them out when the thread ends.
typedef struct {
    /// Of `Operations`: its `ThreadContext`.
    void *_Nullable context;
    /// Of `KeyValueObserving`: its `ObservingThread`.
    void *_Nullable observing;
    /// The system asks for properties, for its own purposes: their reading is none that anybody tracks.
    bool isAsking;
    /// Set when the Observation framework hashes a key path that it was given on this thread.
    bool isTracked;
} cplatform_thread;

// Initial-exec: no call to find the variable. Costs a few bytes of what the loader keeps for libraries loaded late.
#if defined(__ELF__)
#define CPLATFORM_THREAD_MODEL __attribute__((tls_model("initial-exec")))
#else
#define CPLATFORM_THREAD_MODEL
#endif

extern _Thread_local cplatform_thread cplatform_thread_storage CPLATFORM_THREAD_MODEL;

static inline cplatform_thread *_Nonnull cplatform_this_thread(void) { return &cplatform_thread_storage; }

/// A key for `cplatform_at_thread_end`: `end` is called with what a thread has set, when that thread ends.
pthread_key_t cplatform_make_key(void (*_Nonnull end)(void *_Nonnull));
void cplatform_at_thread_end(pthread_key_t key, void *_Nonnull object);

/// Tells the processor that this thread looks again and again at something another one will change.
static inline void cplatform_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// Retains a Swift object whose memory is there, and which may be about to be freed: NULL if it is.
static inline void *_Nullable cplatform_try_retain(void *_Nonnull object) {
    extern void *_Nullable swift_tryRetain(void *_Nonnull object);
    return swift_tryRetain(object);
}

/// Does nothing, which the Swift optimizer does not know: it moves no access to memory, no retain and no release across it.
static inline void cplatform_barrier(void) { __asm__ volatile("" ::: "memory"); }

/// Calls `body` on a new thread, for whose end nobody waits. False: there is none to be had.
bool cplatform_start_thread(void (*_Nonnull body)(void *_Nullable), void *_Nullable argument);

/// Begins to fetch the first 128 bytes of an object that is going to be written.
static inline void cplatform_prefetch(const void *_Nonnull object) {
    __builtin_prefetch(object, 1);
    __builtin_prefetch((const char *)object + 64, 1);
}

#if defined(__linux__)
/// Names the calling thread. At most 15 bytes are kept; longer names are refused.
int cplatform_set_thread_name(const char *_Nonnull name);
/// The kernel's identifier of the calling thread; equals the process identifier on the main thread.
int cplatform_thread_id(void);
/// The number of processors that the calling thread may run on; 0 if the kernel does not say.
int cplatform_affine_processors(void);
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Whether a job of the Swift runtime is a task that goes on. The others are the runtime's own: an actor that is to be
/// drained, for instance. The kind of a job stands in the lowest byte of its flags, behind the object header and two words
/// that belong to the executor (`Job` in the runtime's ABI). The Swift interface to it is not public yet.
static inline _Bool cplatform_job_is_task(uintptr_t job) {
    return ((const unsigned char *)job)[4 * sizeof(void *)] == 0;
}

#endif
