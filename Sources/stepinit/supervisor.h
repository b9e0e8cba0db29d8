// The process that supervises attempts, one at a time: it hands over secrets, starts the command, and kills all that is
// left of it.

// The descriptor of a supervisor's control socket.
enum { control_fd = 3 };

// A descriptor of /dev/null, above the numbers that supervisors use.
extern int null_fd;

// Reads launches from the control socket, runs each to its end and reports it. Does not return.
_Noreturn void watch_over(void);
