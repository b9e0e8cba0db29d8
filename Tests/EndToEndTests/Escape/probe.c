// What steps try in order to get out of their sandbox, one attempt for each name: `probe NAME [ARGUMENT…]`.
//
// Ends with 0 when the attempt succeeded, with 1 and the errno's text when it was refused, with 2 when this kernel has
// no such thing. The same program is run outside the sandbox to see that the attempts can succeed at all.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *argument(char **arguments, int index) { return arguments[index] ? arguments[index] : ""; }

// Ends with what the call said.
static int outcome(long result) {
    if (result >= 0) {
        printf("done: %ld\n", result);
        return 0;
    }
    printf("%s\n", strerror(errno));
    return errno == ENOSYS || errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT ? 2 : 1;
}

static int open_socket(int family, int type, int protocol) { return outcome(socket(family, type, protocol)); }

// In a child, since what succeeds would change this process.
static int in_child(long (*attempt)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        int code = outcome(attempt());
        fflush(stdout);
        _exit(code);
    }
    int status;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf("%s\n", strsignal(WTERMSIG(status)));
    return 1;
}

static pid_t sleeping_child(void) {
    pid_t pid = fork();
    if (pid == 0) {
        for (;;) pause();
    }
    return pid;
}

static int secret_of_child = 42;

// Reaches into a process of our own, which the kernel allows without any filter.
static int reach_child(int how) {
    pid_t pid = sleeping_child();
    long result = -1;
    int copy = 0;
    struct iovec here = {&copy, sizeof copy}, there = {&secret_of_child, sizeof copy};
    if (how == 'a') result = ptrace(PTRACE_ATTACH, pid, NULL, NULL);
    if (how == 's') result = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
    if (how == 'r') result = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (how == 'w') result = process_vm_writev(pid, &here, 1, &there, 1, 0);
    if (how == 'f') {
        int handle = (int)syscall(SYS_pidfd_open, pid, 0);
        result = handle < 0 ? -1 : syscall(438 /* pidfd_getfd */, handle, 0, 0);
    }
    int code = outcome(result);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return code;
}

static long unshare_all(void) { return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID); }
static long unshare_user(void) { return unshare(CLONE_NEWUSER); }
static long clone_user(void) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return pid;
}
static long clone3_user(void) {
    struct { uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls; } arguments = {0};
    arguments.flags = CLONE_NEWUSER;
    arguments.exit_signal = SIGCHLD;
    long pid = syscall(435, &arguments, sizeof arguments);
    if (pid == 0) _exit(0);
    return pid;
}
static long enter_namespace(void) {
    int file = open("/proc/self/ns/uts", O_RDONLY);
    return file < 0 ? -1 : setns(file, 0);
}
static long mount_tmpfs(void) { return mount("none", "/mnt", "tmpfs", 0, NULL); }
static long mount_over(void) { return mount("/usr", "/mnt", NULL, MS_BIND, NULL); }
static long mount_writable(void) { return mount(NULL, "/mnt", NULL, MS_REMOUNT | MS_BIND, NULL); }
static long mount_cgroup(void) { return mount("none", "/mnt", "cgroup2", 0, NULL); }
static long mount_proc(void) { return mount("none", "/mnt", "proc", 0, NULL); }
static long unmount(void) { return umount2("/proc", MNT_DETACH); }
static long change_root(void) { return chroot("/tmp"); }
static long pivot(void) { return syscall(SYS_pivot_root, "/tmp", "/tmp"); }
static long open_filesystem(void) { return syscall(430, "tmpfs", 0); }
static long clone_tree(void) { return syscall(428, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */); }
static long make_writable(void) {
    struct { uint64_t set, clear, propagation, namespace; } change = {0, 1 /* MOUNT_ATTR_RDONLY */, 0, 0};
    return syscall(442, AT_FDCWD, "/mnt", 0, &change, sizeof change);
}
static long become_root(void) { return setresuid(0, 0, 0); }
static long join_group(void) {
    gid_t root = 0;
    return syscall(SYS_setgroups, 1, &root);
}
static long rename_host(void) { return sethostname("pwned", 5); }
static long old_call(void) {
#ifdef __x86_64__
    long result;  // getpid of the 32-bit table
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    return result;
#else
    errno = ENOSYS;
    return -1;
#endif
}
static long x32_call(void) {
#ifdef __x86_64__
    return syscall(0x40000000 | SYS_getpid);
#else
    errno = ENOSYS;
    return -1;
#endif
}

