// What the Linux headers keep from Swift: GNU's thread names and thread identifiers.
#ifndef C_PLATFORM_H
#define C_PLATFORM_H

/// Tells the processor that this thread looks again and again at something another one will change.
static inline void cplatform_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

#if defined(__linux__)
/// Names the calling thread. At most 15 bytes are kept; longer names are refused.
int cplatform_set_thread_name(const char *name);
/// The kernel's identifier of the calling thread; equals the process identifier on the main thread.
int cplatform_thread_id(void);
#endif

#endif
