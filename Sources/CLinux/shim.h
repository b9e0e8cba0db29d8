// What Swift's Glibc module leaves out.
#ifdef __linux__
#include <stddef.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
// <string.h> declares it for _GNU_SOURCE only, which is set before a module is read or not at all; memmem(3).
void *memmem(const void *haystack, size_t haystack_bytes, const void *needle, size_t needle_bytes);
#endif
