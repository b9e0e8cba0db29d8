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

void end_with_parent(void) {}

#else

#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "messages.h"
#include "mounting.h"
#include "requests.h"

enum kind { a_folder, a_link, in_memory, shown, processes, devices, made_readonly };

// One thing of the sandbox, in the order in which they are made.
struct part {
    enum kind kind;
    const char *path;
    const char *source;     // of `shown`; of `a_link` what it leads to
    const char *mode;       // octal
    const char *bytes;      // of `in_memory`, at most
    int is_readonly, is_optional;
    int tree;               // of `shown`, once it is taken
    int is_folder;          // of `shown`
};

struct sandbox {
    struct part *parts;
    size_t count;
    const char *host_name;
    int has_own_network, has_own_session, ends_with_parent;
    int network;            // a descriptor of one to be in, or -1
};

// Where the root is made, before it is the root: a folder that is everywhere.
static const char *const scaffold = "/tmp";

static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
enum { node_count = sizeof nodes / sizeof *nodes };

// Devices of the box, which each sandbox has.
struct box {
    int nodes[node_count];
    int terminal;   // -1 without one
};

__attribute__((noreturn)) static void fail(const char *what, const char *path) {
    dprintf(2, "stepinit: can't %s %s: %s\n", what, path, strerror(errno));
    _exit(125);
}

// The options

// An option that takes one value, or two of which the last is a path in the sandbox.
static const struct {
    const char *name;
    int values;
    enum kind kind;
    int is_readonly, is_optional;
} makers[] = {
    {"--dir", 1, a_folder, 0, 0},
    {"--tmpfs", 1, in_memory, 0, 0},
    {"--proc", 1, processes, 0, 0},
    {"--dev", 1, devices, 0, 0},
    {"--remount-ro", 1, made_readonly, 0, 0},
    {"--symlink", 2, a_link, 0, 0},
    {"--bind", 2, shown, 0, 0},
    {"--bind-try", 2, shown, 0, 1},
    {"--ro-bind", 2, shown, 1, 0},
    {"--ro-bind-try", 2, shown, 1, 1},
};

// Returns how many words the option has; 0 when it makes nothing.
static int read_maker(struct sandbox *sandbox, char **words) {
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (strcmp(words[0], makers[i].name) != 0) continue;
        for (int value = 1; value <= makers[i].values; value++)
            if (!words[value]) return 0;
        struct part *part = &sandbox->parts[sandbox->count++];
        part->kind = makers[i].kind;
        part->path = words[makers[i].values];
        part->source = makers[i].values == 2 ? words[1] : NULL;
        part->is_readonly = makers[i].is_readonly;
        part->is_optional = makers[i].is_optional;
        part->tree = -1;
        return 1 + makers[i].values;
    }
    return 0;
}

// Returns the words after `--`.
static char **read_options(struct sandbox *sandbox, char **words) {
    size_t count = 0;
    while (words[count]) count++;
    sandbox->parts = calloc(count + 1, sizeof *sandbox->parts);
    if (!sandbox->parts) fail("make", "a sandbox");
    const char *mode = NULL, *bytes = NULL;
    while (*words && strcmp(*words, "--") != 0) {
        int length = 1;
        if (strcmp(*words, "--unshare-net") == 0) {
            sandbox->has_own_network = 1;
        } else if (strcmp(*words, "--network") == 0 && words[1]) {
            sandbox->network = atoi(words[1]);
            length = 2;
        } else if (strcmp(*words, "--new-session") == 0) {
            sandbox->has_own_session = 1;
        } else if (strcmp(*words, "--die-with-parent") == 0) {
            sandbox->ends_with_parent = 1;
        } else if (strcmp(*words, "--hostname") == 0 && words[1]) {
            sandbox->host_name = words[1];
            length = 2;
        } else if (strcmp(*words, "--perms") == 0 && words[1]) {
            mode = words[1];
            length = 2;
        } else if (strcmp(*words, "--size") == 0 && words[1]) {
            bytes = words[1];
            length = 2;
        } else {
            length = read_maker(sandbox, words);
            if (length == 0) {
                dprintf(2, "stepinit: unknown option of a sandbox: %s\n", *words);
                _exit(125);
            }
            sandbox->parts[sandbox->count - 1].mode = mode;
            sandbox->parts[sandbox->count - 1].bytes = bytes;
            mode = bytes = NULL;
        }
        words += length;
    }
    if (!*words || !words[1]) {
        dprintf(2, "stepinit --enclose [OPTION]… -- stepinit [OPTION]…\n");
        _exit(125);
    }
    return words + 1;
}

// Places, once the sandbox's root is the root: no link leads out of it any more

