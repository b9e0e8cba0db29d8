// Preloaded into pipectl by the fault tests: sees every call that changes a disk or starts a process, and ends the
// process before (or in the middle of) the N-th of them, or refuses that one, or writes down all of them, with their bytes.
//
//   FAULT_ROOT      only paths below it count; calls that start a process count always
//   FAULT_MATCH     only "call path" texts that contain this count (optional)
//   FAULT_KILL_AT   the number, from 1, of the counted call at which the process ends by SIGKILL
//   FAULT_REFUSE    an errno: the call that is hit is refused with it, and the process goes on
//   FAULT_TORN      if set, a write that is hit writes its first half before that; with FAULT_REFUSE it says so
//   FAULT_COUNT     a file of 8 bytes that holds how many calls were counted
//   FAULT_TRACE     a file that gets the text of the call that was hit
//   FAULT_JOURNAL   a file that gets all calls below FAULT_ROOT, and what goes to descriptor 2
//
// One lock is held around each call, so the order in the journal is an order in which the kernel may have seen them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int active, journal = -1, trace = -1, torn, refusal;
static long target = -1;
static volatile int64_t own_count, *count = &own_count;
static char root[PATH_MAX], match[256];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void put(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t done = syscall(SYS_write, file, at, size);
        if (done <= 0) return;
        at += done;
        size -= (size_t)done;
    }
}

__attribute__((constructor)) static void begin(void) {
    // The launcher in front of pipectl passes it on; what pipectl starts must not have it.
    if (strcmp(program_invocation_short_name, "pipectl") != 0) return;
    unsetenv("LD_PRELOAD");
    const char *text = getenv("FAULT_ROOT");
    if (text == NULL || strlen(text) >= sizeof root) return;
    strcpy(root, text);
    if ((text = getenv("FAULT_MATCH")) != NULL && strlen(text) < sizeof match) strcpy(match, text);
    if ((text = getenv("FAULT_KILL_AT")) != NULL) target = atol(text);
    torn = getenv("FAULT_TORN") != NULL;
    if ((text = getenv("FAULT_REFUSE")) != NULL) refusal = atoi(text);
    if ((text = getenv("FAULT_COUNT")) != NULL) {
        int file = (int)syscall(SYS_openat, AT_FDCWD, text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0 && syscall(SYS_ftruncate, file, 8) == 0) {
            void *page = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (page != MAP_FAILED) count = page;
            *count = 0;
        }
    }
    if ((text = getenv("FAULT_TRACE")) != NULL)
        trace = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((text = getenv("FAULT_JOURNAL")) != NULL)
        journal = (int)syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    active = 1;
}

// An absolute path without links in its folders; the last part is not followed.
static const char *absolute(int folder, const char *path, char *into) {
    char parent[PATH_MAX], resolved[PATH_MAX];
    if (path[0] == '/' || folder == AT_FDCWD) {
        if (strlen(path) >= sizeof parent) return NULL;
        strcpy(parent, path);
    } else {
        char link[64], base[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t size = readlink(link, base, sizeof base - 1);
        if (size < 0) return NULL;
        base[size] = 0;
        if (snprintf(parent, sizeof parent, "%s/%s", base, path) >= (int)sizeof parent) return NULL;
    }
    size_t size = strlen(parent);
    while (size > 1 && parent[size - 1] == '/') parent[--size] = 0;
    char *slash = strrchr(parent, '/'), *name = slash ? slash + 1 : parent;
    char last[PATH_MAX];
    strcpy(last, name);
    if (slash == parent) strcpy(parent, "/");
    else if (slash) *slash = 0;
    else strcpy(parent, ".");
    if (realpath(parent, resolved) == NULL) return NULL;
    if (snprintf(into, PATH_MAX, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, last) >= PATH_MAX) return NULL;
    return into;
}

static const char *of_file(int file, char *into) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, into, PATH_MAX - 1);
    if (size < 0) return NULL;
    into[size] = 0;
    return into;
}

static int inside(const char *path) {
    size_t size = strlen(root);
    return path != NULL && strncmp(path, root, size) == 0 && (path[size] == '/' || path[size] == 0);
}

// Counts the call; returns whether this is the one to end at. The caller holds the lock.
static int counts(const char *call, const char *path) {
    char text[PATH_MAX + 32];
    snprintf(text, sizeof text, "%s %s\n", call, path);
    if (match[0] != 0 && strstr(text, match) == NULL) return 0;
    *count += 1;
    if (target < 0 || *count != target) return 0;
    if (trace >= 0) put(trace, text, strlen(text));
    return 1;
}

// What happens at the call that is hit. The caller holds the lock; for a refusal it is given back.
static int strike(void) {
    while (!refusal) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    pthread_mutex_unlock(&lock);
    errno = refusal;
    return -1;
}

