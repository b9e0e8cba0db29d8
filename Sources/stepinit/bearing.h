// What a command can change of another process that the next command would inherit from it, as prlimit(1), renice(1),
// taskset(1) and chrt(1) do: they need no more than the same user.

#include <sys/types.h>

// Notes how this process is now: what it starts begins so.
void note_bearing(void);

// Whether `pid` is as this process was then; 0 is this process.
int is_as_noted(pid_t pid);
