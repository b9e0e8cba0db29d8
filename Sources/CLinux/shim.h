// Declarations that Swift's Glibc module lacks.
#ifdef __linux__
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

// memmem(3). <string.h> declares it only with _GNU_SOURCE, which can't be set for an imported module.
void *memmem(const void *haystack, size_t haystack_bytes, const void *needle, size_t needle_bytes);

// pidfd_open(2): returns a descriptor that becomes readable when the process has ended.
static inline int clinux_open_process(pid_t pid) {
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
    return (int)syscall(SYS_pidfd_open, pid, 0);
}
#endif