static long push_into_terminal(void) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    setsid();
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) return -1;
    int other = open(ptsname(terminal), O_RDWR);
    if (other < 0 || ioctl(other, TIOCSCTTY, 0) != 0) return -1;
    return ioctl(other, TIOCSTI, "x");
}

static long set_line_discipline(void) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), discipline = 0;
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) return -1;
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    return other < 0 ? -1 : ioctl(other, TIOCSETD, &discipline);
}

// Succeeds when one of them is refused for any other reason than that it may not be asked for.
static int other_families(void) {
    for (int family = 0; family < 64; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
        int pair[2];
        if (socket(family, SOCK_DGRAM, 0) < 0 && errno == EPERM && socketpair(family, SOCK_DGRAM, 0, pair) < 0
            && errno == EPERM) continue;
        printf("family %d: %s\n", family, strerror(errno));
        return 0;
    }
    return outcome(-1);
}

static int huge_pages(void) {
    void *pages = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (pages == MAP_FAILED && errno == EPERM) return outcome(-1);
    printf("%s\n", pages == MAP_FAILED ? strerror(errno) : "mapped");
    return 0;
}

static long by_handle(void) {
    union { struct file_handle handle; char room[sizeof(struct file_handle) + 128]; } file = {0};
    int mount_id;
    file.handle.handle_bytes = 128;
    if (name_to_handle_at(AT_FDCWD, "/usr", &file.handle, &mount_id, 0) != 0) return -1;
    int folder = open("/usr", O_RDONLY);
    return open_by_handle_at(folder, &file.handle, O_RDONLY);
}

static long new_ring(void) {
    struct io_uring_params parameters = {0};
    return syscall(425, 4, &parameters);
}
static long watch_kernel(void) {
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_CPU_CLOCK};
    return syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
}
static long load_bpf(void) {
    struct { uint32_t type, key, value, entries, flags; } map = {1, 4, 4, 1, 0};
    char attributes[128] = {0};
    memcpy(attributes, &map, sizeof map);
    return syscall(SYS_bpf, 0 /* BPF_MAP_CREATE */, attributes, sizeof attributes);
}
static long handle_faults(void) { return syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */); }
static long read_keyring(void) { return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3, 1); }
static long add_key(void) { return syscall(SYS_add_key, "user", "pipectl-probe", "x", 1, -2); }
static long read_kernel_log(void) { return syscall(SYS_syslog, 10 /* SYSLOG_ACTION_SIZE_BUFFER */, NULL, 0); }
static long compare_kernel(void) { return syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 1); }
static long load_module(void) { return syscall(SYS_init_module, "", 0, ""); }
static long load_kernel(void) { return syscall(SYS_kexec_load, 0, 0, NULL, 0); }
static long swap_on(void) { return syscall(SYS_swapon, "/tmp", 0); }
static long set_clock(void) {
    struct timespec now = {0, 0};
    return clock_settime(CLOCK_REALTIME, &now);
}
static long mark_all_files(void) { return syscall(SYS_fanotify_init, 0, O_RDONLY); }
static long make_device(void) {
    unlink("device");
    return mknod("device", S_IFBLK | 0600, (8 << 8) | 0);
}
static long hardware(void) {
#ifdef __x86_64__
    return syscall(SYS_iopl, 3);
#else
    errno = ENOSYS;
    return -1;
#endif
}

