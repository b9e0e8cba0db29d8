// Finds, signals and reaps every process below this one.

#include <sys/types.h>

// Milliseconds on the monotonic clock.
long long now_ms(void);

// Sleeps for half a millisecond, between two rounds of polling.
void nap(void);

// Calls `visit` for each child of `parent`, of all its threads. Returns the number of children.
int each_child(pid_t parent, void (*visit)(pid_t, int, int), int signal_number, int depth);

// Signals `pid` and every process below it.
void signal_tree(pid_t pid, int signal_number, int depth);

// Signals `group`, unless it is 0, and every process below this one.
void signal_all(pid_t group, int signal_number);

// Reaps, without blocking, every child that has ended. Returns 1 if no child is left.
int reap(pid_t leader, int *leader_status, int *leader_ended);

// Kills every process below this one until none is left.
void kill_until_empty(pid_t leader, int *status, int *ended);