// One entry: "call\tpath\tother\toffset\tsize\n", then size bytes and "\n". Paths are below the root, percent-coded.
static void coded(const char *path, char *into, size_t room) {
    size_t used = 0;
    if (inside(path)) path += strlen(root);
    for (; *path != 0 && used + 4 < room; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte <= ' ' || byte == '%' || byte >= 127) used += (size_t)sprintf(into + used, "%%%02X", byte);
        else into[used++] = *path;
    }
    into[used] = 0;
}

static void note(const char *call, const char *path, const char *other, int64_t offset, const void *bytes, size_t size) {
    if (journal < 0) return;
    char first[2 * PATH_MAX], second[2 * PATH_MAX], head[4 * PATH_MAX + 128];
    coded(path, first, sizeof first);
    coded(other == NULL ? "" : other, second, sizeof second);
    int used = snprintf(
        head, sizeof head, "%s\t%s\t%s\t%lld\t%zu\n", call, first, second, (long long)offset, bytes ? size : 0);
    put(journal, head, (size_t)used);
    if (bytes != NULL) put(journal, bytes, size);
    put(journal, "\n", 1);
}

// MARK: Calls by path

#define BY_PATH(call, path_expression, other_expression, real)                                          \
    if (!active) return real;                                                                           \
    int saved = errno;                                                                                  \
    char one[PATH_MAX], two[PATH_MAX];                                                                  \
    pthread_mutex_lock(&lock);                                                                          \
    const char *path = path_expression, *other = other_expression;                                      \
    (void)two;                                                                                          \
    int known = inside(path) || inside(other);                                                          \
    if (known && counts(call, inside(other) ? other : path)) return strike();                           \
    errno = saved;                                                                                      \
    int result = real;                                                                                  \
    saved = errno;                                                                                      \
    if (known && result == 0) note(call, path ? path : "", other, 0, NULL, 0);                          \
    pthread_mutex_unlock(&lock);                                                                        \
    errno = saved;                                                                                      \
    return result;

int rename(const char *from, const char *to) {
    BY_PATH("rename", absolute(AT_FDCWD, from, one), absolute(AT_FDCWD, to, two), REAL(rename)(from, to))
}
int renameat(int folder, const char *from, int other_folder, const char *to) {
    BY_PATH("rename", absolute(folder, from, one), absolute(other_folder, to, two),
            REAL(renameat)(folder, from, other_folder, to))
}
int link(const char *from, const char *to) {
    BY_PATH("link", absolute(AT_FDCWD, from, one), absolute(AT_FDCWD, to, two), REAL(link)(from, to))
}
int linkat(int folder, const char *from, int other_folder, const char *to, int flags) {
    BY_PATH("link", absolute(folder, from, one), absolute(other_folder, to, two),
            REAL(linkat)(folder, from, other_folder, to, flags))
}
int symlink(const char *text, const char *at) {
    BY_PATH("symlink", absolute(AT_FDCWD, at, one), text, REAL(symlink)(text, at))
}
int symlinkat(const char *text, int folder, const char *at) {
    BY_PATH("symlink", absolute(folder, at, one), text, REAL(symlinkat)(text, folder, at))
}
int unlink(const char *at) { BY_PATH("unlink", absolute(AT_FDCWD, at, one), NULL, REAL(unlink)(at)) }
int unlinkat(int folder, const char *at, int flags) {
    BY_PATH(flags & AT_REMOVEDIR ? "rmdir" : "unlink", absolute(folder, at, one), NULL,
            REAL(unlinkat)(folder, at, flags))
}
int rmdir(const char *at) { BY_PATH("rmdir", absolute(AT_FDCWD, at, one), NULL, REAL(rmdir)(at)) }
int mkdir(const char *at, mode_t mode) { BY_PATH("mkdir", absolute(AT_FDCWD, at, one), NULL, REAL(mkdir)(at, mode)) }
int mkdirat(int folder, const char *at, mode_t mode) {
    BY_PATH("mkdir", absolute(folder, at, one), NULL, REAL(mkdirat)(folder, at, mode))
}

// MARK: Opening

