#define _GNU_SOURCE
#include "warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "processes.h"
#include "requests.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef __APPLE__
#define vfork fork
#endif

extern char **environ;

int null_fd;

void say(int fd, uint32_t kind, int32_t value, uint32_t flags) {
    struct report report = {kind, value, flags};
    ssize_t sent = write(fd, &report, sizeof report);
    (void)sent;  // pipectl is gone; nobody is left to tell
}

static int read_all(int fd, void *target, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = read(fd, (char *)target + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        done += (size_t)count;
    }
    return 1;
}

struct command {
    struct launch launch;
    const char *folder;
    const char *secrets_folder;
    char **words;
    char **secrets;          // names, ended by NULL
    const int *groups;       // entrances of control groups, ended by -1
    const char *terminal;    // the command's side of its pseudo-terminal, or NULL
};

// The hard limit is `more` above the soft one: at the soft limit of CPU time a process is told, at the hard one killed.
static void limit_process(int resource, uint64_t value, uint64_t more) {
    struct rlimit limit;
    if (value == 0 || getrlimit(resource, &limit) != 0) return;
    if (value + more < limit.rlim_max) limit.rlim_max = (rlim_t)(value + more);
    limit.rlim_cur = value < limit.rlim_max ? (rlim_t)value : limit.rlim_max;
    setrlimit(resource, &limit);
}

// Runs between vfork and exec, in the warden's memory: system calls only.
static void become_command(const struct command *command, int failure) {
    const struct launch *launch = &command->launch;
    int32_t problem[2] = {report_no_group, 0};
    setsid();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    for (const int *group = command->groups; *group >= 0; group++)
        if (write(*group, "0", 1) != 1) goto failed;
    if (command->terminal) {
        problem[0] = report_no_process;
        int terminal = open(command->terminal, O_RDWR);
        if (terminal < 0) goto failed;
        ioctl(terminal, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++) dup2(terminal, i);
        if (terminal > 2) close(terminal);
    }
    struct rlimit files;
    if (launch->open_files != 0 && getrlimit(RLIMIT_NOFILE, &files) == 0 && launch->open_files < files.rlim_cur) {
        files.rlim_cur = (rlim_t)launch->open_files;  // pipectl raised its own; some programs close all that are possible
        if (launch->flags & launch_few_files) files.rlim_max = files.rlim_cur;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    limit_process(RLIMIT_CPU, launch->cpu_seconds, 5);
    limit_process(RLIMIT_FSIZE, launch->file_bytes, 0);
    limit_process(RLIMIT_DATA, launch->data_bytes, 0);
    limit_process(RLIMIT_NPROC, launch->processes, 0);
    static const int plain[] = {SIGPIPE, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) signal(plain[i], SIG_DFL);
    problem[0] = report_no_folder;
    if (chdir(command->folder) == 0) {
        problem[0] = report_no_command;
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (command->words[0])
            execvp(command->words[0], command->words);
        else
            errno = EINVAL;
    }
failed:
    problem[1] = errno;
    ssize_t written = write(failure, problem, sizeof problem);
    (void)written;
    _exit(127);
}

// Secrets, as files that only live while the attempt does

static int secret_path(char *path, size_t size, const struct command *command, const char *name) {
    return snprintf(path, size, "%s/%s", command->secrets_folder, name) < (int)size;
}

static void remove_secrets(const struct command *command) {
    char path[4096];
    for (char **name = command->secrets; *name; name++)
        if (secret_path(path, sizeof path, command, *name)) unlink(path);
}

// Reads them from the control socket; returns an errno.
static int write_secrets(const struct command *command) {
    for (char **name = command->secrets; *name; name++) {
        uint32_t size;
        if (!read_all(control_fd, &size, sizeof size)) return EPIPE;
        char *value = malloc((size_t)size + 1);
        if (!value) return ENOMEM;
        if (!read_all(control_fd, value, size)) return EPIPE;
        char path[4096];
        int problem = 0;
        if (!secret_path(path, sizeof path, command, *name)) return ENAMETOOLONG;
        unlink(path);
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
        if (file < 0) return errno;
        for (uint32_t done = 0; done < size && !problem;) {
            ssize_t count = write(file, value + done, size - done);
            if (count < 0 && errno != EINTR) problem = errno;
            if (count > 0) done += (uint32_t)count;
        }
        close(file);
        memset(value, 0, size);
        free(value);
        if (problem) return problem;
    }
    return 0;
}

// A pseudo-terminal for a step that asks for one

static int open_terminal(char *path, size_t size) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return -1;
    const char *name = NULL;
    if (grantpt(terminal) == 0 && unlockpt(terminal) == 0) name = ptsname(terminal);
    if (!name || snprintf(path, size, "%s", name) >= (int)size) {
        close(terminal);
        return -1;
    }
    struct winsize window = {.ws_row = 24, .ws_col = 80};
    ioctl(terminal, TIOCSWINSZ, &window);
    return terminal;
}