// Makes the folder that `path` is in, and those on the way to it.
static int make_parents(const char *path) {
    char parent[PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(parent, path, length + 1);
    for (char *slash = strchr(parent + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        // What else is there than a folder is found out by what follows.
        if (mkdir(parent, 0755) != 0 && errno != EEXIST && access(parent, F_OK) != 0) return -1;
        *slash = '/';
    }
    return 0;
}

// One that is there already stays as it is, also where nothing can be made.
static int make_folder(const char *path, mode_t mode) {
    if (mkdir(path, mode) == 0) return 0;
    if (errno == ENOENT && make_parents(path) == 0 && mkdir(path, mode) == 0) return 0;
    int problem = errno;
    struct stat facts;
    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) return 0;
    errno = problem;
    return -1;
}

static int make_file(const char *path) {
    if (access(path, F_OK) == 0) return 0;
    if (make_parents(path) != 0) return -1;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (file < 0) return -1;
    close(file);
    return 0;
}

// Mounts `tree` at `path`, which is made if it is not there, and closes it.
static void put(int tree, const char *path, int is_folder) {
    // It would be above the root, where nobody who has that finds it.
    errno = EINVAL;
    if (strcmp(path, "/") == 0 || (is_folder ? make_folder(path, 0755) : make_file(path)) != 0 ||
        move_tree(tree, AT_FDCWD, path) != 0)
        fail("mount", path);
    close(tree);
}

// The parts

// Takes up what the box shows, while it is where the box has it.
static void take(struct part *part) {
    errno = ENOENT;
    // A mistake of whoever made the words, also where it need not be there.
    if (!*part->source) fail("show", "a path that is empty");
    part->tree = copy_tree(AT_FDCWD, part->source);
    if (part->tree < 0) {
        if (part->is_optional && (errno == ENOENT || errno == ENOTDIR)) return;
        fail("show", part->source);
    }
    struct stat facts;
    if (fstatat(part->tree, "", &facts, AT_EMPTY_PATH) != 0) fail("look at", part->source);
    part->is_folder = S_ISDIR(facts.st_mode);
    uint64_t attributes = mount_nosuid | mount_nodev | (part->is_readonly ? mount_readonly : 0);
    if (set_attributes(part->tree, attributes, 0, 1) != 0) fail("protect", part->source);
}

static void take_devices(struct box *box) {
    for (int i = 0; i < node_count; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/%s", nodes[i]);
        box->nodes[i] = copy_tree(AT_FDCWD, path);
        if (box->nodes[i] < 0 || set_attributes(box->nodes[i], mount_nosuid, 0, 1) != 0) fail("show", path);
    }
    // As bubblewrap has it: the terminal that is its output, under the one name that is always there.
    const char *terminal = isatty(1) ? ttyname(1) : NULL;
    box->terminal = terminal ? copy_tree(AT_FDCWD, terminal) : -1;
    if (box->terminal >= 0 && set_attributes(box->terminal, mount_nosuid, 0, 1) != 0) fail("show", terminal);
}

// A file system of its own kind, with these options: names and values, of which a flag has none.
static int new_file_system(const char *kind, const char *const options[][2], unsigned attributes) {
    int context = open_file_system(kind);
    if (context < 0 || set_option(context, "source", kind) != 0) fail("make", kind);
    for (; (*options)[0]; options++)
        if (set_option(context, (*options)[0], (*options)[1]) != 0) fail("make", kind);
    int tree = make_mount(context, attributes);
    if (tree < 0) fail("make", kind);
    close(context);
    return tree;
}

static int new_memory(const char *mode, const char *bytes) {
    const char *const options[][2] = {{"mode", mode ? mode : "755"}, {bytes ? "size" : NULL, bytes}, {NULL, NULL}};
    return new_file_system("tmpfs", options, mount_nosuid | mount_nodev);
}

static void put_processes(const char *path) {
    static const char *const options[][2] = {{NULL, NULL}};
    put(new_file_system("proc", options, mount_nosuid | mount_nodev | mount_noexec), path, 1);
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail("open", path);
    // No user may write there; should that be wrong for one of them, it must not matter.
    static const char *const covered[] = {"sys", "sysrq-trigger", "irq", "bus"};
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
        if (faccessat(folder, covered[i], W_OK, 0) != 0) {
            if (errno == ENOENT || errno == EACCES || errno == EROFS) continue;
            fail("look at", covered[i]);
        }
        int cover = copy_tree(folder, covered[i]);
        if (cover < 0 || set_attributes(cover, mount_readonly, 0, 1) != 0 || move_tree(cover, folder, covered[i]) != 0)
            fail("protect", covered[i]);
        close(cover);
    }
    close(folder);
}

static const char *below(char *path, const char *folder, const char *name) {
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        fail("make", folder);
    }
    return path;
}

