// Functions of the C library for processes that Swift's Glibc module does not provide.
#ifndef C_PROCESS_H
#define C_PROCESS_H

#include <sys/types.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#pragma clang assume_nonnull begin
#else
#define _Nonnull
#define _Nullable
#endif

/// Starts a program as the leader of a new session in `directory`. A program without a slash is searched in `PATH`. Standard input is empty, and standard output and standard
/// error go to `output`. All signals have their default actions and are not blocked.
///
/// Returns 0 or an error number. The same number may come from the change of directory or from the start of the program.
int cprocess_spawn(
    pid_t *identifier, const char *program, char *const _Nullable *_Nonnull arguments,
    char *const _Nullable *_Nonnull environment, const char *directory, int output);

/// Returns a descriptor that becomes readable when the child process ends, and that is closed on `exec`. Returns -1 and sets
/// `errno` if the system provides none.
int cprocess_open(pid_t identifier);

/// Returns 0 if a child process still runs, 1 if it exited with `status`, and 2 if the signal `status` ended it. Returns -1
/// and sets `errno` on an error.
///
/// The child stays a zombie, so the system does not reuse its identifier or that of its group.
int cprocess_ended(pid_t identifier, int *status);

/// Creates a nonblocking pipe whose ends are closed on `exec`. Returns 0, or -1 and sets `errno`.
int cprocess_pipe(int ends[_Nonnull 2]);

/// Sets the name of the calling thread. Returns an error number if the name is longer than 15 bytes.
int cprocess_set_thread_name(const char *name);

/// Returns the number of processors that this process may use.
int cprocess_processors(void);

#if defined(__clang__)
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif

#endif
