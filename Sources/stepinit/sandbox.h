#pragma once
// What a sandbox is made of. Linux only.

#include <stddef.h>

enum kind { a_folder, a_link, in_memory, shown, processes, devices, made_readonly };

// One thing of the sandbox, in the order in which they are made.
struct part {
    enum kind kind;
    const char *path;
    const char *source;     // of `shown`; of `a_link` what it leads to
    const char *mode;       // octal
    const char *bytes;      // of `in_memory`, at most
    int is_readonly, is_optional;
    int is_own;             // no other sandbox has it, or it must come after what none has
    int tree;               // of `shown`, once it is taken
    int is_folder;          // of `shown`
};

struct sandbox {
    struct part *parts;
    size_t count;
    const char *host_name;
    int has_own_network, has_own_session, ends_with_parent;
    int network;            // a descriptor of one to be in, or -1
    int template;           // a descriptor of a mount namespace that has what is common, or -1
};

// Reads the options of `stepinit --enclose`; returns the words after `--`. Ends this process where they are wrong.
char **read_options(struct sandbox *sandbox, char **words);

// Makes of this process's mount namespace, which is its own, the template of the sandbox and of others like it: what is
// common is there, of all else the places. Nothing in it can be written to.
void furnish_template(struct sandbox *sandbox);

// Makes the sandbox around the process that calls, which is the first of new namespaces; frees its parts.
void furnish(struct sandbox *sandbox);

// Says what could not be done, with errno, and ends this process.
__attribute__((noreturn)) void fail(const char *what, const char *path);