static const struct { const char *name; long (*attempt)(void); } calls[] = {
    {"unshare-all", unshare_all}, {"unshare-user", unshare_user}, {"clone-user", clone_user},
    {"clone3-user", clone3_user}, {"setns", enter_namespace}, {"mount-tmpfs", mount_tmpfs}, {"mount-over", mount_over},
    {"mount-writable", mount_writable}, {"mount-cgroup", mount_cgroup}, {"mount-proc", mount_proc},
    {"umount", unmount}, {"chroot", change_root}, {"pivot-root", pivot}, {"fsopen", open_filesystem},
    {"open-tree", clone_tree}, {"mount-setattr", make_writable}, {"setuid", become_root}, {"setgroups", join_group},
    {"sethostname", rename_host}, {"int80", old_call}, {"x32", x32_call}, {"tiocsti", push_into_terminal},
    {"tiocsetd", set_line_discipline},
    {"by-handle", by_handle}, {"io-uring", new_ring}, {"perf", watch_kernel}, {"bpf", load_bpf},
    {"userfaultfd", handle_faults}, {"keyctl", read_keyring}, {"add-key", add_key}, {"syslog", read_kernel_log},
    {"kcmp", compare_kernel}, {"init-module", load_module}, {"kexec", load_kernel}, {"swapon", swap_on},
    {"settime", set_clock}, {"fanotify", mark_all_files}, {"mknod", make_device}, {"iopl", hardware},
};

// Network

static int connect_to(struct sockaddr *address, socklen_t length, const char *text) {
    int file = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (file < 0) return outcome(-1);
    if (connect(file, address, length) != 0) {
        if (errno != EINPROGRESS) return outcome(-1);
        struct pollfd waiting = {file, POLLOUT, 0};
        int problem = ETIMEDOUT;
        socklen_t size = sizeof problem;
        if (poll(&waiting, 1, 3000) > 0) getsockopt(file, SOL_SOCKET, SO_ERROR, &problem, &size);
        if (problem) {
            errno = problem;
            return outcome(-1);
        }
    }
    return outcome(write(file, text, strlen(text)));
}

static int connect_tcp(const char *host, const char *port, const char *text) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    inet_pton(AF_INET, host, &address.sin_addr);
    return connect_to((struct sockaddr *)&address, sizeof address, text);
}

static socklen_t unix_address(struct sockaddr_un *address, const char *name, int is_abstract) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    strncpy(address->sun_path + is_abstract, name, sizeof address->sun_path - 2);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)is_abstract + strlen(name) + !is_abstract);
}

static int connect_unix(const char *name, int is_abstract, const char *text) {
    struct sockaddr_un address;
    socklen_t length = unix_address(&address, name, is_abstract);
    return connect_to((struct sockaddr *)&address, length, text);
}

static int send_datagram(const char *host) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    inet_pton(AF_INET, host, &address.sin_addr);
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    return outcome(file < 0 ? -1 : sendto(file, "x", 1, 0, (struct sockaddr *)&address, sizeof address));
}

// Listens in three ways and writes what it hears to FOLDER/heard; FOLDER/ready says the TCP port.
static int listen_for(const char *folder, const char *abstract) {
    char path[4096];
    struct pollfd files[3];
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    files[0].fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(files[0].fd, (struct sockaddr *)&address, length) != 0) return outcome(-1);
    getsockname(files[0].fd, (struct sockaddr *)&address, &length);
    struct sockaddr_un name;
    files[1].fd = socket(AF_UNIX, SOCK_STREAM, 0);
    length = unix_address(&name, abstract, 1);
    if (bind(files[1].fd, (struct sockaddr *)&name, length) != 0) return outcome(-1);
    snprintf(path, sizeof path, "%s/socket", folder);
    files[2].fd = socket(AF_UNIX, SOCK_STREAM, 0);
    length = unix_address(&name, path, 0);
    if (bind(files[2].fd, (struct sockaddr *)&name, length) != 0) return outcome(-1);
    for (int i = 0; i < 3; i++) {
        listen(files[i].fd, 64);
        files[i].events = POLLIN;
    }
    snprintf(path, sizeof path, "%s/heard", folder);
    int heard = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    while (poll(files, 3, -1) > 0) {
        for (int i = 0; i < 3; i++) {
            if (!(files[i].revents & POLLIN)) continue;
            int connection = accept(files[i].fd, NULL, NULL);
            char text[256];
            ssize_t count = read(connection, text, sizeof text);
            if (count > 0) count = write(heard, text, (size_t)count);
            close(connection);
        }
    }
    return 1;
}

