// Preloaded into a shell by stepinit: forks it for each line before its `main` has begun. See stepinit/shells.h.

#ifdef __linux__

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "../stepinit/command.h"
#include "../stepinit/shells.h"

extern char **environ;

static struct launch launch;
static char text[most_server_bytes + 2];
static size_t text_size;
static char *variables[most_server_variables + 1];

static void say(int32_t kind, int32_t value) {
    struct forked answer = {kind, value};
    ssize_t sent = send(server_socket, &answer, sizeof answer, MSG_NOSIGNAL);
    (void)sent;  // the warden is gone, and this process soon
}

// Reads the next launch; 0 when there is none any more.
static int receive(int *files, int *number) {
    struct iovec parts[] = {{&launch, sizeof launch}, {text, most_server_bytes}};
    union {
        char bytes[CMSG_SPACE(most_files * sizeof(int))];
        struct cmsghdr aligned;
    } space;
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = &space, .msg_controllen = sizeof space};
    ssize_t count;
    do count = recvmsg(server_socket, &message, MSG_CMSG_CLOEXEC); while (count < 0 && errno == EINTR);
    if (count < (ssize_t)sizeof launch || (message.msg_flags & (MSG_CTRUNC | MSG_TRUNC))) return 0;
    text_size = (size_t)count - sizeof launch;
    text[text_size] = text[text_size + 1] = 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS) return 0;
    *number = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof *files);
    if (*number > most_files) return 0;
    memcpy(files, CMSG_DATA(header), (size_t)*number * sizeof *files);
    return 1;
}

// What the loader's start of a process tells the kernel and the C library: the same for one that is forked.
static pid_t fork_for_parent(void *thread_id) {
    unsigned long kinds = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
#ifdef __x86_64__
    return (pid_t)syscall(SYS_clone, kinds, 0, 0, thread_id, 0);
#else
    return (pid_t)syscall(SYS_clone, kinds, 0, 0, 0, thread_id);
#endif
}

// In the new process: what exec would have done and the warden's own command does before it.
static void become_shell(char **words, const int *files, int number) {
    char *folder = text, *end = text + text_size, *next = folder + strlen(folder) + 1;
    next += strlen(next) + 1;  // the folder for secrets
    for (int word = 0; word < 2; word++) next += strlen(next) + 1;
    char *line = next;
    next += strlen(next) + 1;
    for (uint32_t i = 0; i < launch.variables && next < end; i++, next += strlen(next) + 1) variables[i] = next;
    struct setting setting = {
        .launch = &launch, .folder = folder, .output = files[0], .groups = files + 1, .group_count = number - 1};
    int32_t kind = enter(&setting);
    if (kind != 0) {
        say(kind, errno ? errno : EIO);
        _exit(127);
    }
    closefrom(3);
    prctl(PR_SET_DUMPABLE, 1);
    prctl(PR_SET_NAME, "sh");
    environ = variables;
    size_t room = strlen(words[2]);
    memset(words[2], 0, room);
    memcpy(words[2], line, strlen(line));
}

__attribute__((constructor)) static void serve(int count, char **words) {
    // Somebody else's shell, which goes on.
    int kind = 0;
    socklen_t size = sizeof kind;
    if (count != 3 || strlen(words[2]) != most_server_line || words[2][0] != ' ' ||
        getsockopt(server_socket, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_SEQPACKET)
        return;
    // What steps run as the same user; none may look into this process, or change what the next line starts with.
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, "stepinit");
    close(server_library);
    void *thread_id = 0;
    if (prctl(PR_GET_TID_ADDRESS, &thread_id) != 0 || !thread_id) _exit(1);
    say(0, 0);
    int files[most_files], number;
    while (receive(files, &number)) {
        pid_t pid = fork_for_parent(thread_id);
        if (pid == 0) {
            become_shell(words, files, number);
            return;
        }
        if (pid < 0)
            say(report_no_process, errno);
        else
            say(0, pid);
        for (int i = 0; i < number; i++) close(files[i]);
        // They may be secrets, and this process may live long.
        explicit_bzero(text, text_size);
    }
    _exit(0);
}

#endif
