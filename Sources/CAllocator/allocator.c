#define _GNU_SOURCE
#include "allocator.h"

// Declares which C library this is.
#include <stdlib.h>

#if defined(__GLIBC__)
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void allocator_prepare(void) {
    // By default each thread gets an arena, up to eight for each core, and memory that is freed in one is not available
    // in others.
    mallopt(M_ARENA_MAX, 2);
    // Once set, they stay fixed. By default each large block that is freed raises both, up to 32 MiB and 64 MiB.
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, 512 * 1024);
}

// Drops the pages of programs and libraries that are the same in memory and in their file: the read-only segments. The
// linker relocates only writable segments.
static int drop_code(struct dl_phdr_info *object, size_t size, void *page_size) {
    (void)size;
    uintptr_t mask = *(uintptr_t *)page_size - 1;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        // Whole pages only: the pages at both ends may be shared with a neighbour.
        uintptr_t first = (start + mask) & ~mask, end = (start + segment->p_memsz) & ~mask;
        if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
    }
    return 0;
}

void allocator_trim(void) {
    malloc_trim(0);
    uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(drop_code, &page_size);
}

#elif defined(__APPLE__)
#include <malloc/malloc.h>

void allocator_prepare(void) {}

void allocator_trim(void) { malloc_zone_pressure_relief(0, 0); }

#else

void allocator_prepare(void) {}

void allocator_trim(void) {}

#endif
