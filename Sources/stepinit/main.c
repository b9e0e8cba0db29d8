// stepinit: starts the steps of a run and leaves nothing of them alive.
//
// pipectl starts one stepinit for each run, with a socket as its standard input, and asks it for one supervisor for
// each attempt that runs at the same time (see requests.h). A supervisor starts the command of an attempt in a session
// of its own and adopts every orphan below it (PR_SET_CHILD_SUBREAPER, Linux). When the command ends, the supervisor
// kills every process that is left of it, whatever session or group it moved to. Only then does it report the end. When
// it is asked to end, it passes SIGTERM on to all of them and, after the grace period, kills those that are alive. When
// its socket closes because pipectl died, it kills at once. A supervisor whose command ended by itself and left nothing
// takes the next attempt; any other one ends.
//
// There is one process for a run, not one for each attempt, since a sandbox has to be set up only once. In a sandbox
// stepinit is the first process of its namespace: no process in there can signal or trace it, and when it ends the
// kernel ends all others.
//
//   stepinit [--enter COUNT] [--whole-proc] [--user UID:GID] [--filter[-nested][-tracing][-uncounted]]
//            [--processes MOST] [--chdir FOLDER]
//       --enter: the descriptors from 3 on are entry files of control groups to join, `tasks` or `cgroup.procs`
//       --whole-proc: see uncover_proc
//   stepinit … -- COMMAND…     starts one command instead, and ends with its exit status
//   stepinit --layers …, stepinit --within …    see layers.h
//   stepinit --forward …, stepinit --connect …  see forward.h

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "forward.h"
#include "layers.h"
#include "messages.h"
#include "processes.h"
#include "requests.h"
#include "supervisor.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

struct supervisor {
    uint32_t id;
    pid_t pid;  // 0 once it has ended
    int status;
    int control;
};

static struct supervisor *supervisors;
static size_t supervisor_count, supervisor_room;

static void noted(int number) { (void)number; }

static int strays;

static void kill_stray(pid_t pid, int signal_number, int depth) {
    for (size_t i = 0; i < supervisor_count; i++)
        if (supervisors[i].pid == pid) return;
    strays++;
    signal_tree(pid, signal_number, depth);
}

// Notes which supervisors have ended, and reaps orphans.
static void collect(void) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (size_t i = 0; i < supervisor_count; i++) {
            if (supervisors[i].pid != pid) continue;
            supervisors[i].pid = 0;
            supervisors[i].status = status;
        }
    }
}

// A step may have killed its supervisor, so this process adopted the supervisor's children. The rounds are bounded: a
// process that hangs in the kernel can't be killed, and other attempts wait.
static void kill_strays(void) {
    for (long long end = now_ms() + 10000; now_ms() < end; nap()) {
        strays = 0;
        each_child(getpid(), kill_stray, SIGKILL, 0);
        if (strays == 0) return;
        collect();
    }
}

static void reap_supervisors(void) {
    collect();
    for (size_t i = 0; i < supervisor_count;) {
        if (supervisors[i].pid != 0) {
            i++;
            continue;
        }
        int status = supervisors[i].status;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            kill_strays();
            say(supervisors[i].control, report_lost, status, 0);
        }
        close(supervisors[i].control);
        supervisors[i] = supervisors[--supervisor_count];
    }
}

static void start_supervisor(uint32_t id, int control) {
    if (supervisor_count == supervisor_room) {
        size_t room = supervisor_room ? 2 * supervisor_room : 16;
        struct supervisor *larger = realloc(supervisors, room * sizeof *larger);
        if (!larger) {
            say(control, report_no_process, ENOMEM, 0);
            close(control);
            return;
        }
        supervisors = larger;
        supervisor_room = room;
    }
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < supervisor_count; i++) close(supervisors[i].control);
        dup2(null_fd, 0);
        if (control != control_fd) {
            dup2(control, control_fd);
            close(control);
        }
        fcntl(control_fd, F_SETFD, FD_CLOEXEC);
        watch_over();
    }
    if (pid < 0) {
        say(control, report_no_process, errno, 0);
        close(control);
        return;
    }
    supervisors[supervisor_count++] = (struct supervisor){.id = id, .pid = pid, .control = control};
}

