// What pipectl and stepinit say to each other. `StepHost.swift` writes the same by hand: change both.
//
// All numbers are in the machine's own order. A start request carries two descriptors (SCM_RIGHTS): the attempt's
// control socket and the pipe for its output. What is to be started follows on the control socket, and so does the
// wish that it ends: any byte. The answer is one `report`; by then no process of the attempt is left.

#include <stdint.h>

enum { request_start = 1, request_kill = 2 };

struct request {
    uint32_t kind;
    uint32_t id;
};

struct launch {
    uint32_t bytes;  // of the texts that follow, each ended by a NUL: folder, words, variables ("NAME=value")
    uint32_t words;
    uint32_t variables;
    uint32_t grace_ms;
    uint32_t open_files;  // soft limit for the command
};

enum {
    report_ended = 1,       // value: as wait(2) gives it
    report_no_command = 2,  // value: errno of exec
    report_no_folder = 3,   // value: errno of chdir
    report_no_process = 4,  // value: errno of fork and the like
    report_lost = 5,        // the warden itself was killed
};

enum {
    report_flag_asked = 1,   // it was asked to end before it had ended
    report_flag_killed = 2,  // something was still alive after the grace
};

struct report {
    uint32_t kind;
    int32_t value;
    uint32_t flags;
};
