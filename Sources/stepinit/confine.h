// The privileges that stepinit gives up before it starts anything, and the system calls that it refuses to commands.

#include <stdint.h>

enum confine_allow {
    allow_nothing = 0,
    allow_nested = 1,   // user namespaces and mounts inside them, for a sandbox in the sandbox
    allow_tracing = 2,  // attaching a debugger to other processes of the sandbox
    uncounted_memory = 4,  // no control group counts the memory, so shared segments must be small
};

// Removes what bubblewrap, as root, mounted over parts of /proc. The kernel lets nobody mount a /proc in a user namespace
// unless a whole one is visible already. Returns 0, or -1 with errno.
int uncover_proc(void);

// Switches to `user` and `group` for good, without supplementary groups or capabilities. Returns 0, or -1 with errno.
int drop_privileges(uint32_t user, uint32_t group);

// Refuses system calls that no build needs, to this process and all that it starts. Returns 0, or -1 with errno.
int filter_calls(int allowed);
