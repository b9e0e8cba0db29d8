#define _GNU_SOURCE

#ifdef __linux__

#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mounting.h"

// Where the root is made, before it is the root: a folder that is everywhere.
static const char *const scaffold = "/tmp";

static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
enum { node_count = sizeof nodes / sizeof *nodes };

// Devices of the box, which each sandbox has.
struct box {
    int nodes[node_count];
    int terminal;   // -1 without one
};

__attribute__((noreturn)) void fail(const char *what, const char *path) {
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

// Nothing in it changes, whoever is shown it.
static int can_be_common(const struct part *part) {
    switch (part->kind) {
    case in_memory:
    case processes: return 0;
    case shown: return part->is_readonly;
    default: return 1;
    }
}

static int is_within(const char *path, const char *folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') length--;
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// Whether it matters which of the two comes first.
static int overlap(const char *a, const char *b) { return is_within(a, b) || is_within(b, a); }

char **read_options(struct sandbox *sandbox, char **words) {
    size_t count = 0;
    while (words[count]) count++;
    sandbox->parts = calloc(count + 1, sizeof *sandbox->parts);
    if (!sandbox->parts) fail("make", "a sandbox");
    const char *mode = NULL, *bytes = NULL;
    int is_own = 0;
    while (*words && strcmp(*words, "--") != 0) {
        int length = 1;
        if (strcmp(*words, "--unshare-net") == 0) {
            sandbox->has_own_network = 1;
        } else if (strcmp(*words, "--network") == 0 && words[1]) {
            sandbox->network = atoi(words[1]);
            length = 2;
        } else if (strcmp(*words, "--own") == 0) {
            is_own = 1;
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
            struct part *part = &sandbox->parts[sandbox->count - 1];
            part->mode = mode;
            part->bytes = bytes;
            part->is_own = is_own || !can_be_common(part);
            for (struct part *before = sandbox->parts; before < part; before++)
                if (before->is_own && overlap(before->path, part->path)) part->is_own = 1;
            mode = bytes = NULL;
            is_own = 0;
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
    if (protect_tree(part->tree, attributes) != 0) fail("protect", part->source);
}

static void take_devices(struct box *box) {
    for (int i = 0; i < node_count; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/%s", nodes[i]);
        box->nodes[i] = copy_tree(AT_FDCWD, path);
        if (box->nodes[i] < 0 || protect_tree(box->nodes[i], mount_nosuid) != 0) fail("show", path);
    }
    // As bubblewrap has it: the terminal that is its output, under the one name that is always there.
    const char *terminal = isatty(1) ? ttyname(1) : NULL;
    box->terminal = terminal ? copy_tree(AT_FDCWD, terminal) : -1;
    if (box->terminal >= 0 && protect_tree(box->terminal, mount_nosuid) != 0) fail("show", terminal);
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

static void put_terminals(const char *folder) {
    char path[PATH_MAX];
    static const char *const options[][2] = {
        {"newinstance", NULL}, {"ptmxmode", "0666"}, {"mode", "620"}, {"max", "64"}, {NULL, NULL}};
    put(new_file_system("devpts", options, mount_nosuid | mount_noexec), below(path, folder, "pts"), 1);
}

// All but the terminals, which are the sandbox's own.
static void put_nodes(const char *folder, const struct box *box) {
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
    case devices:
        put_nodes(part->path, box);
        put_terminals(part->path);
        break;
    case made_readonly: make_readonly(part->path); break;
    }
}

// Of what each sandbox has for itself, the place; all else.
static void make_in_template(const struct part *part, const struct box *box) {
    char path[PATH_MAX];
    switch (part->kind) {
    case in_memory:
    case processes:
        if (make_folder(part->path, 0755) != 0) fail("make", part->path);
        break;
    case shown:
        if (part->tree < 0) break;
        if (!part->is_own) {
            put(part->tree, part->path, part->is_folder);
            break;
        }
        if ((part->is_folder ? make_folder(part->path, 0755) : make_file(part->path)) != 0) fail("make", part->path);
        close(part->tree);
        break;
    case devices:
        put_nodes(part->path, box);
        if (make_folder(below(path, part->path, "pts"), 0755) != 0) fail("make", path);
        break;
    case a_folder: make_part(part, box); break;
    case a_link:
    case made_readonly:
        if (!part->is_own) make_part(part, box);
        break;
    }
}

static void take_shown(struct sandbox *sandbox, int only_own) {
    for (size_t i = 0; i < sandbox->count; i++)
        if (sandbox->parts[i].kind == shown && (sandbox->parts[i].is_own || !only_own)) take(&sandbox->parts[i]);
}

// An empty root instead of the old one, of which nothing is left but what descriptors have.
static void change_root(void) {
    int root = new_memory(NULL, NULL);
    // The old root ends up on top of the new one, and goes with what is in it.
    if (move_tree(root, AT_FDCWD, scaffold) != 0 || fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
        umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        fail("make", "a root");
    close(root);
}

// All that is shown is open at a time. Says what the limit was.
static void raise_file_limit(struct rlimit *usual) {
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0) fail("ask for", "the limit of open files");
    if (usual) *usual = now;
    now.rlim_cur = now.rlim_max;
    setrlimit(RLIMIT_NOFILE, &now);
}

void furnish_template(struct sandbox *sandbox) {
    struct box box;
    umask(0);
    raise_file_limit(NULL);
    // What is mounted in here must not appear on the box; what the box unmounts below what is shown goes away in here, too.
    if (mount("none", "/", NULL, MS_SLAVE | MS_REC, NULL) != 0) fail("keep apart", "/");
    take_devices(&box);
    take_shown(sandbox, 0);
    change_root();
    for (size_t i = 0; i < sandbox->count; i++) make_in_template(&sandbox->parts[i], &box);
    // Whatever the words say: it is in many sandboxes.
    for (size_t i = 0; i < sandbox->count; i++)
        if (sandbox->parts[i].kind == devices) make_readonly(sandbox->parts[i].path);
    make_readonly("/");
}

// The template's mounts, which this process has a copy of then, and its own.
static void make_root_by_template(struct sandbox *sandbox) {
    take_shown(sandbox, 1);
    if (setns(sandbox->template, CLONE_NEWNS) != 0 || unshare(CLONE_NEWNS) != 0) fail("enter", "the template");
    close(sandbox->template);
    for (size_t i = 0; i < sandbox->count; i++) {
        const struct part *part = &sandbox->parts[i];
        if (part->is_own) make_part(part, NULL);
        if (part->kind == devices) put_terminals(part->path);
    }
}

static void make_root(struct sandbox *sandbox) {
    struct box box;
    if (mount("none", "/", NULL, MS_SLAVE | MS_REC, NULL) != 0) fail("keep apart", "/");
    take_devices(&box);
    take_shown(sandbox, 0);
    change_root();
    for (size_t i = 0; i < sandbox->count; i++) make_part(&sandbox->parts[i], &box);
}

// A network with nothing in it but a loopback, which works (netdevice(7)).
static void raise_loopback(void) {
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    if (any < 0 || ioctl(any, SIOCSIFFLAGS, &loopback) != 0) fail("raise", "the loopback");
    close(any);
}

void furnish(struct sandbox *sandbox) {
    mode_t usual = umask(0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("give up", "privileges to come");
    if (sandbox->host_name && sethostname(sandbox->host_name, strlen(sandbox->host_name)) != 0)
        fail("set", "the host's name");
    if (sandbox->has_own_network) raise_loopback();
    if (sandbox->network >= 0 && setns(sandbox->network, CLONE_NEWNET) != 0) fail("enter", "the network");
    if (sandbox->network >= 0) close(sandbox->network);
    struct rlimit files;
    raise_file_limit(&files);
    if (sandbox->template >= 0) make_root_by_template(sandbox); else make_root(sandbox);
    setrlimit(RLIMIT_NOFILE, &files);
    umask(usual);
    if (sandbox->has_own_session) setsid();
    free(sandbox->parts);
}

#endif
