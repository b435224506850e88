#define _GNU_SOURCE
#include "CProcess.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/// A start of a program. The child process shares the memory of its parent until it executes the program.
struct start {
    const char *program;
    char *const *arguments;
    char *const *environment;
    const char *directory;
    int input, output, errors;
    enum cprocess_place place;
    int error;
};

/// The signals whose actions are not the default ones, as found at the first start of a program.
static int changed_signals[NSIG], changed_count;
static pthread_once_t changed_once = PTHREAD_ONCE_INIT;

static void find_changed_signals(void) {
    struct sigaction action;
    for (int number = 1; number < NSIG; number++)
        if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL) changed_signals[changed_count++] = number;
}

/// Executes the program of a start. Returns the error number if that fails.
static int execute(const struct start *start) {
    if (strchr(start->program, '/')) {
        execve(start->program, start->arguments, start->environment);
        return errno;
    }
    const char *path = "/usr/local/bin:/usr/bin:/bin";
    for (char *const *variable = start->environment; *variable; variable++)
        if (!strncmp(*variable, "PATH=", 5)) path = *variable + 5;
    size_t length = strlen(start->program);
    for (int error = ENOENT;; path++) {
        char file[4096];
        const char *end = strchrnul(path, ':');
        size_t count = (size_t)(end - path);
        if (count + length + 2 <= sizeof file) {
            memcpy(file, path, count);
            // An empty component is the current directory.
            if (count) file[count++] = '/';
            memcpy(file + count, start->program, length + 1);
            execve(file, start->arguments, start->environment);
            if (errno == EACCES) error = EACCES;
            if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) return errno;
        }
        if (!*end) return error;
        path = end;
    }
}

/// Runs in the child process, on a stack of its own. It must not return after an error without `_exit`, and must not change
/// the memory that it shares except its stack, `error` and `errno`.
static int run_child(void *argument) {
    struct start *start = argument;
    struct sigaction action = {0};
    sigset_t none;
    sigemptyset(&none);
    // An exec restores handled signals to their default actions, but it keeps ignored signals ignored.
    action.sa_handler = SIG_DFL;
    for (int index = 0; index < changed_count; index++) sigaction(changed_signals[index], &action, NULL);
    int is_placed = start->place == cprocess_own_session ? setsid() >= 0 : !setpgid(0, 0);
    // SIGTTOU is blocked here, so a group that is not in the foreground yet may call this.
    if (is_placed && start->place == cprocess_foreground) is_placed = !tcsetpgrp(start->input, getpid());
    if (is_placed && dup2(start->input, STDIN_FILENO) >= 0 && dup2(start->output, STDOUT_FILENO) >= 0 &&
        dup2(start->errors, STDERR_FILENO) >= 0 && !chdir(start->directory) && !sigprocmask(SIG_SETMASK, &none, NULL))
        start->error = execute(start);
    else
        start->error = errno;
    _exit(127);
}

int cprocess_spawn(
    pid_t *identifier, int *descriptor, const char *program, char *const *arguments, char *const *environment,
    const char *directory, int input, int output, int errors, enum cprocess_place place) {
    // The stack is part of this frame. The child has executed its program or has ended when `clone` returns.
    _Alignas(16) char stack[16 * 1024];
    struct start start = {program, arguments, environment, directory, input, output, errors, place, 0};
    pthread_once(&changed_once, find_changed_signals);
    sigset_t all, mask;
    sigfillset(&all);
    // A handler of this process must not run in the child, which shares the memory.
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    *descriptor = -1;
    *identifier = clone(
        run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &start, descriptor);
    int error = *identifier < 0 ? errno : start.error;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (*identifier >= 0 && error) {
        while (waitpid(*identifier, NULL, 0) < 0 && errno == EINTR) {}
        if (*descriptor >= 0) close(*descriptor);
    }
    return error;
}

int cprocess_ended(pid_t identifier, int *status) {
    siginfo_t info;
    info.si_pid = 0;
    int result;
    do {
        result = waitid(P_PID, (id_t)identifier, &info, WEXITED | WNOHANG | WNOWAIT);
    } while (result && errno == EINTR);
    if (result) return -1;
    if (!info.si_pid) return 0;
    *status = info.si_status;
    return info.si_code == CLD_EXITED ? 1 : 2;
}

