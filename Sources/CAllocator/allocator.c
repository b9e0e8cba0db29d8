#include "allocator.h"

// Says which C library this is.
#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>

void allocator_prepare(void) {
    // By default each thread gets an arena, up to eight for each core, and what was freed in one serves no other.
    mallopt(M_ARENA_MAX, 2);
    // Set, they stay: by default each large block that is freed raises both, up to 32 MiB and 64 MiB.
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, 512 * 1024);
}

void allocator_trim(void) { malloc_trim(0); }

#elif defined(__APPLE__)
#include <malloc/malloc.h>

void allocator_prepare(void) {}

void allocator_trim(void) { malloc_zone_pressure_relief(0, 0); }

#else

void allocator_prepare(void) {}

void allocator_trim(void) {}

#endif
