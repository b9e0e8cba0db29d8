#define _GNU_SOURCE
#include "layers.h"

#include <stdio.h>
#include <unistd.h>

#ifndef __linux__

int hold_layers(char **words) {
    (void)words;
    dprintf(STDIN_FILENO, "there are no overlays on this system\n");
    return 1;
}

int enter_layers(char **words) {
    (void)words;
    return 125;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "newcalls.h"

// Mounts (open_tree(2), mount_setattr(2), move_mount(2))

struct mount_attributes {
    uint64_t set, clear, propagation, namespace;
};

// Copies the mounts at `path` and below it, without attaching them. Returns a descriptor, or -1.
static int copy_tree(int folder, const char *path) {
    enum { clone_tree = 1, recursive = 0x8000 };
    return (int)syscall(SYS_open_tree, folder, path, clone_tree | O_CLOEXEC | recursive);
}

// Maps the owners of files in the tree's root mount by the user namespace.
static int map_owners(int tree, int namespace) {
    enum { mount_idmap = 0x100000 };
    struct mount_attributes attributes = {.set = mount_idmap, .namespace = (uint64_t)namespace};
    return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
}

// Makes later mounts on an unattached copy appear in all copies of it.
static int share_tree(int tree) {
    enum { shared = 1 << 20 };
    struct mount_attributes attributes = {.propagation = shared};
    return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
}

// Mounts `tree` at `path` below `folder`; a link there is followed.
static int move_tree(int tree, int folder, const char *path) {
    enum { from_descriptor = 4, to_link = 0x10 };
    return (int)syscall(SYS_move_mount, tree, "", folder, path, from_descriptor | to_link);
}

struct owner {
    unsigned user, group;
};

// Reports in one line what failed, with errno's text.
static int fail(const char *what) {
    dprintf(STDIN_FILENO, "%s: %s\n", what, strerror(errno));
    return 1;
}

static int write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = (ssize_t)strlen(text), written = write(file, text, (size_t)length);
    close(file);
    return written == length ? 0 : -1;
}

// Enters new namespaces; without root also a user namespace in which every id maps to itself.
static int leave_namespaces(void) {
    unsigned user = geteuid(), group = getegid();
    if (user == 0) return unshare(CLONE_NEWNS);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return -1;
    char map[64];
    // A user that may drop a group could open files that are closed to this group: user_namespaces(7).
    if (write_file("/proc/self/setgroups", "deny") != 0) return -1;
    snprintf(map, sizeof map, "%u %u 1", user, user);
    if (write_file("/proc/self/uid_map", map) != 0) return -1;
    snprintf(map, sizeof map, "%u %u 1", group, group);
    return write_file("/proc/self/gid_map", map);
}

// Returns a user namespace that maps `from`, the owner on disk, to `to`, which is the same in all calls.
static int mapping(struct owner from, struct owner to) {
    // Most layers belong to the daemon's user. Each owner's namespace is cached for the next layer with the same owner.
    static struct {
        struct owner from;
        int descriptor;
    } known[16];
    static int count;
    for (int i = 0; i < count; i++)
        if (known[i].from.user == from.user && known[i].from.group == from.group) return known[i].descriptor;
    // The child runs nothing. It only has to exist until its namespace's descriptor is open.
    pid_t parent = getpid(), child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        // The child must not hold a second end of this process's socket.
        close(STDIN_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (getppid() == parent) pause();
        _exit(1);
    }
    if (child < 0) return -1;
    char path[64], map[64];
    int descriptor = -1;
    snprintf(path, sizeof path, "/proc/%d/uid_map", child);
    snprintf(map, sizeof map, "%u %u 1", from.user, to.user);
    if (write_file(path, map) == 0) {
        snprintf(path, sizeof path, "/proc/%d/gid_map", child);
        snprintf(map, sizeof map, "%u %u 1", from.group, to.group);
        if (write_file(path, map) == 0) {
            snprintf(path, sizeof path, "/proc/%d/ns/user", child);
            descriptor = open(path, O_RDONLY | O_CLOEXEC);
        }
    }
    int problem = errno;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    if (descriptor >= 0 && count < (int)(sizeof known / sizeof *known)) {
        known[count].from = from;
        known[count++].descriptor = descriptor;
    }
    errno = problem;
    return descriptor;
}

