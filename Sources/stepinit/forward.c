#define _GNU_SOURCE
#include "forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum { most_links = 64, piece = 16384, pipe_piece = 4096 };

// One direction of a connection: what was read and not written yet.
struct half {
    int from, to;
    int ended;  // nothing more can be read
    int done;   // and all of it was written
    size_t start, end;
    char bytes[piece];
};

struct link {
    int near, far;
    struct half there, back;
};

static int fail(const char *what) {
    dprintf(2, "stepinit: %s: %s\n", what, strerror(errno));
    return 125;
}

static int open_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (file < 0) return -1;
    fcntl(file, F_SETFD, FD_CLOEXEC);
    if (connect(file, (struct sockaddr *)&address, sizeof address) == 0) return file;
    int problem = errno;
    close(file);
    errno = problem;
    return -1;
}

// Neither reading nor writing may block: both directions are served by one loop. A pipe takes so many bytes at once
// whenever it takes any.
static ssize_t take(int file, char *bytes, size_t room) {
    ssize_t count = recv(file, bytes, room, MSG_DONTWAIT);
    return count < 0 && errno == ENOTSOCK ? read(file, bytes, room) : count;
}

static ssize_t give(int file, const char *bytes, size_t size) {
    ssize_t count = send(file, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return count < 0 && errno == ENOTSOCK ? write(file, bytes, size < pipe_piece ? size : pipe_piece) : count;
}

static int is_later(void) { return errno == EAGAIN || errno == EINTR; }

// Does what can be done without waiting. Returns 0 if the connection is broken.
static int serve(struct half *half, int readable, int writable) {
    if (readable && !half->ended && half->start == half->end) {
        ssize_t count = take(half->from, half->bytes, sizeof half->bytes);
        if (count < 0 && !is_later()) return 0;
        if (count == 0) half->ended = 1;
        if (count > 0) {
            half->start = 0;
            half->end = (size_t)count;
            writable = 1;
        }
    }
    if (writable && half->start < half->end) {
        ssize_t count = give(half->to, half->bytes + half->start, half->end - half->start);
        if (count < 0 && !is_later()) return 0;
        if (count > 0) half->start += (size_t)count;
    }
    if (half->ended && half->start == half->end && !half->done) {
        half->done = 1;
        if (shutdown(half->to, SHUT_WR) != 0 && errno == ENOTSOCK) close(half->to);
    }
    return 1;
}

// What to wait for. A descriptor of -1 is not looked at.
static struct pollfd reading(const struct half *half) {
    int wants = !half->ended && half->start == half->end;
    return (struct pollfd){wants ? half->from : -1, POLLIN, 0};
}

static struct pollfd writing(const struct half *half) {
    return (struct pollfd){half->start < half->end ? half->to : -1, POLLOUT, 0};
}

static void set(struct half *half, int from, int to) {
    half->from = from;
    half->to = to;
    half->ended = half->done = 0;
    half->start = half->end = 0;
}

// Passes connections on until it is killed.
static void forward(int listener, const char *path) {
    static struct link links[most_links];
    static struct pollfd files[1 + 4 * most_links];
    int count = 0;
    for (;;) {
        files[0] = (struct pollfd){count < most_links ? listener : -1, POLLIN, 0};
        for (int i = 0; i < count; i++) {
            struct pollfd *own = files + 1 + 4 * i;
            own[0] = reading(&links[i].there);
            own[1] = writing(&links[i].there);
            own[2] = reading(&links[i].back);
            own[3] = writing(&links[i].back);
        }
        if (poll(files, (nfds_t)(1 + 4 * count), -1) < 0) {
            if (errno == EINTR) continue;
            _exit(1);
        }
        // From the last one on, since the last one takes the place of one that ends.
        for (int i = count - 1; i >= 0; i--) {
            struct pollfd *own = files + 1 + 4 * i;
            struct link *link = links + i;
            int is_whole = serve(&link->there, own[0].revents, own[1].revents) &&
                           serve(&link->back, own[2].revents, own[3].revents);
            if (is_whole && !(link->there.done && link->back.done)) continue;
            close(link->near);
            close(link->far);
            links[i] = links[--count];
        }
        if (!files[0].revents) continue;
        int near = accept(listener, NULL, NULL);
        if (near < 0) continue;
        fcntl(near, F_SETFD, FD_CLOEXEC);
        int far = open_unix(path);
        if (far < 0) {
            close(near);
            continue;
        }
        struct link *link = links + count++;
        link->near = near;
        link->far = far;
        set(&link->there, near, far);
        set(&link->back, far, near);
    }
}

int forward_and_run(char **words) {
    const char *path = words[0];
    if (!path || !words[1] || strcmp(words[1], "--") != 0 || !words[2]) {
        static const char help[] = "stepinit: write --forward SOCKET -- COMMAND\n";
        return write(2, help, sizeof help - 1) > 0 ? 2 : 3;
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 64) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        return fail("loopback");
    fcntl(listener, F_SETFD, FD_CLOEXEC);
    char proxy[64];
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    static const char *const names[] = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) setenv(names[i], proxy, 1);
    setenv("NO_PROXY", "localhost,127.0.0.1,::1", 1);
    setenv("no_proxy", "localhost,127.0.0.1,::1", 1);
    pid_t pid = fork();
    if (pid < 0) return fail("fork");
    if (pid == 0) {
        // It must not hold the log open, which ends with the command.
        int null = open("/dev/null", O_RDWR);
        if (null >= 0)
            for (int file = 0; file < 3; file++) dup2(null, file);
        signal(SIGPIPE, SIG_IGN);
        forward(listener, path);
        _exit(0);
    }
    close(listener);
    execvp(words[2], words + 2);
    fail(words[2]);
    return errno == ENOENT ? 127 : 126;
}

int connect_to(char **words) {
    if (!words[0]) return 2;
    signal(SIGPIPE, SIG_IGN);
    int far = open_unix(words[0]);
    if (far < 0) return fail(words[0]);
    static struct half there, back;
    set(&there, 0, far);
    set(&back, far, 1);
    // Whoever is at the other side has the last word.
    while (!back.done) {
        struct pollfd files[4] = {reading(&there), writing(&there), reading(&back), writing(&back)};
        if (poll(files, 4, -1) < 0) {
            if (errno == EINTR) continue;
            return 1;
        }
        if (!serve(&there, files[0].revents, files[1].revents)) return 1;
        if (!serve(&back, files[2].revents, files[3].revents)) return 1;
    }
    return 0;
}