int cprocess_await_stop(pid_t identifier) {
    siginfo_t info;
    info.si_pid = 0;
    int result;
    do {
        result = waitid(P_PID, (id_t)identifier, &info, WSTOPPED);
    } while (result && errno == EINTR);
    return result ? -1 : info.si_status;
}

int cprocess_reap(pid_t identifier, int *status) {
    int raw, result;
    do {
        result = waitpid(identifier, &raw, WNOHANG);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return -1;
    if (!result) return 0;
    *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : WTERMSIG(raw);
    return WIFEXITED(raw) ? 1 : 2;
}

pid_t cprocess_ended_child(void) {
    siginfo_t info;
    info.si_pid = 0;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) ? 0 : info.si_pid;
}

int cprocess_has_children(void) {
    siginfo_t info;
    return !waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) || errno != ECHILD;
}

int cprocess_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// The numbers of these calls are the same on all architectures. The headers of older systems lack their names.
int cprocess_open(pid_t identifier) { return (int)syscall(434, identifier, 0); }

int cprocess_signal(int descriptor, int signal) { return (int)syscall(424, descriptor, signal, NULL, 0); }

int cprocess_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

int cprocess_output_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int cprocess_inherited_pipe(int ends[2]) { return pipe(ends); }

pid_t cprocess_guard(int control, int tokens) {
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    pid_t identifier = fork();
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (identifier) return identifier;
    // Only functions that are safe in a signal handler from here on. The signals stay blocked: a terminal's Ctrl-C must not end
    // this process before opq.
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    setsid();
    dup2(control, 0);
    dup2(tokens, 1);
    if (syscall(436, 2U, ~0U, 0U))
        for (int descriptor = 2; descriptor < 65536; descriptor++) close(descriptor);
    // The number of tokens of each byte.
    unsigned held[256] = {0};
    unsigned char change[2];
    for (ssize_t count; (count = read(0, change, 2)) == 2 || (count < 0 && errno == EINTR);)
        if (count == 2) held[change[1]] += change[0] == '+' ? 1 : -1;
    for (int byte = 0; byte < 256; byte++)
        for (unsigned char token = (unsigned char)byte; held[byte] > 0 && held[byte] < 1u << 20; held[byte]--)
            if (write(1, &token, 1) < 0) _exit(1);
    _exit(0);
}

int cprocess_available(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) ? 0 : count;
}

int cprocess_poll_set(void) { return epoll_create1(EPOLL_CLOEXEC); }

// Edge-triggered. A child process has the descriptors of its parent until it executes its program. So a descriptor that this
// process has closed stays in the set for a moment, and a level-triggered wait would return at once in that time.
int cprocess_add(int set, int descriptor, uint64_t tag) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = tag};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

int cprocess_change(int set, int descriptor, uint64_t tag) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = tag};
    return epoll_ctl(set, EPOLL_CTL_MOD, descriptor, &event);
}

int cprocess_wait(int set, struct cprocess_event *events, int count, int timeout) {
    struct epoll_event found[64];
    int result = epoll_wait(set, found, count < 64 ? count : 64, timeout);
    for (int index = 0; index < result; index++) {
        events[index].tag = found[index].data.u64;
        events[index].is_readable = !!(found[index].events & EPOLLIN);
        events[index].is_at_end = !!(found[index].events & (EPOLLHUP | EPOLLERR));
    }
    return result;
}

int cprocess_processors(void) {
    cpu_set_t set;
    // The call fails on a machine with more processors than the set can hold. Then all online processors are counted.
    if (sched_getaffinity(0, sizeof set, &set)) return (int)sysconf(_SC_NPROCESSORS_ONLN);
    return CPU_COUNT(&set);
}

static int64_t nanoseconds(struct timespec time) { return time.tv_sec * INT64_C(1000000000) + time.tv_nsec; }

int64_t cprocess_time(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return nanoseconds(time);
}

int64_t cprocess_modified(const struct stat *status) { return nanoseconds(status->st_mtim); }

int64_t cprocess_changed(const struct stat *status) { return nanoseconds(status->st_ctim); }

long long cprocess_time_of_children(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage)) return 0;
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int cprocess_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }
#endif
