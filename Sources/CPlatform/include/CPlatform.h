// What the Linux headers keep from Swift: GNU's thread names and thread identifiers.
#ifndef C_PLATFORM_H
#define C_PLATFORM_H

#if defined(__linux__)
/// Names the calling thread. At most 15 bytes are kept; longer names are refused.
int cplatform_set_thread_name(const char *name);
/// The kernel's identifier of the calling thread; equals the process identifier on the main thread.
int cplatform_thread_id(void);
#endif

#endif
