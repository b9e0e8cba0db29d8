// stepinit: the parent of everything that a step starts.
//
//     stepinit GRACE_MILLISECONDS COMMAND [ARGUMENT…]
//
// It starts COMMAND in a session of its own and ends as COMMAND ended: with the same exit code, or by the same
// signal. Before it ends, nothing that COMMAND started is left alive, whatever session or group it moved to:
// on Linux orphans are adopted (PR_SET_CHILD_SUBREAPER) and killed. SIGTERM is passed on to all of them; what
// is alive after the grace is killed. When pipectl itself dies, everything is killed at once.
//
// 127 and 126 are returned when COMMAND can't be started, as a shell does, with a sentence on standard error.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef __APPLE__
#include <libproc.h>
#endif

static long long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

// Calls `visit` for each child of `parent`. Orphans of the step become children of this process on Linux; on
// macOS they don't, and only those that stayed in the session's group are reached.
static int each_child(pid_t parent, void (*visit)(pid_t, int), int signal_number) {
    int seen = 0;
#ifdef __linux__
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *children = fopen(path, "re");
    if (!children) return 0;
    int pid;
    while (fscanf(children, "%d", &pid) == 1) {
        seen++;
        visit(pid, signal_number);
    }
    fclose(children);
#elif defined(__APPLE__)
    pid_t pids[4096];
    int count = proc_listchildpids(parent, pids, sizeof pids);
    for (int i = 0; i < count; i++) {
        seen++;
        visit(pids[i], signal_number);
    }
#endif
    return seen;
}

static void signal_tree(pid_t pid, int signal_number) {
    each_child(pid, signal_tree, signal_number);
    kill(pid, signal_number);
}

static void signal_all(pid_t group, int signal_number) {
    if (group > 0) kill(-group, signal_number);
    each_child(getpid(), signal_tree, signal_number);
}

// Waits without blocking for every child that has ended; returns 1 when none is left.
static int reap(pid_t leader, int *leader_status, int *leader_ended) {
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) return 0;
        if (pid < 0) return errno == ECHILD;
        if (pid == leader) {
            *leader_status = status;
            *leader_ended = 1;
        }
    }
}

static void kill_until_empty(pid_t group, pid_t leader, int *status, int *ended) {
    // A killed parent hands its children to us, so each round reaches one generation more.
    for (;;) {
        signal_all(*ended ? 0 : group, SIGKILL);
        if (reap(leader, status, ended)) return;
        struct timespec pause = {0, 500000};
        nanosleep(&pause, NULL);
    }
}

static int run_leader(char **command, int failure_pipe) {
    setsid();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    execvp(command[0], command);
    int code = errno;
    ssize_t written = write(failure_pipe, &code, sizeof code);
    (void)written;
    _exit(code == ENOENT ? 127 : 126);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: stepinit GRACE_MILLISECONDS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    long grace = strtol(argv[1], NULL, 10);
    char **command = argv + 2;

    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGHUP);
    sigprocmask(SIG_BLOCK, &watched, NULL);
    // The default action of SIGCHLD may discard it while blocked; a disposition other than "ignore" is needed.
    signal(SIGCHLD, SIG_DFL);

#ifdef __linux__
    pid_t parent = getppid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGHUP);
    if (getppid() != parent) return 1;  // the parent died before it could be watched
#endif

    int failure[2];
    if (pipe(failure) != 0 || fcntl(failure[0], F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(failure[1], F_SETFD, FD_CLOEXEC) != 0) {
        perror("stepinit: pipe");
        return 126;
    }
    pid_t leader = fork();
    if (leader < 0) {
        perror("stepinit: fork");
        return 126;
    }
    if (leader == 0) return run_leader(command, failure[1]);
    close(failure[1]);

    int status = 0, ended = 0;
    long long deadline = -1;
    while (!ended || deadline >= 0) {
        if (reap(leader, &status, &ended) && ended) break;
        if (ended && deadline < 0) break;
        if (deadline >= 0 && now_ms() >= deadline) break;
        int received;
#ifdef __APPLE__
        // No sigtimedwait: with a deadline, look every 20 ms.
        if (deadline >= 0) {
            sigset_t pending;
            struct timespec pause = {0, 20000000};
            nanosleep(&pause, NULL);
            sigpending(&pending);
            if (!sigismember(&pending, SIGCHLD) && !sigismember(&pending, SIGTERM) && !sigismember(&pending, SIGHUP))
                continue;
        }
        if (sigwait(&watched, &received) != 0) continue;
#else
        if (deadline >= 0) {
            long long left = deadline - now_ms();
            if (left < 0) left = 0;
            struct timespec wait = {left / 1000, (left % 1000) * 1000000};
            received = sigtimedwait(&watched, NULL, &wait);
        } else {
            received = sigwaitinfo(&watched, NULL);
        }
        if (received < 0) continue;
#endif
        if (received == SIGTERM || received == SIGINT) {
            if (deadline < 0) {
                deadline = now_ms() + grace;
                signal_all(ended ? 0 : leader, SIGTERM);
            }
        } else if (received == SIGHUP) {
            break;  // pipectl is gone, or wants it to end now
        }
    }
    kill_until_empty(leader, leader, &status, &ended);

    int code;
    if (read(failure[0], &code, sizeof code) == sizeof code)
        fprintf(stderr, "pipectl: %s can't be started: %s\n", command[0], strerror(code));

    if (WIFSIGNALED(status)) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        int number = WTERMSIG(status);
        signal(number, SIG_DFL);
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, number);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        raise(number);
        return 128 + number;
    }
    return WEXITSTATUS(status);
}
