#pragma once

/// Prepares the C library's allocator for a process that idles most of its life: few arenas, free memory given back.
/// To be called before the first thread is started.
void allocator_prepare(void);

/// Gives the free pages of all arenas back to the system, and lets go of code that is as in its file: what is needed again comes
/// from the page cache with a minor fault.
void allocator_trim(void);