// Serves one request; returns 0 when pipectl is gone.
static int serve_request(void) {
    struct request request;
    int socket = -1, number = 1;
    ssize_t count = receive(STDIN_FILENO, &request, sizeof request, &socket, &number);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count != sizeof request) return 0;
    if (request.kind == request_kill) {
        for (size_t i = 0; i < supervisor_count; i++)
            if (supervisors[i].id == request.id && supervisors[i].pid != 0) kill(supervisors[i].pid, SIGKILL);
    }
    // If this process's table of descriptors is full, there is no socket for an answer. pipectl sees that the other end
    // is closed.
    if (number < 1) return 1;
    // From 10 on, above the numbers that a supervisor uses itself.
    int control = request.kind == request_start ? fcntl(socket, F_DUPFD_CLOEXEC, 10) : -1;
    if (request.kind == request_start && control < 0) say(socket, report_no_process, errno, 0);
    // Must be closed: the holder of the other end waits for this.
    close(socket);
    if (control >= 0) start_supervisor(request.id, control);
    return 1;
}

// One command

static pid_t only_child;

static void pass_on(int number) {
    if (only_child > 0) kill(only_child, number);
}

// Starts one command and ends with its exit status. As the first process of a namespace it also reaps orphans.
static int run_one(char **words) {
    static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = pass_on};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) sigaction(passed[i], &action, NULL);
#ifdef __linux__
    // When its caller kills bubblewrap, bubblewrap can't end this process: it may not signal another user's process.
    // But then nobody reads the output, which the pipe reports.
    struct stat output;
    int is_watched = fstat(1, &output) == 0 && S_ISFIFO(output.st_mode);
    sigset_t child, open_mask;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &open_mask);
    // The process that started this one may have blocked it.
    sigdelset(&open_mask, SIGCHLD);
    struct sigaction reaction = {.sa_handler = noted};
    sigaction(SIGCHLD, &reaction, NULL);
#endif
    only_child = fork();
    if (only_child < 0) return 125;
    if (only_child == 0) {
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) signal(passed[i], SIG_DFL);
#ifdef __linux__
        sigprocmask(SIG_SETMASK, &open_mask, NULL);
