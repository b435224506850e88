#define _GNU_SOURCE
#include "CProcess.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int cprocess_spawn(
    pid_t *identifier, const char *program, char *const *arguments, char *const *environment, const char *directory,
    int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    int error = posix_spawn_file_actions_init(&actions);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    if (!error) error = posix_spawn_file_actions_addchdir_np(&actions, directory);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!error) error = posix_spawnp(identifier, program, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

// The number of pidfd_open is the same on all architectures. The headers of older systems lack its name.
int cprocess_open(pid_t identifier) { return (int)syscall(434, identifier, 0); }

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

int cprocess_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

int cprocess_processors(void) {
    cpu_set_t set;
    // The call fails on a machine with more processors than the set can hold. Then all online processors are counted.
    if (sched_getaffinity(0, sizeof set, &set)) return (int)sysconf(_SC_NPROCESSORS_ONLN);
    return CPU_COUNT(&set);
}

int cprocess_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }
#endif
