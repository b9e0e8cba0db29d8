#define _GNU_SOURCE
#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <libproc.h>
#endif

long long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void nap(void) {
    struct timespec pause = {0, 500000};
    nanosleep(&pause, NULL);
}

int each_child(pid_t parent, void (*visit)(pid_t, int, int), int signal_number, int depth) {
    int seen = 0;
#ifdef __linux__
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = opendir(path);
    if (!threads) return 0;
    for (struct dirent *thread; (thread = readdir(threads));) {
        if (thread->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", (int)parent, thread->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        char text[512];
        pid_t pid = 0;
        for (ssize_t length; (length = read(file, text, sizeof text)) > 0;) {
            for (ssize_t i = 0; i < length; i++) {
                if (text[i] >= '0' && text[i] <= '9') {
                    pid = pid * 10 + (text[i] - '0');
                } else if (pid > 0) {
                    seen++;
                    visit(pid, signal_number, depth);
                    pid = 0;
                }
            }
        }
        close(file);
    }
    closedir(threads);
#elif defined(__APPLE__)
    pid_t pids[512];
    int count = proc_listchildpids(parent, pids, sizeof pids);
    for (int i = 0; i < count; i++) {
        seen++;
        visit(pids[i], signal_number, depth);
    }
#endif
    return seen;
}

void signal_tree(pid_t pid, int signal_number, int depth) {
    // A chain of thousands of processes must not overflow the stack. Deeper processes are adopted when those above them
    // die.
    if (depth < 64) each_child(pid, signal_tree, signal_number, depth + 1);
    kill(pid, signal_number);
}

void signal_all(pid_t group, int signal_number) {
    if (group > 0) kill(-group, signal_number);
    each_child(getpid(), signal_tree, signal_number, 0);
}

int reap(pid_t leader, int *leader_status, int *leader_ended) {
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

void kill_until_empty(pid_t leader, int *status, int *ended) {
    // When a parent is killed, this process adopts its children, so each round reaches one generation more. The group
    // is signalled only while its leader is not reaped: afterwards the kernel may give its number to another process.
    while (!reap(leader, status, ended)) {
        signal_all(*ended ? 0 : leader, SIGKILL);
        if (reap(leader, status, ended)) return;
        nap();
    }
}
