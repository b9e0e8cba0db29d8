// The process that watches over attempts, one at a time: hands over secrets, starts the command, and ends all that is left
// of it.

// Where a supervisor has its control socket.
enum { control_fd = 3 };

// /dev/null, above the numbers that supervisors use.
extern int null_fd;

// Reads launches from the control socket, runs each to its end and reports; does not return.
_Noreturn void watch_over(void);
