// What stepinit gives up before it starts anything, and what it takes from each command.

#include <stdint.h>

enum confine_allow {
    allow_nothing = 0,
    allow_nested = 1,   // user namespaces and mounts inside them: a sandbox in the sandbox
    allow_tracing = 2,  // attaching a debugger to other processes of the sandbox
    uncounted_memory = 4,  // no control group counts the memory: shared segments are small
};

// Becomes `user` and `group` for good, without supplementary groups and capabilities. Returns 0, or -1 with errno.
int drop_privileges(uint32_t user, uint32_t group);

// Takes away system calls that no build needs, from this process and all it starts. Returns 0, or -1 with errno.
int filter_calls(int allowed);
