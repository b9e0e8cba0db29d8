#pragma once
// The kernel's newer calls about mounts (open_tree(2), move_mount(2), mount_setattr(2), fsopen(2) in linux/mount.h),
// which old headers lack.

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#define SYS_fspick 433
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

enum {
    mount_readonly = 1,
    mount_nosuid = 2,
    mount_nodev = 4,
    mount_noexec = 8,
    mount_idmap = 0x100000,
};

struct mount_attributes {
    uint64_t set, clear, propagation, namespace;
};

// A copy of what is mounted at `path` and below it, which is nowhere yet; its descriptor, or -1.
static inline int copy_tree(int folder, const char *path) {
    enum { clone_tree = 1, recursive = 0x8000 };
    return (int)syscall(SYS_open_tree, folder, path, clone_tree | O_CLOEXEC | recursive);
}

// For all mounts of the tree, or for its root alone.
static inline int set_attributes(int tree, uint64_t set, uint64_t namespace, int is_recursive) {
    enum { recursive = 0x8000 };
    struct mount_attributes attributes = {.set = set, .namespace = namespace};
    return (int)syscall(
        SYS_mount_setattr, tree, "", AT_EMPTY_PATH | (is_recursive ? recursive : 0), &attributes, sizeof attributes);
}

// Attributes for all mounts of a copy that is nowhere yet. What is mounted in it does not appear where it was copied from;
// what is unmounted there goes away in it, too.
static inline int protect_tree(int tree, uint64_t set) {
    enum { recursive = 0x8000, slave = 1 << 19 };
    struct mount_attributes attributes = {.set = set, .propagation = slave};
    return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | recursive, &attributes, sizeof attributes);
}

// What is mounted on a copy that is nowhere yet, from now on, is seen in all copies of it in turn.
static inline int share_tree(int tree) {
    enum { shared = 1 << 20 };
    struct mount_attributes attributes = {.propagation = shared};
    return (int)syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
}

// Mounts `tree` at `path` below `folder`, or where a link there leads.
static inline int move_tree(int tree, int folder, const char *path) {
    enum { from_descriptor = 4, to_link = 0x10 };
    return (int)syscall(SYS_move_mount, tree, "", folder, path, from_descriptor | to_link);
}

static inline int open_file_system(const char *kind) {
    enum { close_on_exec = 1 };
    return (int)syscall(SYS_fsopen, kind, close_on_exec);
}

// Sets an option; without a value, a flag.
static inline int set_option(int context, const char *key, const char *value) {
    enum { set_flag = 0, set_string = 1 };
    return (int)syscall(SYS_fsconfig, context, value ? set_string : set_flag, key, value, 0);
}

// A mount of the file system whose options are set, which is nowhere yet; its descriptor, or -1.
static inline int make_mount(int context, unsigned attributes) {
    enum { create_super_block = 6, close_on_exec = 1 };
    if (syscall(SYS_fsconfig, context, create_super_block, NULL, NULL, 0) != 0) return -1;
    return (int)syscall(SYS_fsmount, context, close_on_exec, attributes);
}
