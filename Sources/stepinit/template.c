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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

// Whether something was mounted or unmounted on the box since this was asked last.
static int have_mounts_changed(void) {
    static int list = -1;
    if (list < 0) list = open_above("/proc/self/mountinfo");
    struct pollfd mounts = {list, POLLPRI, 0};
    // proc_pid_mountinfo(5): each descriptor is told once.
    return list < 0 || poll(&mounts, 1, 0) != 0;
}

// Making one

// A process that waits in a mount namespace of its own until its socket is closed; -1 without one.
static pid_t start_builder(struct sandbox *sandbox, int namespace, int *ready) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t child = fork();
    if (child == 0) {
        char done = 1;
        close(ends[0]);
        // What can't be done is said by the sandbox that is made without a template then.
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
        if (namespace < 0) {
            if (unshare(CLONE_NEWNS) != 0) _exit(1);
            furnish_template(sandbox);
        } else if (setns(namespace, CLONE_NEWNS) != 0 || unshare(CLONE_NEWNS) != 0) {
            _exit(1);
        }
        if (write(ends[1], &done, 1) != 1) _exit(1);
        pause();
        _exit(0);
    }
    close(ends[1]);
    *ready = 0;
    if (child > 0) {
        char done = 0;
        ssize_t count;
        do count = read(ends[0], &done, 1); while (count < 0 && errno == EINTR);
        *ready = count == 1;
    }
    close(ends[0]);
    return child;
}

static void end_builder(pid_t child) {
    if (child <= 0) return;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}

static int make_template(const struct sandbox *wanted) {
    struct sandbox sandbox = *wanted;
    int is_ready;
    pid_t builder = start_builder(&sandbox, -1, &is_ready);
    int namespace = -1;
    if (is_ready) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)builder);
        namespace = open_above(path);
    }
    end_builder(builder);
    if (namespace < 0) return -1;
    // Not everywhere may one enter what one has made.
    pid_t visitor = start_builder(&sandbox, namespace, &is_ready);
    end_builder(visitor);
    if (is_ready) return namespace;
    close(namespace);
    return -1;
}

static void drop(struct template *template) {
    if (!template->key) return;
    free(template->key);
    if (template->namespace >= 0) close(template->namespace);
    *template = (struct template){0};
}

int find_template(const struct sandbox *sandbox) {
    static unsigned long uses;
    for (size_t i = 0; i < sandbox->count; i++)
        if (sandbox->parts[i].kind == devices && sandbox->parts[i].is_own) return -1;
    if (have_mounts_changed())
        for (int i = 0; i < most_templates; i++) drop(&templates[i]);
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
    drop(oldest);
    *oldest = (struct template){key, length, make_template(sandbox), ++uses};
    return oldest->namespace;
}

#endif
