#pragma once

/// Prepares the C library's allocator for a process that idles most of its life: few arenas, free memory given back.
/// To be called before the first thread is started.
void allocator_prepare(void);

/// Gives the free pages of all arenas back to the system.
void allocator_trim(void);
