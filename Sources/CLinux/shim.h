// What Swift's Glibc module leaves out.
#ifdef __linux__
#include <linux/fs.h>
#include <net/if.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

// The importer takes no macro that computes.
static const unsigned long clinux_get_flags = FS_IOC_GETFLAGS;
static const unsigned long clinux_set_flags = FS_IOC_SETFLAGS;

// <sched.h> and <string.h> declare these for _GNU_SOURCE only, which is set before a module is read or not at all:
// unshare(2), setns(2), memmem(3).
int unshare(int kinds);
int setns(int descriptor, int kind);
void *memmem(const void *haystack, size_t haystack_bytes, const void *needle, size_t needle_bytes);

// mount(2), umount2(2): <sys/mount.h> and <linux/fs.h> can't be had together with every libc.
int mount(const char *source, const char *target, const char *kind, unsigned long flags, const void *data);
int umount2(const char *target, int flags);

// CLONE_NEWNET, CLONE_NEWNS, CLONE_FS; MS_BIND, MS_REC | MS_SLAVE; MNT_DETACH.
static const int clinux_new_network = 0x40000000, clinux_new_mounts = 0x00020000, clinux_own_folders = 0x00000200;
static const unsigned long clinux_bind = 1 << 12, clinux_slave_all = 1 << 14 | 1 << 19;
static const int clinux_detach = 2;

// pivot_root(2), which libc leaves to its callers, as its example does it: the working folder becomes the root, with
// the old root on top of it.
static inline int clinux_pivot_root(void) { return (int)syscall(SYS_pivot_root, ".", "."); }

// Has a new network namespace's loopback work (netdevice(7)).
static inline int clinux_raise_loopback(void) {
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0) return -1;
    struct ifreq loopback = {.ifr_flags = IFF_UP | IFF_RUNNING};
    strcpy(loopback.ifr_name, "lo");
    int failed = ioctl(any, SIOCSIFFLAGS, &loopback);
    close(any);
    return failed;
}
#endif
