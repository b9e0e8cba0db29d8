// The process that watches over one attempt: hands over its secrets, starts its command, and ends all that is left of it.

#include <stdint.h>

// Where a warden has its control socket.
enum { control_fd = 3 };

// /dev/null, above the numbers that wardens use.
extern int null_fd;

// Answers on a control socket with a `report`.
void say(int fd, uint32_t kind, int32_t value, uint32_t flags);

// Reads a launch from the control socket, runs it to its end and reports; does not return. `groups` are entrances
// of control groups that the command is to be in, ended by -1.
_Noreturn void watch_over(const int *groups);