// Shows `layer` at `place` in the folder `places`, with its files owned by `user`.
static int show(const char *layer, struct owner owner, struct owner user, int places, const char *place) {
    // Recursive, since the kernel refuses to copy a mount without those that cover parts of it. Nothing covers a layer.
    int tree = copy_tree(AT_FDCWD, layer);
    if (tree < 0) return -1;
    int failed = 0;
    if (geteuid() == 0 && (owner.user != user.user || owner.group != user.group)) {
        int namespace = mapping(owner, user);
        failed = namespace < 0 || map_owners(tree, namespace) != 0;
    }
    failed = failed || move_tree(tree, places, place) != 0;
    int problem = errno;
    close(tree);
    errno = problem;
    return failed ? -1 : 0;
}

// Writes the overlay's options for `count` layers, which are named by their numbers. Returns 0 if they don't fit.
static int write_options(char *text, size_t room, int folder, int count) {
    size_t used = (size_t)snprintf(text, room, "lowerdir=");
    for (int number = 0; number < count && used < room; number++)
        used += (size_t)snprintf(text + used, room - used, number ? ":%d" : "%d", number);
    // The marks are `user.overlay.*` attributes: any user may write them, and the overlay hides them from the steps
    // that work in it. With such marks the kernel follows no redirections, which a step could have forged.
    //
    // volatile: after a crash nobody needs what the run wrote. Without it each copied file is flushed to the disk, and
    // unmounting flushes everything that is pending on the whole disk. Linux 5.10.
    if (used < room)
        used += (size_t)snprintf(text + used, room - used,
                                 ",upperdir=/proc/self/fd/%d/upper,workdir=/proc/self/fd/%d/work,"
                                 "userxattr,index=off,xino=off,volatile",
                                 folder, folder);
    return used < room;
}

// Mounts upper over the places 0 to `count` - 1, at merged.
//
// It uses mount(2), since every kernel accepts all options in one text of at most a page. fsconfig(2) takes layers one
// by one (`lowerdir+`) only since Linux 6.8, and at most 255 bytes per option. Relative to the folder of the places, a
// layer's name is its number; so a page has room for more layers than the kernel accepts (500).
static int mount_over(int places, int count) {
    char options[4096], target[64];
    int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return fail("the workspace's folder");
    errno = E2BIG;
    if (!write_options(options, sizeof options, folder, count)) return fail("the overlay's layers");
    snprintf(target, sizeof target, "/proc/self/fd/%d/merged", folder);
    if (fchdir(places) != 0) return fail("the places of layers");
    if (mount("pipectl", target, "overlay", MS_NOSUID | MS_NODEV, options) != 0) return fail("the overlay");
    if (fchdir(folder) != 0) return fail("the workspace's folder");
    close(folder);
    return 0;
}

