#pragma once

/// Prepares the C library's allocator for a process that is mostly idle: few arenas, and free memory is returned. Call
/// it before the first thread is started.
void allocator_prepare(void);

/// Returns the free pages of all arenas to the system, and drops pages of code that are unchanged from their file.
/// Pages that are needed again come from the page cache with a minor fault.
void allocator_trim(void);
