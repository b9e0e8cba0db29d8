// Shells that are started already: a fork server for the lines of a warden's attempts.
//
// Half of what a line such as `true` costs is the start of its shell, and of that more than half are instructions of the
// dynamic loader that ask the processor what it is (CPUID), at each of which a virtual machine stops. So a warden that has
// had some lines, or waits for its first command, starts one shell more, with `libforkserver.so` preloaded. That waits
// before the shell's own `main` and forks for each line: a child of the warden, by CLONE_PARENT, with a process number,
// an environment and descriptors of its own, that has read nothing of the line before. It goes on as the shell does after
// exec.
//
// The two share one socket of messages. The server says that it waits; then the warden sends a launch and its texts, with
// the descriptors that the launch came with. Each answer is a `forked`.

#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "requests.h"

// Where a fork server has its socket and finds its library: at a number that nobody else uses, as debuggers open what the
// loader says that it has loaded.
enum { server_socket = 3, server_library = 250 };

// What the server says first: whoever understands another launch is of another version.
enum { server_greeting = 0x10000 + sizeof(struct launch) };

// The most that a launch may have in texts and variables.
enum { most_server_bytes = 32768, most_server_variables = 512 };

struct forked {
    int32_t kind;   // 0: `value` is the process; else a kind of report, from the process itself, and an errno
    int32_t value;
};

// Opens the library, beside this program; without it every line starts its shell. To be called where the box's files are.
void find_library(void);

// The library's descriptor, which is to stay open, or -1.
int kept_library(void);

// Whether the command is a line that a fork server may have. Ends the server where the launch is for none.
int is_for_server(const struct launch *launch, char **words, char **variables);

// Notes that such a line was started as any other command; the second one brings a server along.
void note_line(void);

// Waits for a moment for something to read; if there is nothing, this process has the time to start a server.
void rest(int socket);

// Has a line started; returns its process, or 0 if it is to be started as any other command.
pid_t fork_shell(const struct launch *launch, const char *text, const int *files, int number);

// Why the last line's process did not become a shell: a kind of report, with an errno, or 0.
int32_t shell_problem(int32_t *code);

// Notes that a child has ended, which may be the server.
void note_end(pid_t pid);

// Whether the server is the only child that is left.
int is_server_alone(void);

// Whether no command has changed what the next line begins with; see bearing.h.
int is_server_as_noted(void);

void end_server(void);
