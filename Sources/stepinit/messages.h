// Reading and writing what `requests.h` declares.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Sends a `report` on a control socket.
void say(int fd, uint32_t kind, int32_t value, uint32_t flags);

// Reads `size` bytes. Returns 0 if the other end closes before.
int read_all(int fd, void *target, size_t size);

// Receives at most `size` bytes and at most `*room` descriptors, which are closed on exec.
//
// Sets `*room` to the number of descriptors, or to -1 if some did not fit into this process's table; then none is open.
// Returns the same as recvmsg(2).
ssize_t receive(int socket, void *target, size_t size, int *files, int *room);
