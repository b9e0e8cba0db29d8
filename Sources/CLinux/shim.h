// What Swift's Glibc module leaves out.
#ifdef __linux__
#include <linux/fs.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

// The importer takes no macro that computes.
static const unsigned long clinux_get_flags = FS_IOC_GETFLAGS;
static const unsigned long clinux_set_flags = FS_IOC_SETFLAGS;

// <string.h> declares it for _GNU_SOURCE only, which is set before a module is read or not at all; memmem(3).
void *memmem(const void *haystack, size_t haystack_bytes, const void *needle, size_t needle_bytes);
#endif
