// Functions of the C library for processes that Swift's Glibc module does not provide.
#ifndef C_PROCESS_H
#define C_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#pragma clang assume_nonnull begin
#else
#define _Nonnull
#define _Nullable
#endif

/// The session and the process group of a new process, which leads its group in any case.
enum cprocess_place {
    /// The process leads a new session, which has no terminal.
    cprocess_own_session,
    /// The process is in the session of its parent.
    cprocess_same_session,
    /// The process is in the session of its parent, and its group is in the foreground of the terminal `input`.
    cprocess_foreground,
};

/// Starts a program in `directory`. A program without a slash is searched in the `PATH` of `environment`. Its standard input,
/// standard output and standard error are `input`, `output` and `errors`. All signals have their default actions and are not
/// blocked. This process must not change its own actions after the first call.
///
/// `descriptor` receives a descriptor that becomes readable when the process ends, and that is closed on `exec`. The value is
/// -1 if the system provides none. Returns 0 or an error number. The same number may come from the change of directory or
/// from the start of the program.
int cprocess_spawn(
    pid_t *identifier, int *descriptor, const char *program, char *const _Nullable *_Nonnull arguments,
    char *const _Nullable *_Nonnull environment, const char *directory, int input, int output, int errors,
    enum cprocess_place place);

/// Returns 0 if a child process still runs, 1 if it exited with `status`, and 2 if the signal `status` ended it. Returns -1
/// and sets `errno` on an error.
///
/// The child stays a zombie, so the system does not reuse its identifier or that of its group.
int cprocess_ended(pid_t identifier, int *status);

/// Waits until a child process is stopped, and returns the number of the signal. Returns -1 when the child has ended, which the
/// call does not reap.
int cprocess_await_stop(pid_t identifier);

/// Reaps a child process that has ended. Returns the same values as `cprocess_ended`.
int cprocess_reap(pid_t identifier, int *status);

/// Returns the identifier of a child process that has ended and is not reaped, or 0.
pid_t cprocess_ended_child(void);

/// Returns whether this process has a child, ended or not.
int cprocess_has_children(void);

/// Makes this process the parent of descendants whose parents end. Returns 0, or -1 and sets `errno`.
int cprocess_adopt_orphans(void);

/// Returns a descriptor of a process, or -1 and sets `errno`. The descriptor does not refer to a later process with the same
/// identifier.
int cprocess_open(pid_t identifier);

/// Sends a signal to the process of a descriptor. Returns 0, or -1 and sets `errno`.
int cprocess_signal(int descriptor, int signal);

/// Creates a nonblocking pipe whose ends are closed on `exec`. Returns 0, or -1 and sets `errno`.
int cprocess_pipe(int ends[_Nonnull 2]);

/// Creates a blocking pipe whose ends are closed on `exec`. Returns 0, or -1 and sets `errno`.
int cprocess_output_pipe(int ends[_Nonnull 2]);

/// Creates a blocking pipe whose ends stay open on `exec`. Returns 0, or -1 and sets `errno`.
int cprocess_inherited_pipe(int ends[_Nonnull 2]);

/// Starts a process that gives back the tokens of a jobserver that this process holds at its end, also after SIGKILL.
///
/// `control` is the reading end of a pipe. This process writes `+` and the byte of a token to the other end when it takes the
/// token, and `-` and the byte before it gives the token back. `tokens` is the writing end of the jobserver. Returns the
/// identifier of the process, or -1 and sets `errno`.
pid_t cprocess_guard(int control, int tokens);

/// Returns the number of bytes that can be read from a pipe now.
int cprocess_available(int descriptor);

/// An event of a descriptor in a poll set.
struct cprocess_event {
    /// The tag with which the descriptor was added.
    uint64_t tag;
    /// Whether the descriptor has something to read.
    bool is_readable;
    /// Whether all writers have closed the pipe of the descriptor.
    bool is_at_end;
};

/// Creates a set of descriptors to wait for. Returns its descriptor, or -1 and sets `errno`.
int cprocess_poll_set(void);

/// Adds a descriptor to a set until the descriptor is closed. Any thread may add, also while another waits. Returns 0, or -1
/// and sets `errno`.
///
/// Each change of the descriptor is one event. So a reader of a pipe must read until the pipe is empty, or must call
/// `cprocess_change`.
int cprocess_add(int set, int descriptor, uint64_t tag);

/// Changes the tag of a descriptor in a set. If the descriptor is readable now, it has an event again. Returns 0, or -1 and sets
/// `errno`.
int cprocess_change(int set, int descriptor, uint64_t tag);

/// Waits until descriptors of the set have events, or until `timeout` milliseconds have passed; -1 means no limit. Returns the
/// number of events, or -1 and sets `errno`.
int cprocess_wait(int set, struct cprocess_event *events, int count, int timeout);

/// Sets the name of the calling thread. Returns an error number if the name is longer than 15 bytes.
int cprocess_set_thread_name(const char *name);

/// Returns the number of processors that this process may use.
int cprocess_processors(void);

/// Returns the time of a clock in nanoseconds.
int64_t cprocess_time(clockid_t clock);

// Swift finds the members of `struct stat` in its Glibc module only if no other module has its header.
struct stat;

/// Returns the times of the last change of the contents of a file, and of its attributes, in nanoseconds since 1970.
int64_t cprocess_modified(const struct stat *status);
int64_t cprocess_changed(const struct stat *status);

/// Returns the processor time of all ended child processes and of their children, in microseconds.
long long cprocess_time_of_children(void);

#if defined(__clang__)
#pragma clang assume_nonnull end
#pragma clang diagnostic pop
#endif

#endif
