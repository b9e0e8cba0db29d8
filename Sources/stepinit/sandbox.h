// What a sandbox is made of. Linux only.

#include <stddef.h>

struct part;

struct sandbox {
    struct part *parts;
    size_t count;
    const char *host_name;
    int has_own_network, has_own_session, ends_with_parent;
    int network;            // a descriptor of one to be in, or -1
};

// Reads the options of `stepinit --enclose`; returns the words after `--`. Ends this process where they are wrong.
char **read_options(struct sandbox *sandbox, char **words);

// Makes the sandbox around the process that calls, which is the first of new namespaces; frees its parts.
void furnish(struct sandbox *sandbox);

// Says what could not be done, with errno, and ends this process.
__attribute__((noreturn)) void fail(const char *what, const char *path);