static int opened(int folder, const char *at, int flags, mode_t mode) {
    if (!active || !(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE)
        return (int)syscall(SYS_openat, folder, at, flags, mode);
    char one[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *path = absolute(folder, at, one);
    int known = inside(path), existed = 0;
    if (known) {
        struct stat facts;
        existed = lstat(path, &facts) == 0;
        if ((!existed || (flags & O_TRUNC)) && counts(existed ? "truncate" : "create", path)) return strike();
    }
    int result = (int)syscall(SYS_openat, folder, at, flags, mode);
    int saved = errno;
    if (known && result >= 0) {
        if (!existed) note("create", path, NULL, 0, NULL, 0);
        else if (flags & O_TRUNC) note("truncate", path, NULL, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return result;
}

#define MODE(flags)                                     \
    mode_t mode = 0;                                    \
    if ((flags) & (O_CREAT | O_TMPFILE)) {              \
        va_list rest;                                   \
        va_start(rest, flags);                          \
        mode = va_arg(rest, mode_t);                    \
        va_end(rest);                                   \
    }

int open(const char *at, int flags, ...) { MODE(flags) return opened(AT_FDCWD, at, flags, mode); }
int open64(const char *at, int flags, ...) { MODE(flags) return opened(AT_FDCWD, at, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *at, int flags, ...) { MODE(flags) return opened(folder, at, flags, mode); }
int openat64(int folder, const char *at, int flags, ...) {
    MODE(flags) return opened(folder, at, flags | O_LARGEFILE, mode);
}
int __open_2(const char *at, int flags) { return opened(AT_FDCWD, at, flags, 0); }
int __open64_2(const char *at, int flags) { return opened(AT_FDCWD, at, flags | O_LARGEFILE, 0); }
int creat(const char *at, mode_t mode) { return opened(AT_FDCWD, at, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int mkstemp(char *at) {
    int result = REAL(mkstemp)(at);
    if (!active || result < 0) return result;
    int saved = errno;
    char one[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *path = of_file(result, one);
    if (inside(path)) {
        if (counts("create", path)) {
            if (refusal) {
                syscall(SYS_unlinkat, AT_FDCWD, path, 0);
                syscall(SYS_close, result);
            }
            return strike();
        }
        note("create", path, NULL, 0, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return result;
}
int mkstemp64(char *at) { return mkstemp(at); }

// MARK: Calls by descriptor

static ssize_t written(int file, const void *bytes, size_t size, int64_t offset) {
#define DO(amount) \
    (offset < 0 ? syscall(SYS_write, file, bytes, amount) : syscall(SYS_pwrite64, file, bytes, amount, offset))
    if (!active) return DO(size);
    char one[PATH_MAX];
    int before = errno;
    pthread_mutex_lock(&lock);
    const char *path = of_file(file, one);
    int known = inside(path);
    int64_t place = offset;
    if (known) {
        if (offset < 0) {
            int flags = fcntl(file, F_GETFL);
            place = flags & O_APPEND ? lseek(file, 0, SEEK_END) : lseek(file, 0, SEEK_CUR);
            if (place < 0) known = 0;  // a pipe or a socket
        }
    }
    if (known && counts("write", path)) {
        ssize_t half = torn && size > 1 ? DO(size / 2) : 0;
        ssize_t refused = strike();
        return half > 0 ? half : refused;
    }
    errno = before;
    ssize_t result = DO(size);
    int saved = errno;
    if (result > 0) {
        if (known) note("write", path, NULL, place, bytes, (size_t)result);
        else if (file == 2) note("say", "", NULL, 0, bytes, (size_t)result);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return result;
#undef DO
}

ssize_t write(int file, const void *bytes, size_t size) { return written(file, bytes, size, -1); }
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) { return written(file, bytes, size, at); }
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) { return written(file, bytes, size, at); }

static int by_file(const char *call, int file, int64_t size, long number) {
#define DO() (int)(size < 0 ? syscall(number, file) : syscall(number, file, size))
    if (!active) return DO();
    char one[PATH_MAX];
    pthread_mutex_lock(&lock);
    const char *path = of_file(file, one);
    int known = inside(path);
    if (known && counts(call, path)) return strike();
    int result = DO();
    int saved = errno;
    if (known && result == 0) note(call, path, NULL, size < 0 ? 0 : size, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return result;
#undef DO
}

int fsync(int file) { return by_file("fsync", file, -1, SYS_fsync); }
int fdatasync(int file) { return by_file("fdatasync", file, -1, SYS_fdatasync); }
int ftruncate(int file, off_t size) { return by_file("truncate", file, size, SYS_ftruncate); }
int ftruncate64(int file, off64_t size) { return by_file("truncate", file, size, SYS_ftruncate); }

// MARK: Processes

#define SPAWN(name)                                                                                              \
    int name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,                            \
             const posix_spawnattr_t *attributes, char *const words[], char *const variables[]) {                \
        if (active) {                                                                                            \
            char what[PATH_MAX];                                                                                 \
            snprintf(what, sizeof what, "%s %s", path, words[0] && words[1] ? words[1] : "");                    \
            pthread_mutex_lock(&lock);                                                                           \
            if (counts("spawn", what)) {                                                                         \
                strike();                                                                                        \
                return refusal;                                                                                  \
            }                                                                                                    \
            pthread_mutex_unlock(&lock);                                                                         \
        }                                                                                                        \
        return REAL(name)(pid, path, actions, attributes, words, variables);                                     \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
