#define _GNU_SOURCE
#include "shells.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bearing.h"

#ifndef __linux__

void find_library(void) {}
int kept_library(void) { return -1; }
int is_for_server(const struct launch *launch, char **words, char **variables) {
    (void)launch, (void)words, (void)variables;
    return 0;
}
void note_line(void) {}
void rest(int socket) { (void)socket; }
pid_t fork_shell(const struct launch *launch, const char *text, const int *files, int number) {
    (void)launch, (void)text, (void)files, (void)number;
    return 0;
}
int32_t shell_problem(int32_t *code) { return *code = 0; }
void note_end(pid_t pid) { (void)pid; }
int is_server_alone(void) { return 0; }
int is_server_as_noted(void) { return 1; }
void end_server(void) {}

#else

#include <sys/prctl.h>

static int library = -1;
static int server = -1;        // our end of its socket
static pid_t server_pid;
static int children = -1;      // the list of this process's children
static int is_greeted;
static unsigned failures;      // servers that ended before they waited
static unsigned lines;         // that were started as any other command
static struct forked told;     // what the last line's process said before it was a shell

// A server costs what the start of a shell does, and each fork of it a fifth; after the first lines more are likely.
// One that waits for its first command has the time for it.
enum { lines_before_server = 2, rest_ms = 50, patience_ms = 2000, most_failures = 3 };

int kept_library(void) { return library; }

