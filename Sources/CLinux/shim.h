// What Swift's Glibc module leaves out.
#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

// The importer takes no macro that computes.
static const unsigned long clinux_get_flags = FS_IOC_GETFLAGS;
static const unsigned long clinux_set_flags = FS_IOC_SETFLAGS;
#endif
