// What the C library has for processes and its Swift module has not.
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

/// Starts a program as the leader of a session of its own: with empty standard input, standard output and standard error
/// to `output`, in `directory`, with all signals at their default actions and none blocked.
///
/// Answers 0, or an error number. One number may stand for the change of directory and for the start of the program.
int cprocess_spawn(
    pid_t *identifier, const char *program, char *const _Nullable *_Nonnull arguments,
    char *const _Nullable *_Nonnull environment, const char *directory, int output);

/// A descriptor that becomes readable when the child process ends, closed on `exec`; -1, and `errno`, where there is none.
int cprocess_open(pid_t identifier);

/// Whether a child process has ended: 0 if not, 1 by an exit with `status`, 2 by the signal `status`; -1 and `errno` on an error.
///
/// The child stays a zombie, so its identifier and that of its group are not given to another process.
int cprocess_ended(pid_t identifier, int *status);

/// A pipe whose ends are closed on `exec` and make nobody wait. Answers 0, or -1 and `errno`.
int cprocess_pipe(int ends[_Nonnull 2]);

/// Names the calling thread. At most 15 bytes are kept; longer names are refused.
int cprocess_set_thread_name(const char *name);

/// How many processors this process may use.
int cprocess_processors(void);

#if defined(__clang__)
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif

#endif