static void put_devices(const char *folder, const struct box *box) {
    char path[PATH_MAX];
    put(new_memory(NULL, NULL), folder, 1);
    for (int i = 0; i < node_count; i++) put(box->nodes[i], below(path, folder, nodes[i]), 0);
    if (box->terminal >= 0) put(box->terminal, below(path, folder, "console"), 0);
    static const char *const links[][2] = {
        {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"},
        {"/proc/self/fd", "fd"}, {"/proc/kcore", "core"}, {"pts/ptmx", "ptmx"},
    };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (symlink(links[i][0], below(path, folder, links[i][1])) != 0) fail("make", path);
    static const char *const options[][2] = {
        {"newinstance", NULL}, {"ptmxmode", "0666"}, {"mode", "620"}, {NULL, NULL}};
    put(new_file_system("devpts", options, mount_nosuid | mount_noexec), below(path, folder, "pts"), 1);
}

static void make_readonly(const char *path) {
    int mount = open(path, O_PATH | O_CLOEXEC);
    if (mount < 0 || set_attributes(mount, mount_readonly, 0, 0) != 0) fail("protect", path);
    close(mount);
}

static void make_part(const struct part *part, const struct box *box) {
    switch (part->kind) {
    case a_folder:
        if (make_folder(part->path, part->mode ? (mode_t)strtoul(part->mode, NULL, 8) : 0755) != 0)
            fail("make", part->path);
        break;
    case a_link:
        if (make_parents(part->path) != 0 || symlink(part->source, part->path) != 0) fail("make", part->path);
        break;
    case in_memory: put(new_memory(part->mode, part->bytes), part->path, 1); break;
    case shown:
        if (part->tree >= 0) put(part->tree, part->path, part->is_folder);
        break;
    case processes: put_processes(part->path); break;
    case devices: put_devices(part->path, box); break;
    case made_readonly: make_readonly(part->path); break;
    }
}

static void make_root(const struct sandbox *sandbox) {
    // All that is shown is open at a time.
    struct rlimit usual, most;
    if (getrlimit(RLIMIT_NOFILE, &usual) != 0) fail("ask for", "the limit of open files");
    most = (struct rlimit){usual.rlim_max, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &most);
    // What is mounted in here must not appear on the box; what the box unmounts goes away in here, too.
    if (mount("none", "/", NULL, MS_SLAVE | MS_REC, NULL) != 0) fail("keep apart", "/");
    struct box box;
    take_devices(&box);
    for (size_t i = 0; i < sandbox->count; i++)
        if (sandbox->parts[i].kind == shown) take(&sandbox->parts[i]);

    // All that is shown is in descriptors. The old root ends up on top of the new one, and goes with what is in it.
    int root = new_memory(NULL, NULL);
    if (move_tree(root, AT_FDCWD, scaffold) != 0 || fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
        umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        fail("make", "a root");
    close(root);
    for (size_t i = 0; i < sandbox->count; i++) make_part(&sandbox->parts[i], &box);
    setrlimit(RLIMIT_NOFILE, &usual);
}

// A network with nothing in it but a loopback, which works (netdevice(7)).
static void raise_loopback(void) {
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    if (any < 0 || ioctl(any, SIOCSIFFLAGS, &loopback) != 0) fail("raise", "the loopback");
    close(any);
}

// The processes

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
    long kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    kinds |= parent_too ? CLONE_PARENT : SIGCHLD;
    if (sandbox->has_own_network) kinds |= CLONE_NEWNET;
    pid_t child = (pid_t)syscall(SYS_clone, kinds | CLONE_NEWCGROUP, 0, 0, 0, 0);
    // Kernels are built without control groups, too.
    if (child < 0 && errno == EINVAL) child = (pid_t)syscall(SYS_clone, kinds, 0, 0, 0, 0);
    return child;
}

// Makes the sandbox around the process that calls.
static void furnish(struct sandbox *sandbox) {
    mode_t usual = umask(0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("give up", "privileges to come");
    if (sandbox->host_name && sethostname(sandbox->host_name, strlen(sandbox->host_name)) != 0)
        fail("set", "the host's name");
    if (sandbox->has_own_network) raise_loopback();
    if (sandbox->network >= 0 && setns(sandbox->network, CLONE_NEWNET) != 0) fail("enter", "the network");
    if (sandbox->network >= 0) close(sandbox->network);
    make_root(sandbox);
    umask(usual);
    if (sandbox->has_own_session) setsid();
    free(sandbox->parts);
}

// Everybody in the sandbox may read how its first process was started; where things are on the box says nothing to them.
static void hide_words(char **arguments, char **end) {
    static const char name[] = "stepinit";
    size_t room = strlen(arguments[0]);
    for (char **word = arguments; word < end; word++) memset(*word, 0, strlen(*word));
    if (room >= sizeof name - 1) memcpy(arguments[0], name, sizeof name - 1);
}

char **enclose(char **arguments) {
    struct sandbox sandbox = {.network = -1};
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
// there are from 3 on, so none is overwritten before it is moved.
static void place_files(const int *files, int count) {
    if (dup2(files[0], 0) < 0) fail("take", "the socket");
    for (int i = 1; i < count; i++)
        if (files[i] < 2 + i || dup2(files[i], 2 + i) < 0) fail("take", "a descriptor");
    closefrom(2 + count);
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
    closefrom(3);
    reset_signals();
    char **last = arguments;
    while (*last) last++;
    hide_words(arguments, last);
    for (;;) {
        struct enclosure asked;
        int files[most_enclosure_files], number = most_enclosure_files;
        char **words = receive_words(&asked, files, &number);
        if (!words) _exit(0);
        struct sandbox sandbox = {.network = -1};
        // A mistake in the words ends this process; whoever asked starts one for them alone then, which says what it is.
        char **rest = read_options(&sandbox, words);
        int32_t child = number < 1 ? -EMFILE : start_first(&sandbox, 1);
        if (child == 0) {
            place_files(files, number);
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
