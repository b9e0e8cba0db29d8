// Preloaded into pipectl by the fault tests, and into its agent by script/cluster-runs: moves the wall clock by the
// seconds that stand in the file FAULT_CLOCK.
// The monotonic clock is left alone. FAULT_CLOCK_SEEN gets a byte for each answer that was moved.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// The file's page: what the test writes there counts from the next call on.
static volatile int64_t *offset, *seen;

static void *page(const char *name) {
    const char *path = getenv(name);
    if (path == NULL) return NULL;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 8) != 0) return NULL;
    void *page = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return page == MAP_FAILED ? NULL : page;
}

__attribute__((constructor)) static void begin(void) {
    // Also pipectl-agent.
    if (strncmp(program_invocation_short_name, "pipectl", 7) != 0) return;
    unsetenv("LD_PRELOAD");
    seen = page("FAULT_CLOCK_SEEN");
    offset = page("FAULT_CLOCK");
}

static int64_t moved(void) {
    if (offset == NULL) return 0;
    if (*offset != 0 && seen != NULL) *seen += 1;
    return *offset;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += moved();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = (int)syscall(SYS_gettimeofday, time, zone);
    if (result == 0 && time != NULL) time->tv_sec += moved();
    return result;
}

time_t time(time_t *into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into != NULL) *into = now.tv_sec;
    return now.tv_sec;
}