// What does not end by itself

// Holds a lock in a process that has left its session and hears no signal; the caller goes on once it is held.
static int survive(const char *path) {
    int ready[2];
    char byte;
    if (pipe(ready) != 0) return outcome(-1);
    if (fork() == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
        prctl(PR_SET_PDEATHSIG, 0);
        for (int other = 3; other < 1024; other++)
            if (other != ready[1]) close(other);
        int file = open(path, O_RDWR | O_CREAT, 0666);
        if (flock(file, LOCK_EX | LOCK_NB) != 0) _exit(1);
        dprintf(file, "%d\n", (int)getpid());
        if (write(ready[1], "x", 1) != 1) _exit(1);
        close(ready[1]);
        for (;;) pause();
    }
    close(ready[1]);
    return outcome(read(ready[0], &byte, 1) == 1 ? 0 : -1);
}

// Says how many processes there could be at a time.
static int fork_bomb(int most) {
    int count = 0;
    for (; count < most; count++) {
        pid_t pid = fork();
        if (pid < 0) break;
        if (pid == 0) {
            for (;;) pause();
        }
    }
    printf("processes: %d: %s\n", count, strerror(errno));
    return count < most;
}

static int fill_memory(int mebibytes) {
    for (int i = 0; i < mebibytes; i++) {
        char *piece = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED) {
            printf("memory: %d MiB: %s\n", i, strerror(errno));
            return 1;
        }
        memset(piece, 1, 1 << 20);
        if (i % 16 == 0) {
            printf("memory: %d MiB\n", i);
            fflush(stdout);
        }
    }
    return 0;
}

static int fill_file(int file, int mebibytes) {
    static char piece[1 << 20];
    memset(piece, 1, sizeof piece);
    for (int i = 0; i < mebibytes; i++)
        if (write(file, piece, sizeof piece) != sizeof piece) return -1;
    return 0;
}

// Files that are open and have no name, of 8 MiB each.
static int unlinked_files(int count) {
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "unlinked-%d", i);
        int file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file < 0 || unlink(name) != 0 || fill_file(file, 8) != 0) return outcome(-1);
    }
    printf("unlinked: %d MiB\n", count * 8);
    fflush(stdout);
    for (;;) pause();
}

// Files in memory, of 10 MiB each, which no process has mapped.
static int memory_files(int count) {
    for (int i = 0; i < count; i++) {
        int file = memfd_create("probe", 0);
        if (file < 0 || fill_file(file, 10) != 0) return outcome(-1);
    }
    printf("memfd: %d MiB\n", count * 10);
    fflush(stdout);
    for (;;) pause();
}

// Ends when one is refused.
static int open_terminals(int most) {
    int refused[2];
    if (pipe(refused) != 0) return outcome(-1);
    for (int i = 0; i < most / 40; i++) {
        if (fork() != 0) continue;
        for (int j = 0; j < 40; j++)
            if (open("/dev/ptmx", O_RDWR | O_NOCTTY) < 0) dprintf(refused[1], "%s\n", strerror(errno));
        for (;;) pause();
    }
    printf("terminals: %d wanted\n", most);
    fflush(stdout);
    char text[64] = "";
    ssize_t count = read(refused[0], text, sizeof text - 1);
    printf("refused: %s\n", count > 0 ? text : "");
    return 1;
}

static int open_files(int most) {
    int count = 0;
    while (count < most && open("/dev/null", O_RDONLY) >= 0) count++;
    printf("files: %d: %s\n", count, strerror(errno));
    return count < most;
}

// Descriptors that nobody gave to the step: everything beyond the standard ones.
static int foreign_descriptors(void) {
    int found = 0;
    for (int file = 3; file < 65536; file++) {
        if (fcntl(file, F_GETFD) < 0) continue;
        ssize_t sent = write(file, "{\"step\":\"passed\"}\n", 18);
        printf("descriptor %d: %zd\n", file, sent);
        found++;
    }
    if (!found) printf("%s\n", strerror(EBADF));
    return found == 0;
}

