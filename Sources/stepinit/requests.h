// What pipectl and stepinit say to each other. `StepHost.swift` writes the same by hand: change both.
//
// All numbers are in the machine's own order. A start request carries a descriptor (SCM_RIGHTS): the control socket of a
// new supervisor. Over that socket goes one `launch` for each attempt, with descriptors of its own: the pipe for its output,
// and the entrances (`tasks` or `cgroup.procs`) of the control groups that the command is to be in, if any. The wish that
// it ends is any byte after that. The answer is one `report`; by then no process of the attempt is left. With
// `report_flag_again` the supervisor waits for the next launch, without it it has ended.

#pragma once

#include <stdint.h>

// Entrances of control groups, and descriptors of one message.
enum { most_groups = 4, most_files = 1 + most_groups };

enum { request_start = 1, request_kill = 2 };

struct request {
    uint32_t kind;
    uint32_t id;
};

struct launch {
    // Of the texts that follow, each ended by a NUL: working folder, folder for secrets, words, variables
    // ("NAME=value"), names of secrets.
    uint32_t bytes;
    uint32_t words;
    uint32_t variables;
    uint32_t grace_ms;
    uint32_t flags;
    uint32_t secrets;       // after the texts: for each, its size as uint32_t, then its bytes
    uint64_t open_files;    // soft limit for the command; here and below 0 means none
    uint64_t cpu_seconds;   // of each process
    uint64_t file_bytes;    // of each file
    uint64_t data_bytes;    // of each process
    uint64_t processes;     // of the user
};

enum {
    launch_terminal = 1,    // its input and output are a pseudo-terminal
    launch_few_files = 2,   // `open_files` is the hard limit, too
};

enum {
    report_ended = 1,       // value: as wait(2) gives it
    report_no_command = 2,  // value: errno of exec
    report_no_folder = 3,   // value: errno of chdir
    report_no_process = 4,  // value: errno of fork and the like
    report_lost = 5,        // the supervisor itself was killed
    report_no_secret = 6,   // value: errno of writing a secret's file
    report_no_group = 7,    // value: errno of entering a control group
};

enum {
    report_flag_asked = 1,   // it was asked to end before it had ended
    report_flag_killed = 2,  // something was still alive after the grace
    report_flag_again = 4,   // it ended by itself and left nothing behind: its supervisor can have another attempt
};

struct report {
    uint32_t kind;
    int32_t value;
    uint32_t flags;
};
