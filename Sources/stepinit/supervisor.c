#define _GNU_SOURCE
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "messages.h"
#include "processes.h"
#include "requests.h"

#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef __APPLE__
#define vfork fork
#endif

extern char **environ;

int null_fd;

struct command {
    struct launch launch;
    struct setting setting;
    int files[most_files];     // the output and the entry files of control groups, as received
    const char *secrets_folder;
    char **words;
    char **variables;
    char **secrets;            // names, terminated by NULL
};

// Why a command was not started: a kind of report and an errno.
//
// Where vfork shares memory, the child writes it here; elsewhere the child sends it through a pipe.
static volatile int32_t problem[2];
#ifndef __linux__
static int problem_pipe[2] = {-1, -1};
#endif

// Runs between vfork and exec in the supervisor's memory, so it may make system calls only.
static void become_command(const struct command *command) {
    problem[0] = enter(&command->setting);
    if (problem[0] == 0) {
        problem[0] = report_no_command;
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (command->words[0])
            execvp(command->words[0], command->words);
        else
            errno = EINVAL;
    }
    problem[1] = errno ? errno : EIO;
#ifndef __linux__
    int32_t found[2] = {problem[0], problem[1]};
    ssize_t written = write(problem_pipe[1], found, sizeof found);
    (void)written;
#endif
    _exit(127);
}

// Like memset, but the compiler may not remove it although nobody reads the memory afterwards.
static void wipe(char *start, size_t size) {
    for (volatile char *byte = start; size > 0; size--) *byte++ = 0;
}

// Secrets, as files that exist only during the attempt

static int secret_path(char *path, size_t size, const struct command *command, const char *name) {
    return snprintf(path, size, "%s/%s", command->secrets_folder, name) < (int)size;
}

static void remove_secrets(const struct command *command) {
    char path[4096];
    for (char **name = command->secrets; *name; name++)
        if (secret_path(path, sizeof path, command, *name)) unlink(path);
}

// Reads the secrets from the control socket and writes their files. Returns an errno.
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
        wipe(value, size);
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

// Copies the terminal's output to the log. Returns 0 when no more can come.
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

