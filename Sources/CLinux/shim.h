// What Swift's Glibc module leaves out.
#ifdef __linux__
#include <sys/vfs.h>
#include <sys/xattr.h>
#endif
