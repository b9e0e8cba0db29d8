// What the supervisor's child does between vfork and exec to become the command of an attempt.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "requests.h"

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif

// Where and how a command runs.
struct setting {
    const struct launch *launch;
    const char *folder;
    int output;                // the pipe of its log
    const int *groups;         // descriptors of the control groups' entry files
    int group_count;
    const char *terminal;      // the command's side of its pseudo-terminal, or NULL
};

// Sets the hard limit `more` above the soft one. A process that reaches the soft limit of CPU time gets SIGXCPU; one
// that reaches the hard limit is killed.
static inline void limit_process(int resource, uint64_t value, uint64_t more) {
    struct rlimit limit;
    if (value == 0 || getrlimit(resource, &limit) != 0) return;
    if (value + more < limit.rlim_max) limit.rlim_max = (rlim_t)(value + more);
    limit.rlim_cur = value < limit.rlim_max ? (rlim_t)value : limit.rlim_max;
    setrlimit(resource, &limit);
}

// Returns 0, or a kind of report with errno set. It runs in its parent's memory, so it may make system calls only.
static inline int32_t enter(const struct setting *setting) {
    const struct launch *launch = setting->launch;
    setsid();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    for (int i = 0; i < setting->group_count; i++)
        if (write(setting->groups[i], "0", 1) != 1) return report_no_group;
    if (setting->terminal) {
        int terminal = open(setting->terminal, O_RDWR);
        if (terminal < 0) return report_no_process;
        ioctl(terminal, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++) dup2(terminal, i);
        if (terminal > 2) close(terminal);
    } else {
        for (int i = 1; i < 3; i++) dup2(setting->output, i);
    }
    struct rlimit files;
    if (launch->open_files != 0 && getrlimit(RLIMIT_NOFILE, &files) == 0 && launch->open_files < files.rlim_cur) {
        files.rlim_cur = (rlim_t)launch->open_files;  // pipectl raised its own limit, and some programs close every number below the limit
        if (launch->flags & launch_few_files) files.rlim_max = files.rlim_cur;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    limit_process(RLIMIT_CPU, launch->cpu_seconds, 5);
    limit_process(RLIMIT_FSIZE, launch->file_bytes, 0);
    limit_process(RLIMIT_DATA, launch->data_bytes, 0);
    limit_process(RLIMIT_NPROC, launch->processes, 0);
    return chdir(setting->folder) == 0 ? 0 : report_no_folder;
}
