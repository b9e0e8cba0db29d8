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

// CLONE_NEWNET.
static const int clinux_new_network = 0x40000000;

// pidfd_open(2): a descriptor that can be read when the process has ended.
static inline int clinux_open_process(pid_t pid) {
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

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