#endif
        execvp(words[0], words);
        dprintf(2, "cannot start %s: %s\n", words[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    for (;;) {
        int status;
#ifdef __linux__
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) {
            struct pollfd reader = {1, 0, 0};
            if (ppoll(&reader, is_watched ? 1 : 0, NULL, &open_mask) <= 0) continue;
            kill(only_child, SIGKILL);
            return 128 + SIGPIPE;
        }
#else
        pid_t pid = wait(&status);
#endif
        if (pid < 0 && errno != EINTR) return 125;
        if (pid != only_child) continue;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

// Whether system calls are filtered, as in every sandbox.
static int is_filtered;

// Applies the options. Returns the words after them, or exits.
static char **confine(char **words) {
    for (words++; *words && strcmp(*words, "--") != 0; words++) {
        unsigned user, group, most;
        int failed;
        if (strcmp(*words, "--user") == 0 && words[1] && sscanf(words[1], "%u:%u", &user, &group) == 2) {
            failed = drop_privileges(user, group);
            words++;
        } else if (strcmp(*words, "--whole-proc") == 0) {
            failed = uncover_proc();
        } else if (strcmp(*words, "--enter") == 0 && words[1]) {
            failed = 0;
            for (int group = 3, last = 3 + atoi(*++words); group < last; group++) {
                if (write(group, "0", 1) != 1) failed = -1;
                close(group);
            }
        } else if (strcmp(*words, "--processes") == 0 && words[1] && sscanf(words[1], "%u", &most) == 1) {
            // The kernel counts processes by user, within a user namespace by the namespace's user; so the limit is the
            // sandbox's own.
            struct rlimit limit = {most, most};
            failed = setrlimit(RLIMIT_NPROC, &limit);
            words++;
        } else if (strcmp(*words, "--chdir") == 0 && words[1]) {
            failed = chdir(*++words);
        } else if (strncmp(*words, "--filter", 8) == 0) {
            is_filtered = 1;
            failed = filter_calls((strstr(*words, "nested") ? allow_nested : 0) |
                                  (strstr(*words, "tracing") ? allow_tracing : 0) |
                                  (strstr(*words, "uncounted") ? uncounted_memory : 0));
        } else {
            dprintf(2, "stepinit: unknown option %s\n", *words);
            _exit(2);
        }
        if (failed) {
            dprintf(2, "stepinit: %s: %s\n", *words, strerror(errno));
            _exit(125);
        }
    }
    return *words ? words + 1 : NULL;
}

// A core dump contains the process's memory, with its secrets, and may be piped to a program outside of every sandbox
// (core(5)). Linux asks that program for every limit but 1, so the limit is 1: with it neither files nor programs get
// one.
static void forbid_cores(void) {
#ifdef __linux__
    struct rlimit none = {1, 1};
#else
    struct rlimit none = {0, 0};
#endif
    setrlimit(RLIMIT_CORE, &none);
}

int main(int count, char **arguments) {
    forbid_cores();
    // None of these starts steps, so nothing below applies to them.
    if (count > 1 && strcmp(arguments[1], "--layers") == 0) return hold_layers(arguments + 2);
    if (count > 1 && strcmp(arguments[1], "--within") == 0) return enter_layers(arguments + 2);
    // These are started by a step, in its sandbox.
    if (count > 1 && strcmp(arguments[1], "--forward") == 0) return forward_and_run(arguments + 2);
    if (count > 1 && strcmp(arguments[1], "--connect") == 0) return connect_to(arguments + 2);
#ifdef __linux__
    // When memory runs out, the kernel ends a step before the daemon. Child processes inherit the score.
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        ssize_t written = write(score, "500", 3);
        (void)written;
        close(score);
    }
    // No step may read the memory of this process or of the supervisors: they hold secrets for a moment.
    prctl(PR_SET_DUMPABLE, 0);
#endif
    char **command = confine(arguments);
#ifdef __linux__
    // bubblewrap leaves this process the capabilities to change its user, and --user must say to which.
    if (is_filtered && (geteuid() == 0 || getuid() == 0)) {
        dprintf(2, "stepinit: --user is missing: no command runs as root in a sandbox\n");
        return 125;
    }
    // A change of user resets it to the machine's default (proc_sys_fs(5), suid_dumpable), which may allow it.
    prctl(PR_SET_DUMPABLE, 0);
    // A library of pipectl may have opened descriptors without close-on-exec. They must not reach a step.
    closefrom(3);
#endif
    if (command && *command) return run_one(command);
    struct sockaddr address;
    socklen_t length = sizeof address;
    if (getsockname(STDIN_FILENO, &address, &length) != 0) {
        static const char help[] = "stepinit starts the steps of a pipectl run; pipectl starts it. See: pipectl --help\n";
        return write(STDERR_FILENO, help, sizeof help - 1) > 0 ? 2 : 3;
    }
    setsid();
    // Every supervisor uses the numbers 0 to 3, so no descriptor of this process may have one of them.
    int null = open("/dev/null", O_RDWR);
    if (null < 0) return 3;
    null_fd = fcntl(null, F_DUPFD_CLOEXEC, 10);
    dup2(null, 1);
    dup2(null, 2);
    dup2(null, control_fd);
    if (null > control_fd) close(null);

    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    // Commands must find the default actions of signals. They are set here once and not in each command. exec resets
    // the two signals that this process handles.
    static const int plain[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) signal(plain[i], SIG_DFL);
    struct sigaction action = {.sa_handler = noted};
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    sigset_t child, open_mask;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, NULL);
    sigemptyset(&open_mask);

    int connected = 1;
    for (;;) {
        reap_supervisors();
        // When pipectl is gone, the supervisors end their commands. This process stays for those that can't. When the
        // first process of a namespace ends, the kernel ends all others.
        if (!connected && (supervisor_count == 0 || getpid() == 1)) return 0;
        fd_set readable;
        FD_ZERO(&readable);
        if (connected) FD_SET(STDIN_FILENO, &readable);
        if (pselect(1, &readable, NULL, NULL, NULL, &open_mask) > 0) connected = serve_request();
    }
}