// Copies what the terminal shows to the log; returns 0 when nothing more can come.
static int copy_terminal(int terminal, int output) {
    char piece[16384];
    ssize_t count = read(terminal, piece, sizeof piece);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    for (ssize_t done = 0; done < count;) {
        ssize_t written = write(output, piece + done, (size_t)(count - done));
        if (written < 0 && errno != EINTR) return 0;
        if (written > 0) done += written;
    }
    return count > 0;
}

void watch_over(const int *groups) {
    struct command command = {.groups = groups};
    struct launch *launch = &command.launch;
    if (!read_all(control_fd, launch, sizeof *launch)) _exit(0);
    // Two ends more than were sent: the folders are read even if nothing was.
    char *text = malloc((size_t)launch->bytes + 2);
    char **words = calloc((size_t)launch->words + launch->variables + launch->secrets + 3, sizeof *words);
    if (!text || !words) {
        say(control_fd, report_no_process, ENOMEM, 0);
        _exit(0);
    }
    if (!read_all(control_fd, text, launch->bytes)) _exit(0);
    text[launch->bytes] = text[(size_t)launch->bytes + 1] = 0;
    char *next = text, *end = text + launch->bytes;
    command.folder = next;
    next += strlen(next) + 1;
    command.secrets_folder = next < end ? next : "";
    next += strlen(next) + 1;
    char **slot = command.words = words;
    for (uint32_t i = 0; i < launch->words && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot++ = NULL;
    environ = slot;
    for (uint32_t i = 0; i < launch->variables && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot++ = NULL;
    command.secrets = slot;
    for (uint32_t i = 0; i < launch->secrets && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot = NULL;
    int secret_problem = write_secrets(&command);
    if (secret_problem) {
        remove_secrets(&command);
        say(control_fd, report_no_secret, secret_problem, 0);
        _exit(0);
    }

#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    int terminal = -1, output = -1;
    char terminal_path[64];
    if (launch->flags & launch_terminal) {
        terminal = open_terminal(terminal_path, sizeof terminal_path);
        if (terminal < 0) {
            say(control_fd, report_no_process, errno, 0);
            _exit(0);
        }
        command.terminal = terminal_path;
        output = fcntl(1, F_DUPFD_CLOEXEC, 10);
        fcntl(terminal, F_SETFL, O_NONBLOCK);
    }
    int failure[2];
    pid_t leader = -1;
    if (pipe(failure) == 0) {
        fcntl(failure[0], F_SETFD, FD_CLOEXEC);
        fcntl(failure[1], F_SETFD, FD_CLOEXEC);
        leader = vfork();
        if (leader == 0) become_command(&command, failure[1]);
    }
    if (leader < 0) {
        int problem = errno;
        remove_secrets(&command);
        say(control_fd, report_no_process, problem, 0);
        _exit(0);
    }
    close(failure[1]);
    for (const int *group = groups; *group >= 0; group++) close(*group);
    // The others hold the pipe that ends the log; the warden writes nothing.
    dup2(null_fd, 1);
    dup2(null_fd, 2);

    int status = 0, ended = 0, asked = 0, none_left = 0;
    uint32_t flags = 0;
    long long deadline = 0;
    sigset_t open_mask;
    sigemptyset(&open_mask);
    for (;;) {
        none_left = reap(leader, &status, &ended);
        // Asked to end, what the command started has the rest of the grace, too.
        if (ended && (none_left || !asked)) break;
        struct timespec wait = {0, 0}, *limit = NULL;
        if (asked) {
            long long left = deadline - now_ms();
            if (left <= 0) {
                flags |= report_flag_killed;
                break;
            }
            wait = (struct timespec){left / 1000, (left % 1000) * 1000000};
            limit = &wait;
        }
        fd_set readable;
        FD_ZERO(&readable);
        FD_SET(control_fd, &readable);
        if (terminal >= 0) FD_SET(terminal, &readable);
        int highest = terminal > control_fd ? terminal : control_fd;
        if (pselect(highest + 1, &readable, NULL, NULL, limit, &open_mask) < 1) continue;
        if (terminal >= 0 && FD_ISSET(terminal, &readable) && !copy_terminal(terminal, output)) {
            // Nobody has it open (EIO): the command closed it, or has not opened it yet.
            if (errno == EIO && !ended) nap();
        }
        if (!FD_ISSET(control_fd, &readable)) continue;
        char byte;
        ssize_t count = read(control_fd, &byte, 1);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) break;  // pipectl is gone
        if (asked) continue;
        asked = 1;
        flags |= report_flag_asked;
        deadline = now_ms() + launch->grace_ms;
        signal_all(leader, SIGTERM);
    }
    if (!none_left) kill_until_empty(leader, &status, &ended);
    // What the terminal still holds is bounded by its buffer.
    for (int rounds = 0; terminal >= 0 && rounds < 64 && copy_terminal(terminal, output); rounds++) {}
    remove_secrets(&command);

    int32_t problem[2];
    if (read(failure[0], problem, sizeof problem) == sizeof problem)
        say(control_fd, (uint32_t)problem[0], problem[1], flags);
    else
        say(control_fd, report_ended, status, flags);
    _exit(0);
}
