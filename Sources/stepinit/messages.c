#define _GNU_SOURCE
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "requests.h"

void say(int fd, uint32_t kind, int32_t value, uint32_t flags) {
    struct report report = {kind, value, flags};
    ssize_t sent = write(fd, &report, sizeof report);
    (void)sent;  // pipectl is gone: there is nobody to tell
}

int read_all(int fd, void *target, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = read(fd, (char *)target + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        done += (size_t)count;
    }
    return 1;
}

ssize_t receive(int socket, void *target, size_t size, int *files, int *room) {
    struct iovec part = {target, size};
    union {
        char bytes[CMSG_SPACE(most_files * sizeof(int))];
        struct cmsghdr aligned;
    } space;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof space};
    int flags = 0;
#ifdef MSG_CMSG_CLOEXEC
    flags = MSG_CMSG_CLOEXEC;
#endif
    int most = *room, number = 0;
    *room = 0;
    ssize_t count = recvmsg(socket, &message, flags);
    if (count < 0) return count;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    // The kernel rounds the space up and may fill it, so one more descriptor than was asked for can arrive.
    int all[sizeof space / sizeof(int)];
    if (header && header->cmsg_type == SCM_RIGHTS) number = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof *all);
    if (number > 0) memcpy(all, CMSG_DATA(header), (size_t)number * sizeof *all);
    // Must be closed: the holder of the other end waits for this.
    int is_cut = (message.msg_flags & MSG_CTRUNC) != 0;
    for (int i = 0; i < number; i++) {
#ifndef MSG_CMSG_CLOEXEC
        fcntl(all[i], F_SETFD, FD_CLOEXEC);
#endif
        if (is_cut || i >= most)
            close(all[i]);
        else
            files[(*room)++] = all[i];
    }
    if (is_cut) *room = -1;
    return count;
}