// Mounts two things at merged: a folder in memory for the layers, whose descriptor is returned, and above it merged
// itself. Later mounts on merged reach the processes that already have it; the layers do not.
static int open_places(void) {
    int merged = copy_tree(AT_FDCWD, "merged");
    if (merged < 0 || mount("pipectl", "merged", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700,size=1m") != 0)
        return -1;
    int places = open("merged", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (places < 0 || share_tree(merged) != 0 || move_tree(merged, AT_FDCWD, "merged") != 0) return -1;
    close(merged);
    return places;
}

// Input from pipectl: words, each ended by a NUL.
static struct {
    char bytes[16384];
    size_t held, used;
} said;

// Returns the next word, or NULL when pipectl is gone.
static const char *next_word(void) {
    for (;;) {
        char *word = said.bytes + said.used, *end = memchr(word, 0, said.held - said.used);
        if (end) {
            said.used = (size_t)(end - said.bytes) + 1;
            return word;
        }
        memmove(said.bytes, word, said.held -= said.used);
        said.used = 0;
        ssize_t length = read(STDIN_FILENO, said.bytes + said.held, sizeof said.bytes - said.held);
        // A word that does not fit leaves no room, and read(2) then returns 0 as at the end.
        if (length == 0 || (length < 0 && errno != EINTR)) return NULL;
        if (length > 0) said.held += (size_t)length;
    }
}

static int read_owner(const char *word, struct owner *owner) {
    if (sscanf(word, "%u:%u", &owner->user, &owner->group) == 2) return 1;
    errno = EINVAL;
    return 0;
}

int hold_layers(char **words) {
    struct owner user, owner, own = {geteuid(), getegid()};
    if (!words[0] || !words[1] || !read_owner(words[1], &user)) {
        errno = EINVAL;
        return fail("stepinit --layers FOLDER UID:GID");
    }
    // This process ends with its socket and by nothing else. A signal to all processes of a terminal or of a service
    // must not end it before the steps, which have a grace period.
    static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    setsid();
    closefrom(3);
    // Relative paths are short, as fsconfig(2) requires.
    if (chdir(words[0]) != 0) return fail("the workspace's folder");
    if (leave_namespaces() != 0) return fail("a namespace for mounts");
    // Unmounts outside still reach this namespace; mounts made here never appear outside.
    if (mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) return fail("keeping mounts apart");
    int places = open_places();
    if (places < 0) return fail("a place for layers");
    if (write(STDIN_FILENO, "open\n", 5) != 5) return 1;
    // Creates the namespace for the layers of every workspace now. If that fails, the error appears when a layer is
    // shown.
    if (own.user == 0 && own.user != user.user) mapping(own, user);
    int count = 0;
    const char *word;
    while ((word = next_word()) && *word) {
        // The name is not the layer's path: a path may contain a line break, and an error must be one line.
        char place[32], name[48];
        snprintf(place, sizeof place, "%d", count);
        snprintf(name, sizeof name, "layer %d", count);
        if (!read_owner(word, &owner)) return fail(name);
        if (!(word = next_word())) break;
        if (mkdirat(places, place, 0700) != 0 || show(word, owner, user, places, place) != 0) return fail(name);
        count++;
    }
    if (!word) return 0;
    // Without this mark, Git's own folder would merge with whatever a step left at its path.
    if (lsetxattr("git/.git", "user.overlay.opaque", "y", 1, 0) != 0 && errno != ENOENT) return fail("git/.git");
    if (mount_over(places, count) != 0) return 1;
    if (write(STDIN_FILENO, "ready\n", 6) != 6) return 1;
    while (next_word()) {}
    return 0;
}

static int enter(const char *holder, const char *name, int kind) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/ns/%s", holder, name);
    int namespace = open(path, O_RDONLY | O_CLOEXEC);
    if (namespace < 0) return -1;
    int failed = setns(namespace, kind);
    int problem = errno;
    close(namespace);
    errno = problem;
    return failed;
}

int enter_layers(char **words) {
    if (!words[0] || !words[1] || strcmp(words[1], "--") != 0 || !words[2]) {
        dprintf(2, "stepinit --within PID -- COMMAND…\n");
        return 2;
    }
    // An ordinary user gains capabilities by entering a user namespace, but exec drops them: the user is not 0 in
    // there.
    if ((geteuid() != 0 && enter(words[0], "user", CLONE_NEWUSER) != 0) || enter(words[0], "mnt", CLONE_NEWNS) != 0) {
        dprintf(2, "stepinit: can't enter the workspace's mount: %s\n", strerror(errno));
        return 125;
    }
    execv(words[2], words + 2);
    dprintf(2, "stepinit: %s: %s\n", words[2], strerror(errno));
    return errno == ENOENT ? 127 : 126;
}

#endif
