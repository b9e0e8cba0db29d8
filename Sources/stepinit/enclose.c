#define _GNU_SOURCE
#include "enclose.h"

#include <stdio.h>
#include <unistd.h>

#ifndef __linux__

char **enclose(char **arguments) {
    (void)arguments;
    dprintf(2, "stepinit: there are no namespaces on this system\n");
    _exit(125);
}

char **enclose_as_asked(char **arguments) { return enclose(arguments); }

void hide_from(char **words) { (void)words; }

void end_with_parent(void) {}

#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "messages.h"
#include "processes.h"
#include "requests.h"
#include "sandbox.h"
#include "template.h"

// Both ends of a pipe that nothing is written to: the one that the child reads from says whether the parent lives.
static int life[2] = {-1, -1};

// Ends as the child does.
__attribute__((noreturn)) static void wait_for(pid_t child) {
    // What is typed at the terminal is for those in the sandbox.
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    dup2(life[1], 3);
    closefrom(4);
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) _exit(125);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

// Whoever starts this may have signals blocked, or no wish to wait for children.
static void reset_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_DFL);
}

// Starts the process that is to be the sandbox's first; with `parent_too` it is a child of our parent, and not ours.
static pid_t start_first(const struct sandbox *sandbox, int parent_too) {
    long kinds = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    // It takes from the box what it shows, and goes over to a copy of the template then.
    if (sandbox->template < 0) kinds |= CLONE_NEWNS;
    kinds |= parent_too ? CLONE_PARENT : SIGCHLD;
    if (sandbox->has_own_network) kinds |= CLONE_NEWNET;
    pid_t child = (pid_t)syscall(SYS_clone, kinds | CLONE_NEWCGROUP, 0, 0, 0, 0);
    // Kernels are built without control groups, too.
    if (child < 0 && errno == EINVAL) child = (pid_t)syscall(SYS_clone, kinds, 0, 0, 0, 0);
    return child;
}

static char **earlier_words;

void hide_from(char **words) { earlier_words = words; }

// Everybody in the sandbox may read how its first process was started; where things are on the box says nothing to them.
static void hide_words(char **arguments, char **end) {
    static const char name[] = "stepinit";
    if (earlier_words) arguments = earlier_words;
    size_t room = strlen(arguments[0]);
    for (char **word = arguments; word < end; word++) memset(*word, 0, strlen(*word));
    if (room >= sizeof name - 1) memcpy(arguments[0], name, sizeof name - 1);
}

char **enclose(char **arguments) {
    struct sandbox sandbox = {.network = -1, .template = -1};
    char **words = read_options(&sandbox, arguments + 2);
    if (sandbox.ends_with_parent) prctl(PR_SET_PDEATHSIG, SIGKILL);
    reset_signals();
    if (pipe2(life, O_CLOEXEC) != 0) fail("make", "a pipe");
    pid_t child = start_first(&sandbox, 0);
    if (child < 0) fail("make", "namespaces");
    if (child > 0) wait_for(child);

    close(life[1]);
    end_with_parent();
    furnish(&sandbox);
    hide_words(arguments, words);
    return words;
}

// One sandbox after the other

// Puts the descriptors where the words have them: 0, and 3 and on. They were received in this order, at the lowest numbers
// there are from 3 on, so none is overwritten before it is moved. Of the others only the template stays open.
static void place_files(const int *files, int count, int *template) {
    if (dup2(files[0], 0) < 0) fail("take", "the socket");
    for (int i = 1; i < count; i++)
        if (files[i] < 2 + i || dup2(files[i], 2 + i) < 0) fail("take", "a descriptor");
    if (*template >= 0 && (*template = dup3(*template, 2 + count, O_CLOEXEC)) < 0) fail("take", "the template");
    close_all_from(2 + count + (*template >= 0));
}

// Returns an array of the words, to be freed with what it is of; NULL when pipectl is gone.
static char **receive_words(struct enclosure *asked, int *files, int *number) {
    ssize_t count;
    int room = *number;
    do {
        *number = room;
        count = receive(STDIN_FILENO, asked, sizeof *asked, files, number);
    } while (count < 0 && errno == EINTR);
    if (count <= 0 || !read_all(STDIN_FILENO, (char *)asked + count, sizeof *asked - (size_t)count)) return NULL;
    // The array and then the texts, each of which ends with a NUL, and one more.
    size_t head = ((size_t)asked->words + 2) * sizeof(char *);
    char **words = malloc(head + asked->bytes + 1);
    if (!words) fail("read", "what a sandbox is to be");
    char *next = (char *)words + head, *end = next + asked->bytes;
    if (!read_all(STDIN_FILENO, next, asked->bytes)) return NULL;
    *end = 0;
    char **slot = words;
    for (uint32_t i = 0; i < asked->words && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    slot[0] = slot[1] = NULL;
    return words;
}

char **enclose_as_asked(char **arguments) {
    // What is typed at a terminal is for those in the sandboxes.
    setsid();
    close_all_from(3);
    reset_signals();
    char **last = arguments;
    while (*last) last++;
    hide_words(arguments, last);
    for (;;) {
        struct enclosure asked;
        int files[most_enclosure_files], number = most_enclosure_files;
        wait_for_request(STDIN_FILENO);
        char **words = receive_words(&asked, files, &number);
        if (!words) _exit(0);
        struct sandbox sandbox = {.network = -1, .template = -1};
        // A mistake in the words ends this process; whoever asked starts one for them alone then, which says what it is.
        char **rest = read_options(&sandbox, words);
        sandbox.template = find_template(&sandbox);
        int32_t child = number < 1 ? -EMFILE : start_first(&sandbox, 1);
        if (child == 0) {
            place_files(files, number, &sandbox.template);
            furnish(&sandbox);
            return rest;
        }
        if (child == -1) child = -errno;
        for (int i = 0; i < number; i++) close(files[i]);
        free(sandbox.parts);
        free(words);
        if (write(STDIN_FILENO, &child, sizeof child) != sizeof child) _exit(0);
    }
}

void end_with_parent(void) {
    // pipectl is the parent of one that was asked for: its socket, of which nobody else has the other end, tells.
    if (life[0] < 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It may have ended before that; who its parent is can't be asked for in a namespace of processes.
    struct pollfd parent = {life[0], 0, 0};
    if (poll(&parent, 1, 0) != 0) _exit(128 + SIGKILL);
}

#endif
