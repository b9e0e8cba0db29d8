#define _GNU_SOURCE

#ifdef __linux__

#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Sandboxes of one box differ in their network and in what a run's program has.
enum { most_templates = 8 };

static struct template {
    char *key;              // NULL: none
    size_t length;          // of the key
    int namespace;          // -1: there can be none for these
    unsigned long used;
} templates[most_templates];

// What a template is found by

static void add(FILE *key, const char *text) {
    // The NUL, too: two texts are not another two.
    fwrite(text ? text : "", 1, text ? strlen(text) + 1 : 1, key);
}

// Whatever decides how a template looks: all parts, and what the common ones show.
static char *make_key(const struct sandbox *sandbox, size_t *length) {
    char *text = NULL;
    FILE *key = open_memstream(&text, length);
    if (!key) return NULL;
    for (size_t i = 0; i < sandbox->count; i++) {
        const struct part *part = &sandbox->parts[i];
        fprintf(key, " %d %d %d %d ", part->kind, part->is_readonly, part->is_optional, part->is_own);
        add(key, part->path);
        add(key, part->mode);
        add(key, part->bytes);
        if (!part->is_own) add(key, part->source);
        struct stat facts;
        if (part->kind != shown || stat(part->source, &facts) != 0) continue;
        // There it is shown, and the others only need a place of their kind.
        fprintf(key, "%d", S_ISDIR(facts.st_mode));
        if (!part->is_own) fprintf(key, " %llu %llu", (unsigned long long)facts.st_dev, (unsigned long long)facts.st_ino);
    }
    return fclose(key) == 0 ? text : NULL;
}

// The lowest numbers are for what comes with a sandbox.
static int open_above(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    int moved = fcntl(file, F_DUPFD_CLOEXEC, 16);
    close(file);
    return moved;
}

// Says by POLLPRI that something was mounted or unmounted on the box (proc_pid_mountinfo(5)), once; -1 without /proc.
static int open_mounts(void) {
    static int list = -1;
    if (list < 0) list = open_above("/proc/self/mountinfo");
    return list;
}

static int have_mounts_changed(void) {
    struct pollfd mounts = {open_mounts(), POLLPRI, 0};
    return poll(&mounts, 1, 0) != 0;
}

// Making one

// Milliseconds that a process may take that does so little; a file system that does not answer must not hold up all.
enum { builder_patience = 3000 };

// Makes the template, or enters the one that there is; returns only where it can't.
static void build(struct sandbox *sandbox, int namespace, int ready) {
    char done = 1;
    if (namespace >= 0) {
        if (setns(namespace, CLONE_NEWNS) != 0 || unshare(CLONE_NEWNS) != 0) return;
    } else {
        if (unshare(CLONE_NEWNS) != 0) return;
        furnish_template(sandbox);
    }
    if (write(ready, &done, 1) == 1) pause();
}

// A process that waits in a mount namespace of its own until it is ended; -1 without one.
static pid_t start_builder(struct sandbox *sandbox, int namespace, int *is_ready) {
    int ends[2];
    pid_t parent = getpid();
    *is_ready = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        // Nothing of pipectl's, which waits for the end of the socket when its other end has gone; and what can't be done
        // is said by the sandbox that is made without a template then.
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDERR_FILENO);
        int ready = dup3(ends[1], 3, O_CLOEXEC) >= 0 || ends[1] == 3 ? 3 : -1;
        if (namespace >= 0) namespace = dup3(namespace, 4, O_CLOEXEC);
        closefrom(5);
        build(sandbox, namespace, ready);
        _exit(1);
    }
    close(ends[1]);
    if (child > 0) {
        char done = 0;
        struct pollfd end = {ends[0], POLLIN, 0};
        int count;
        do count = poll(&end, 1, builder_patience); while (count < 0 && errno == EINTR);
        *is_ready = count > 0 && read(ends[0], &done, 1) == 1;
    }
    close(ends[0]);
    return child;
}

static void end_builder(pid_t child) {
    if (child <= 0) return;
    kill(child, SIGKILL);
    // One that hangs in the kernel stays until that lets go of it.
    for (int tries = 0; tries < 100; tries++) {
        pid_t ended = waitpid(child, NULL, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) return;
        struct timespec pause = {0, tries < 20 ? 100000 : 5000000};
        nanosleep(&pause, NULL);
    }
}

// -1 where there can be none for this sandbox, -2 where there is none for now.
static int make_template(const struct sandbox *wanted) {
    struct sandbox sandbox = *wanted;
    int is_ready;
    pid_t builder = start_builder(&sandbox, -1, &is_ready);
    if (builder < 0) return -2;
    int namespace = -1;
    if (is_ready) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)builder);
        namespace = open_above(path);
    }
    end_builder(builder);
    if (!is_ready) return -1;
    if (namespace < 0) return -2;
    // Not everywhere may one enter what one has made.
    pid_t visitor = start_builder(&sandbox, namespace, &is_ready);
    end_builder(visitor);
    if (is_ready) return namespace;
    close(namespace);
    return visitor < 0 ? -2 : -1;
}

static void drop(struct template *template) {
    if (!template->key) return;
    free(template->key);
    if (template->namespace >= 0) close(template->namespace);
    *template = (struct template){0};
}

static void drop_all(void) {
    for (int i = 0; i < most_templates; i++) drop(&templates[i]);
}

void wait_for_request(int socket) {
    struct pollfd files[] = {{socket, POLLIN, 0}, {open_mounts(), POLLPRI, 0}};
    for (;;) {
        int count = poll(files, 2, -1);
        if (count < 0 && errno != EINTR) return;
        // What the box has unmounted must not stay in use.
        if (count > 0 && files[1].revents != 0) drop_all();
        if (count > 0 && files[0].revents != 0) return;
    }
}

int find_template(const struct sandbox *sandbox) {
    static unsigned long uses;
    if (open_mounts() < 0) return -1;
    for (size_t i = 0; i < sandbox->count; i++)
        if (sandbox->parts[i].kind == devices && sandbox->parts[i].is_own) return -1;
    if (have_mounts_changed()) drop_all();
    size_t length;
    char *key = make_key(sandbox, &length);
    if (!key) return -1;
    struct template *oldest = &templates[0];
    for (int i = 0; i < most_templates; i++) {
        struct template *template = &templates[i];
        if (template->key && template->length == length && memcmp(template->key, key, length) == 0) {
            free(key);
            template->used = ++uses;
            return template->namespace;
        }
        if (template->used < oldest->used) oldest = template;
    }
    int namespace = make_template(sandbox);
    if (namespace == -2) {
        free(key);
        return -1;
    }
    drop(oldest);
    *oldest = (struct template){key, length, namespace, ++uses};
    return namespace;
}

#endif
