// Preloaded into a shell by stepinit: forks it for each line before its `main` has begun. See stepinit/shells.h.

#ifdef __linux__

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "../stepinit/command.h"
#include "../stepinit/shells.h"

extern char **environ;

static struct launch launch;
// Of its own pages: of others the kernel shows nobody what a process's words and variables are.
static char *text;
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

// Where the kernel finds what /proc says of a process; fields of proc_pid_stat(5), by their numbers there.
static int read_memory_map(struct prctl_mm_map *map) {
    char stat[1024];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, stat, sizeof stat - 1);
    if (file >= 0) close(file);
    if (length <= 0) return 0;
    stat[length] = 0;
    // A name may have blanks and brackets of its own.
    char *next = strrchr(stat, ')');
    if (!next) return 0;
    unsigned long long fields[52] = {0};
    // After the name come the state, which is a letter, and numbers.
    next += 4;
    for (int field = 4; field < 52; field++) fields[field] = strtoull(next, &next, 10);
    *map = (struct prctl_mm_map){
        .start_code = fields[26], .end_code = fields[27], .start_stack = fields[28], .start_data = fields[45],
        .end_data = fields[46], .start_brk = fields[47], .arg_start = fields[48], .arg_end = fields[49],
        .env_start = fields[50], .env_end = fields[51], .exe_fd = (uint32_t)-1};
    return fields[51] != 0;
}

static int set_memory_map(struct prctl_mm_map *map) {
    map->brk = (uint64_t)(uintptr_t)sbrk(0);
    return prctl(PR_SET_MM, PR_SET_MM_MAP, (unsigned long)map, sizeof *map, 0) == 0;
}

static char *after(char *text) { return text + strlen(text) + 1; }

// In the new process: what exec would have done and the warden's own command does before it.
static void become_shell(char **words, struct prctl_mm_map *map, const int *files, int number) {
    char *end = text + text_size, *folder = text;
    char *next = after(after(folder));  // and the folder for secrets
    map->arg_start = (uint64_t)(uintptr_t)next;
    for (int word = 0; word < 3 && next < end; word++, next = after(next)) words[word] = next;
    map->arg_end = map->env_start = (uint64_t)(uintptr_t)next;
    for (uint32_t i = 0; i < launch.variables && next < end; i++, next = after(next)) variables[i] = next;
    map->env_end = (uint64_t)(uintptr_t)next;
    environ = variables;
    // It stands for this line now, for whoever looks for it.
    set_memory_map(map);
    struct setting setting = {
        .launch = &launch, .folder = folder, .output = files[0], .groups = files + 1, .group_count = number - 1};
    int32_t kind = enter(&setting);
    if (kind != 0) {
        say(kind, errno ? errno : EIO);
        _exit(127);
    }
    closefrom(3);
    prctl(PR_SET_NAME, "sh");
    prctl(PR_SET_DUMPABLE, 1);
}

__attribute__((constructor)) static void serve(int count, char **words) {
    // Somebody else's shell, which goes on.
    int kind = 0;
    socklen_t size = sizeof kind;
    if (count != 3 || getsockopt(server_socket, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_SEQPACKET)
        return;
    // What steps run as the same user; none may look into this process, or change what the next line starts with.
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, "stepinit");
    close(server_library);
    void *thread_id = 0;
    struct prctl_mm_map map;
    // Kernels are built without what this takes, too.
    text = mmap(NULL, most_server_bytes + 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED || prctl(PR_GET_TID_ADDRESS, &thread_id) != 0 || !thread_id || !read_memory_map(&map) || !set_memory_map(&map))
        _exit(1);
    say(0, server_greeting);
    int files[most_files], number;
    while (receive(files, &number)) {
        pid_t pid = fork_for_parent(thread_id);
        if (pid == 0) {
            become_shell(words, &map, files, number);
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
