// Reading and writing what `requests.h` declares.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Answers on a control socket with a `report`.
void say(int fd, uint32_t kind, int32_t value, uint32_t flags);

// Reads `size` bytes; 0 when the other end is closed before.
int read_all(int fd, void *target, size_t size);

// Receives at most `size` bytes with at most `*room` descriptors beside them, closed on exec.
//
// `*room` becomes how many came; -1 when some did not fit into this process's table: none is open then. Returns what
// recvmsg(2) does.
ssize_t receive(int socket, void *target, size_t size, int *files, int *room);
