// Finding, signalling and burying everything that a process has started.

#include <sys/types.h>

// Milliseconds on a clock that nobody sets.
long long now_ms(void);

// Half a millisecond, for rounds of looking again.
void nap(void);

// Calls `visit` for each child of `parent`, of all its threads; returns how many there were.
int each_child(pid_t parent, void (*visit)(pid_t, int, int), int signal_number, int depth);

// Signals `pid` and all below it.
void signal_tree(pid_t pid, int signal_number, int depth);

// Signals `group`, if it is not 0, and all below this process.
void signal_all(pid_t group, int signal_number);

// Waits without blocking for every child that has ended; returns 1 when none is left.
int reap(pid_t leader, int *leader_status, int *leader_ended);

// Kills all below this process until nothing of it is left.
void kill_until_empty(pid_t leader, int *status, int *ended);
