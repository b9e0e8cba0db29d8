// The protocol between pipectl and stepinit. `StepHost.swift` writes the same layout by hand: change both.
//
// Numbers are in the machine's byte order. A start request carries one descriptor (SCM_RIGHTS): the control socket of a
// new supervisor. On that socket pipectl sends one `launch` for each attempt, with descriptors: the pipe for its
// output, and the entry files (`tasks` or `cgroup.procs`) of the control groups that the command shall be in, if any.
// Any byte after that asks the supervisor to end the attempt. The answer is one `report`; by then no process of the
// attempt is left. With `report_flag_again` the supervisor waits for the next launch; without it, it has ended.

#pragma once

#include <stdint.h>

// The largest number of control groups, and of descriptors in one message.
enum { most_groups = 4, most_files = 1 + most_groups };

enum { request_start = 1, request_kill = 2 };

struct request {
    uint32_t kind;
    uint32_t id;
};

struct launch {
    // The size of the texts that follow, each ended by a NUL: working folder, folder for secrets, words, variables
    // ("NAME=value"), names of secrets.
    uint32_t bytes;
    uint32_t words;
    uint32_t variables;
    uint32_t grace_ms;
    uint32_t flags;
    uint32_t secrets;       // follow the texts; each is its size as uint32_t, then its bytes
    uint64_t open_files;    // soft limit for the command; here and below 0 means none
    uint64_t cpu_seconds;   // for each process
    uint64_t file_bytes;    // for each file
    uint64_t data_bytes;    // for each process
    uint64_t processes;     // for the user
};

enum {
    launch_terminal = 1,    // input and output are a pseudo-terminal
    launch_few_files = 2,   // `open_files` is the hard limit too
};

enum {
    report_ended = 1,       // value: the status of wait(2)
    report_no_command = 2,  // value: errno of exec
    report_no_folder = 3,   // value: errno of chdir
    report_no_process = 4,  // value: errno of fork and the like
    report_lost = 5,        // the supervisor itself was killed
    report_no_secret = 6,   // value: errno of writing a secret's file
    report_no_group = 7,    // value: errno of joining a control group
};

enum {
    report_flag_asked = 1,   // pipectl asked it to end before it had ended
    report_flag_killed = 2,  // a process was alive after the grace period
    report_flag_again = 4,   // it ended by itself and left nothing: its supervisor can take another attempt
};

struct report {
    uint32_t kind;
    int32_t value;
    uint32_t flags;
};