void find_library(void) {
    static const char name[] = "/libforkserver.so";
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    if (length <= 0) return;
    path[length] = 0;
    char *last = strrchr(path, '/');
    if (!last) return;
    memcpy(last, name, sizeof name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    library = fcntl(file, F_DUPFD_CLOEXEC, server_library);
    close(file);
}

void end_server(void) {
    if (server_pid > 0) {
        kill(server_pid, SIGKILL);
        while (waitpid(server_pid, NULL, 0) < 0 && errno == EINTR) {}
    }
    if (server >= 0) close(server);
    if (children >= 0) close(children);
    server = children = -1;
    server_pid = 0;
    lines = 0;
    is_greeted = 0;
}

// There will be no other one.
static void give_up(void) {
    end_server();
    if (library >= 0) close(library);
    library = -1;
}

// Variables that the loader or the C library reads before a process has a `main` of its own.
static int is_for_loader(const char *variable) {
    return strncmp(variable, "LD_", 3) == 0 || strncmp(variable, "GLIBC_", 6) == 0 ||
           strncmp(variable, "MALLOC_", 7) == 0;
}

int is_for_server(const struct launch *launch, char **words, char **variables) {
    if (launch->flags & launch_alone) give_up();
    if (library < 0 || (launch->flags & (launch_terminal | launch_plain)) || launch->words != 3) return 0;
    if (launch->bytes > most_server_bytes || launch->variables > most_server_variables) return 0;
    // There may be fewer words than the launch says.
    if (!words[0] || !words[1] || !words[2]) return 0;
    if (strcmp(words[0], "/bin/sh") != 0 || strcmp(words[1], "-ec") != 0) return 0;
    for (; *variables; variables++)
        if (is_for_loader(*variables)) return 0;
    return 1;
}

// The first child in the kernel's list, which has them as they came, that is not `other`; 0 when there is none.
static pid_t first_child(pid_t other) {
    char text[64];
    ssize_t length = children >= 0 ? pread(children, text, sizeof text - 1, 0) : 0;
    if (length <= 0) return 0;
    text[length] = 0;
    char *next;
    pid_t child = (pid_t)strtol(text, &next, 10);
    return child == other ? (pid_t)strtol(next, NULL, 10) : child;
}

// It may be gone again by the time that it is asked for something.
static void start_server(void) {
    // The line of one that does not load the library.
    static char *words[] = {"/bin/sh", "-ec", ":", NULL};
    static char *variables[] = {"LD_PRELOAD=/proc/self/fd/250", NULL};
    int pair[2];
    children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (children < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return give_up();
    // Above those that the server is given.
    server = fcntl(pair[0], F_DUPFD_CLOEXEC, 10);
    close(pair[0]);
    int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
    close(pair[1]);
    server_pid = server < 0 || theirs < 0 ? -1 : vfork();
    if (server_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        int is_there = library == server_library ? fcntl(library, F_SETFD, 0) == 0 : dup2(library, server_library) >= 0;
        if (is_there && dup2(theirs, server_socket) == server_socket)
            execve(words[0], words, variables);
        _exit(127);
    }
    if (theirs >= 0) close(theirs);
    // Where /proc is of another namespace of processes it can't be told from what others leave.
    char own[16];
    ssize_t length = readlink("/proc/self", own, sizeof own - 1);
    own[length < 0 ? 0 : length] = 0;
    if (server_pid < 0 || atoi(own) != getpid()) give_up();
}

// Reads an answer within so many milliseconds; 0 when there is none, -1 when the server is gone.
static int hear(struct forked *answer, int limit_ms) {
    struct pollfd there = {server, POLLIN, 0};
    int count;
    // What was signalled meanwhile is looked at by whoever asked.
    do count = poll(&there, 1, limit_ms); while (count < 0 && errno == EINTR);
    if (count <= 0) return 0;
    return recv(server, answer, sizeof *answer, 0) == sizeof *answer ? 1 : -1;
}

// Whether it has said that it waits: it has not if its shell takes no libraries, or takes others than ours.
static int is_greeting(const struct forked *answer) { return answer->kind == 0 && answer->value == server_greeting; }

// Whether it has ended, or a step has stopped it.
static int is_stopped(void) {
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)server_pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

// The same as `hear`, but one that has ended or was stopped by a step is not waited for.
static int hear_in_time(struct forked *answer) {
    for (int left = patience_ms; left > 0; left -= 20) {
        int heard = hear(answer, 20);
        if (heard != 0) return heard;
        if (is_stopped()) return -1;
    }
    return 0;
}

static int is_ready(void) {
    struct forked answer;
    if (!is_greeted && (hear_in_time(&answer) <= 0 || !is_greeting(&answer))) {
        end_server();
        if (++failures == most_failures) give_up();
    }
    is_greeted = server_pid > 0;
    return is_greeted;
}

void rest(int socket) {
    struct pollfd next = {socket, POLLIN, 0};
    if (server_pid == 0 && library >= 0 && poll(&next, 1, rest_ms) == 0) start_server();
}

void note_line(void) {
    if (server_pid == 0 && library >= 0 && ++lines >= lines_before_server) start_server();
}

pid_t fork_shell(const struct launch *launch, const char *text, const int *files, int number) {
    if (server_pid == 0 || !is_ready()) return 0;
    struct iovec parts[] = {{(void *)launch, sizeof *launch}, {(void *)text, launch->bytes}};
    union {
        char bytes[CMSG_SPACE(most_files * sizeof(int))];
        struct cmsghdr aligned;
    } space;
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = &space,
        .msg_controllen = CMSG_SPACE((size_t)number * sizeof *files)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN((size_t)number * sizeof *files)};
    memcpy(CMSG_DATA(header), files, (size_t)number * sizeof *files);
    told = (struct forked){0, 0};
    if (sendmsg(server, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        // Nothing was started.
        end_server();
        return 0;
    }
    struct forked answer;
    while (hear_in_time(&answer) > 0) {
        if (answer.kind == 0) return answer.value;
        if (answer.kind == report_no_process) break;
        told = answer;
    }
    // There is no room for one more process, or a step has ended or stopped it. What it forked is a child of this process,
    // also when it has ended again.
    kill(server_pid, SIGKILL);
    while (waitpid(server_pid, NULL, 0) < 0 && errno == EINTR) {}
    pid_t forked = first_child(0);
    server_pid = 0;
    end_server();
    return forked;
}

int32_t shell_problem(int32_t *code) {
    if (told.kind == 0 && server >= 0) hear(&told, 0);
    *code = told.value;
    return told.kind;
}

void note_end(pid_t pid) {
    if (pid != server_pid) return;
    int is_of_use = is_greeted;
    for (struct forked answer; hear(&answer, 0) > 0;) {
        if (is_greeting(&answer)) is_of_use = 1;
        if (answer.kind != 0) told = answer;
    }
    server_pid = 0;
    end_server();
    if (!is_of_use && ++failures == most_failures) give_up();
}

int is_server_alone(void) { return server_pid > 0 && first_child(server_pid) == 0; }

int is_server_as_noted(void) {
    if (server_pid <= 0) return 1;
    return !is_stopped() && is_as_noted(server_pid);
}

#endif