// Files

static int many_files(const char *folder, int count) {
    mkdir(folder, 0755);
    int parent = open(folder, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.txt", i);
        int file = openat(parent, name, O_WRONLY | O_CREAT, 0644);
        if (file < 0) return outcome(-1);
        close(file);
    }
    return outcome(0);
}

static int deep_folders(const char *name, int count) {
    for (int i = 0; i < count; i++)
        if (mkdir(name, 0755) != 0 || chdir(name) != 0) return outcome(-1);
    int file = open("deep.txt", O_WRONLY | O_CREAT, 0644);
    return outcome(file < 0 ? -1 : write(file, "deep\n", 5));
}

// Exchanges two names as fast as it goes, for some milliseconds.
static int exchange(const char *one, const char *other, int milliseconds) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    long count = 0;
    do {
        if (syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, 2 /* RENAME_EXCHANGE */) != 0) return outcome(-1);
        count++;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < milliseconds);
    return outcome(count);
}

int main(int count, char **arguments) {
    const char *name = argument(arguments, 1);
    if (count < 2) return 3;
    const char *one = argument(arguments, 2), *two = count > 2 ? argument(arguments, 3) : "";
    const char *three = count > 3 ? argument(arguments, 4) : "";
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0) return in_child(calls[i].attempt);
#define NAMED(text) (strcmp(name, text) == 0)
    if (NAMED("ptrace-attach")) return reach_child('a');
    if (NAMED("ptrace-seize")) return reach_child('s');
    if (NAMED("vm-read")) return reach_child('r');
    if (NAMED("vm-write")) return reach_child('w');
    if (NAMED("pidfd-getfd")) return reach_child('f');
    if (NAMED("traceme")) {
        // The watcher becomes the tracer, and hears of a stop where it waits for an end.
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) return outcome(-1);
        raise(SIGSTOP);
        return outcome(0);
    }
    if (NAMED("ptrace-init")) return outcome(ptrace(PTRACE_ATTACH, 1, NULL, NULL));
    if (NAMED("vsock")) return open_socket(AF_VSOCK, SOCK_STREAM, 0);
    if (NAMED("packet")) return open_socket(AF_PACKET, SOCK_RAW, 0);
    if (NAMED("alg")) return open_socket(AF_ALG, SOCK_SEQPACKET, 0);
    if (NAMED("xdp")) return open_socket(44, SOCK_RAW, 0);
    if (NAMED("key-socket")) return open_socket(AF_KEY, SOCK_RAW, 2);
    if (NAMED("raw")) return open_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (NAMED("tcp")) return connect_tcp(one, two, three);
    if (NAMED("unix")) return connect_unix(one, 0, two);
    if (NAMED("abstract")) return connect_unix(one, 1, two);
    if (NAMED("udp")) return send_datagram(one);
    if (NAMED("listen")) return listen_for(one, two);
    if (NAMED("sleep")) for (;;) pause();
    if (NAMED("survive")) return survive(one);
    if (NAMED("bomb")) return fork_bomb(atoi(one));
    if (NAMED("memory")) return fill_memory(atoi(one));
    if (NAMED("unlinked")) return unlinked_files(atoi(one));
    if (NAMED("memfd")) return memory_files(atoi(one));
    if (NAMED("terminals")) return open_terminals(atoi(one));
    if (NAMED("families")) return other_families();
    if (NAMED("huge-pages")) return huge_pages();
    if (NAMED("files")) return open_files(atoi(one));
    if (NAMED("descriptors")) return foreign_descriptors();
    if (NAMED("many")) return many_files(one, atoi(two));
    if (NAMED("deep")) return deep_folders(one, atoi(two));
    if (NAMED("exchange")) return exchange(one, two, atoi(three));
    fprintf(stderr, "probe: nothing is called %s\n", name);
    return 3;
}