// Reads one launch into memory that all attempts of this supervisor share. Returns 0 when pipectl is gone.
static int receive_command(struct command *command) {
    static char *text;
    static char **words;
    static size_t text_room, word_room;
    struct launch *launch = &command->launch;
    int number;
    ssize_t count;
    do {
        number = most_files;
        count = receive(control_fd, launch, sizeof *launch, command->files, &number);
    } while (count < 0 && errno == EINTR);
    if (count <= 0 || !read_all(control_fd, (char *)launch + count, sizeof *launch - (size_t)count)) return 0;
    if (number < 1) {
        // Some descriptors did not fit into the table. Without all of them the command would run outside its control
        // group.
        say(control_fd, report_no_process, EMFILE, 0);
        return 0;
    }
    command->setting = (struct setting){
        .launch = launch, .output = command->files[0], .groups = command->files + 1, .group_count = number - 1};
    // Two NULs more than were sent, since the two folders are read even if no text came.
    size_t bytes = (size_t)launch->bytes + 2;
    size_t most = (size_t)launch->words + launch->variables + launch->secrets + 3;
    if (bytes > text_room) {
        free(text);
        text = malloc(bytes);
        text_room = text ? bytes : 0;
    }
    if (most > word_room) {
        free(words);
        words = calloc(most, sizeof *words);
        word_room = words ? most : 0;
    }
    if (!text || !words) {
        say(control_fd, report_no_process, ENOMEM, 0);
        return 0;
    }
    if (!read_all(control_fd, text, launch->bytes)) return 0;
    text[launch->bytes] = text[(size_t)launch->bytes + 1] = 0;
    char *next = text, *end = text + launch->bytes;
    command->setting.folder = next;
    next += strlen(next) + 1;
    command->secrets_folder = next < end ? next : "";
    next += strlen(next) + 1;
    char **slot = command->words = words;
    for (uint32_t i = 0; i < launch->words && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot++ = NULL;
    command->variables = slot;
    for (uint32_t i = 0; i < launch->variables && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot++ = NULL;
    command->secrets = slot;
    for (uint32_t i = 0; i < launch->secrets && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot = NULL;
    return 1;
}

// Starts the command. Returns its process id, or -1 with errno.
static pid_t start_command(const struct command *command) {
    static char *none[] = {NULL};
    problem[0] = problem[1] = 0;
#ifndef __linux__
    if (pipe(problem_pipe) != 0) return -1;
    for (int i = 0; i < 2; i++) fcntl(problem_pipe[i], F_SETFD, FD_CLOEXEC);
#endif
    environ = command->variables;
    pid_t pid = vfork();
    if (pid == 0) become_command(command);
    int failure = errno;
    environ = none;
    // Variables may hold secrets, and this process may live long.
    for (char **variable = command->variables; *variable; variable++) wipe(*variable, strlen(*variable));
#ifndef __linux__
    close(problem_pipe[1]);
    if (pid < 0) close(problem_pipe[0]);
#endif
    errno = failure;
    return pid;
}

// Whether exec failed. Call it when the command's process has ended.
static int was_not_started(void) {
#ifndef __linux__
    int32_t found[2];
    int is_there = read(problem_pipe[0], found, sizeof found) == sizeof found;
    close(problem_pipe[0]);
    if (is_there) (problem[0] = found[0], problem[1] = found[1]);
    return is_there;
#else
    return problem[1] != 0;
#endif
}

// Runs one attempt to its end and reports it. Returns 0 if this process takes no further attempt.
static int attend(void) {
    struct command command = {.setting.output = -1};
    if (!receive_command(&command)) return 0;
    struct launch *launch = &command.launch;
    int start_problem = write_secrets(&command);
    if (start_problem) {
        remove_secrets(&command);
        say(control_fd, report_no_secret, start_problem, 0);
        return 0;
    }
    int terminal = -1;
    char terminal_path[64];
    if (launch->flags & launch_terminal) {
        terminal = open_terminal(terminal_path, sizeof terminal_path);
        if (terminal < 0) {
            start_problem = errno;
            remove_secrets(&command);
            say(control_fd, report_no_process, start_problem, 0);
            return 0;
        }
        command.setting.terminal = terminal_path;
        fcntl(terminal, F_SETFL, O_NONBLOCK);
    }
    pid_t leader = start_command(&command);
    if (leader < 0) {
        start_problem = errno;
        remove_secrets(&command);
        say(control_fd, report_no_process, start_problem, 0);
        return 0;
    }
    for (int i = 0; i < command.setting.group_count; i++) close(command.setting.groups[i]);
    // The command's processes hold the pipe of the log open. The supervisor writes to it only for a terminal.
    if (terminal < 0) close(command.setting.output);

    int status = 0, ended = 0, asked = 0, none_left = 0;
    uint32_t flags = 0;
    long long deadline = 0;
    sigset_t open_mask;
    sigemptyset(&open_mask);
    for (;;) {
        none_left = reap(leader, &status, &ended);
        // When pipectl asked for the end, the command's remaining processes keep the rest of the grace period.
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
        if (terminal >= 0 && FD_ISSET(terminal, &readable) && !copy_terminal(terminal, command.setting.output)) {
            // EIO: no process has the terminal open. The command closed it, or has not opened it yet.
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
    int is_clean = none_left && !asked && terminal < 0;
    if (!none_left) kill_until_empty(leader, &status, &ended);
    // The terminal's buffer bounds what is left to copy.
    for (int rounds = 0; terminal >= 0 && rounds < 64 && copy_terminal(terminal, command.setting.output); rounds++) {}
    remove_secrets(&command);
    if (is_clean) flags |= report_flag_again;
    if (was_not_started())
        say(control_fd, (uint32_t)problem[0], problem[1], flags);
    else
        say(control_fd, report_ended, status, flags);
    return is_clean;
}

void watch_over(void) {
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    while (attend()) {}
    _exit(0);
}
