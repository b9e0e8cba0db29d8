// stepinit: starts the steps of a run and leaves nothing of them alive.
//
// pipectl starts one stepinit for each run, with a socket as its standard input, and asks it for each attempt of a
// step (see requests.h). stepinit forks a warden for it, which starts the command in a session of its own and adopts
// every orphan below it (PR_SET_CHILD_SUBREAPER, Linux). When the command ends, the warden kills what is left of it,
// whatever session or group it moved to, and only then says how it ended. Asked to end, it passes SIGTERM on to all of
// them and kills what is alive after the grace. When its socket closes because pipectl died, it kills at once.
//
// One process for a run, not one for each attempt: forking this small process costs a quarter of starting it, and a
// sandbox has to be set up only once. In a sandbox it is the first process of its namespace: nothing in there can
// signal or trace it, and with its end the kernel ends everything else.
//
//   stepinit [--enter COUNT] [--user UID:GID] [--filter[-nested][-tracing]] [--processes MOST] [--chdir FOLDER]
//       --enter: the descriptors from 3 on are `cgroup.procs` files of control groups to be in
//   stepinit … -- COMMAND…     starts one command instead, and ends as it did

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "confine.h"
#include "requests.h"

#ifdef __linux__
#include <sys/ioctl.h>
#include <sys/prctl.h>
#endif
#ifdef __APPLE__
#include <libproc.h>
#include <sys/ioctl.h>
#define vfork fork
#endif

enum { control_fd = 3 };
extern char **environ;

struct warden {
    uint32_t id;
    pid_t pid;  // 0 once it has ended
    int status;
    int control;
};

static struct warden *wardens;
static size_t warden_count, warden_room;
static int null_fd;

static long long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void nap(void) {
    struct timespec pause = {0, 500000};
    nanosleep(&pause, NULL);
}

static void say(int fd, uint32_t kind, int32_t value, uint32_t flags) {
    struct report report = {kind, value, flags};
    ssize_t sent = write(fd, &report, sizeof report);
    (void)sent;  // pipectl is gone; nobody is left to tell
}

// Processes

// Calls `visit` for each child of `parent`, of all its threads.
static int each_child(pid_t parent, void (*visit)(pid_t, int, int), int signal_number, int depth) {
    int seen = 0;
#ifdef __linux__
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = opendir(path);
    if (!threads) return 0;
    for (struct dirent *thread; (thread = readdir(threads));) {
        if (thread->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", (int)parent, thread->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        char text[512];
        pid_t pid = 0;
        for (ssize_t length; (length = read(file, text, sizeof text)) > 0;) {
            for (ssize_t i = 0; i < length; i++) {
                if (text[i] >= '0' && text[i] <= '9') {
                    pid = pid * 10 + (text[i] - '0');
                } else if (pid > 0) {
                    seen++;
                    visit(pid, signal_number, depth);
                    pid = 0;
                }
            }
        }
        close(file);
    }
    closedir(threads);
#elif defined(__APPLE__)
    pid_t pids[512];
    int count = proc_listchildpids(parent, pids, sizeof pids);
    for (int i = 0; i < count; i++) {
        seen++;
        visit(pids[i], signal_number, depth);
    }
#endif
    return seen;
}

static void signal_tree(pid_t pid, int signal_number, int depth) {
    // A chain of thousands of processes must not overflow the stack; what is deeper is adopted when those above die.
    if (depth < 64) each_child(pid, signal_tree, signal_number, depth + 1);
    kill(pid, signal_number);
}

static void signal_all(pid_t group, int signal_number) {
    if (group > 0) kill(-group, signal_number);
    each_child(getpid(), signal_tree, signal_number, 0);
}

// Waits without blocking for every child that has ended; returns 1 when none is left.
static int reap(pid_t leader, int *leader_status, int *leader_ended) {
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) return 0;
        if (pid < 0) return errno == ECHILD;
        if (pid == leader) {
            *leader_status = status;
            *leader_ended = 1;
        }
    }
}

static void kill_until_empty(pid_t leader, int *status, int *ended) {
    // A killed parent hands its children to us, so each round reaches one generation more. The group is signalled
    // only while its leader is unreaped: afterwards its number may belong to a stranger.
    while (!reap(leader, status, ended)) {
        signal_all(*ended ? 0 : leader, SIGKILL);
        if (reap(leader, status, ended)) return;
        nap();
    }
}

// The warden of one attempt

static void child_ended(int number) { (void)number; }

static int read_all(int fd, void *target, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = read(fd, (char *)target + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        done += (size_t)count;
    }
    return 1;
}

struct command {
    struct launch launch;
    const char *folder;
    const char *secrets_folder;
    char **words;
    char **secrets;          // names, ended by NULL
    const int *groups;       // `cgroup.procs` files, ended by -1
    const char *terminal;    // the command's side of its pseudo-terminal, or NULL
};

// The hard limit is `more` above the soft one: at the soft limit of CPU time a process is told, at the hard one killed.
static void limit_process(int resource, uint64_t value, uint64_t more) {
    struct rlimit limit;
    if (value == 0 || getrlimit(resource, &limit) != 0) return;
    if (value + more < limit.rlim_max) limit.rlim_max = (rlim_t)(value + more);
    limit.rlim_cur = value < limit.rlim_max ? (rlim_t)value : limit.rlim_max;
    setrlimit(resource, &limit);
}

// Runs between vfork and exec, in the warden's memory: system calls only.
static void become_command(const struct command *command, int failure) {
    const struct launch *launch = &command->launch;
    int32_t problem[2] = {report_no_group, 0};
    setsid();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    for (const int *group = command->groups; *group >= 0; group++)
        if (write(*group, "0", 1) != 1) goto failed;
    if (command->terminal) {
        problem[0] = report_no_process;
        int terminal = open(command->terminal, O_RDWR);
        if (terminal < 0) goto failed;
        ioctl(terminal, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++) dup2(terminal, i);
        if (terminal > 2) close(terminal);
    }
    struct rlimit files;
    if (launch->open_files != 0 && getrlimit(RLIMIT_NOFILE, &files) == 0 && launch->open_files < files.rlim_cur) {
        files.rlim_cur = (rlim_t)launch->open_files;  // pipectl raised its own; some programs close all that are possible
        if (launch->flags & launch_few_files) files.rlim_max = files.rlim_cur;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    limit_process(RLIMIT_CPU, launch->cpu_seconds, 5);
    limit_process(RLIMIT_FSIZE, launch->file_bytes, 0);
    limit_process(RLIMIT_DATA, launch->data_bytes, 0);
    limit_process(RLIMIT_NPROC, launch->processes, 0);
    static const int plain[] = {SIGPIPE, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) signal(plain[i], SIG_DFL);
    problem[0] = report_no_folder;
    if (chdir(command->folder) == 0) {
        problem[0] = report_no_command;
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (command->words[0])
            execvp(command->words[0], command->words);
        else
            errno = EINVAL;
    }
failed:
    problem[1] = errno;
    ssize_t written = write(failure, problem, sizeof problem);
    (void)written;
    _exit(127);
}

// Secrets, as files that only live while the attempt does

static int secret_path(char *path, size_t size, const struct command *command, const char *name) {
    return snprintf(path, size, "%s/%s", command->secrets_folder, name) < (int)size;
}

static void remove_secrets(const struct command *command) {
    char path[4096];
    for (char **name = command->secrets; *name; name++)
        if (secret_path(path, sizeof path, command, *name)) unlink(path);
}

// Reads them from the control socket; returns an errno.
static int write_secrets(const struct command *command) {
    for (char **name = command->secrets; *name; name++) {
        uint32_t size;
        if (!read_all(control_fd, &size, sizeof size)) return EPIPE;
        char *value = malloc((size_t)size + 1);
        if (!value) return ENOMEM;
        if (!read_all(control_fd, value, size)) return EPIPE;
        char path[4096];
        int problem = 0;
        if (!secret_path(path, sizeof path, command, *name)) return ENAMETOOLONG;
        unlink(path);
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
        if (file < 0) return errno;
        for (uint32_t done = 0; done < size && !problem;) {
            ssize_t count = write(file, value + done, size - done);
            if (count < 0 && errno != EINTR) problem = errno;
            if (count > 0) done += (uint32_t)count;
        }
        close(file);
        memset(value, 0, size);
        free(value);
        if (problem) return problem;
    }
    return 0;
}

// A pseudo-terminal for a step that asks for one

static int open_terminal(char *path, size_t size) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return -1;
    const char *name = NULL;
    if (grantpt(terminal) == 0 && unlockpt(terminal) == 0) name = ptsname(terminal);
    if (!name || snprintf(path, size, "%s", name) >= (int)size) {
        close(terminal);
        return -1;
    }
    struct winsize window = {.ws_row = 24, .ws_col = 80};
    ioctl(terminal, TIOCSWINSZ, &window);
    return terminal;
}

// Copies what the terminal shows to the log; returns 0 when nothing more can come.
static int copy_terminal(int terminal, int output) {
    char piece[16384];
    ssize_t count = read(terminal, piece, sizeof piece);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    for (ssize_t done = 0; done < count;) {
        ssize_t written = write(output, piece + done, (size_t)(count - done));
        if (written < 0 && errno != EINTR) return 0;
        if (written > 0) done += written;
    }
    return count > 0;
}

static void watch_over(const int *groups) {
    struct command command = {.groups = groups};
    struct launch *launch = &command.launch;
    if (!read_all(control_fd, launch, sizeof *launch)) _exit(0);
    // Two ends more than were sent: the folders are read even if nothing was.
    char *text = malloc((size_t)launch->bytes + 2);
    char **words = calloc((size_t)launch->words + launch->variables + launch->secrets + 3, sizeof *words);
    if (!text || !words) {
        say(control_fd, report_no_process, ENOMEM, 0);
        _exit(0);
    }
    if (!read_all(control_fd, text, launch->bytes)) _exit(0);
    text[launch->bytes] = text[(size_t)launch->bytes + 1] = 0;
    char *next = text, *end = text + launch->bytes;
    command.folder = next;
    next += strlen(next) + 1;
    command.secrets_folder = next < end ? next : "";
    next += strlen(next) + 1;
    char **slot = command.words = words;
    for (uint32_t i = 0; i < launch->words && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot++ = NULL;
    environ = slot;
    for (uint32_t i = 0; i < launch->variables && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot++ = NULL;
    command.secrets = slot;
    for (uint32_t i = 0; i < launch->secrets && next < end; i++, next += strlen(next) + 1) *slot++ = next;
    *slot = NULL;
    int secret_problem = write_secrets(&command);
    if (secret_problem) {
        remove_secrets(&command);
        say(control_fd, report_no_secret, secret_problem, 0);
        _exit(0);
    }

#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    int terminal = -1, output = -1;
    char terminal_path[64];
    if (launch->flags & launch_terminal) {
        terminal = open_terminal(terminal_path, sizeof terminal_path);
        if (terminal < 0) {
            say(control_fd, report_no_process, errno, 0);
            _exit(0);
        }
        command.terminal = terminal_path;
        output = fcntl(1, F_DUPFD_CLOEXEC, 10);
        fcntl(terminal, F_SETFL, O_NONBLOCK);
    }
    int failure[2];
    pid_t leader = -1;
    if (pipe(failure) == 0) {
        fcntl(failure[0], F_SETFD, FD_CLOEXEC);
        fcntl(failure[1], F_SETFD, FD_CLOEXEC);
        leader = vfork();
        if (leader == 0) become_command(&command, failure[1]);
    }
    if (leader < 0) {
        int problem = errno;
        remove_secrets(&command);
        say(control_fd, report_no_process, problem, 0);
        _exit(0);
    }
    close(failure[1]);
    for (const int *group = groups; *group >= 0; group++) close(*group);
    // The others hold the pipe that ends the log; the warden writes nothing.
    dup2(null_fd, 1);
    dup2(null_fd, 2);

    int status = 0, ended = 0, asked = 0, none_left = 0;
    uint32_t flags = 0;
    long long deadline = 0;
    sigset_t open_mask;
    sigemptyset(&open_mask);
    for (;;) {
        none_left = reap(leader, &status, &ended);
        // Asked to end, what the command started has the rest of the grace, too.
        if (ended && (none_left || !asked)) break;
        struct timespec wait = {0, 0}, *limit = NULL;
        if (asked) {
            long long left = deadline - now_ms();
            if (left <= 0) {
                flags |= report_flag_killed;
                break;
            }
            wait = (struct timespec){left / 1000, (left % 1000) * 1000000};
            limit = &wait;
        }
        fd_set readable;
        FD_ZERO(&readable);
        FD_SET(control_fd, &readable);
        if (terminal >= 0) FD_SET(terminal, &readable);
        int highest = terminal > control_fd ? terminal : control_fd;
        if (pselect(highest + 1, &readable, NULL, NULL, limit, &open_mask) < 1) continue;
        if (terminal >= 0 && FD_ISSET(terminal, &readable) && !copy_terminal(terminal, output)) {
            // Nobody has it open (EIO): the command closed it, or has not opened it yet.
            if (errno == EIO && !ended) nap();
        }
        if (!FD_ISSET(control_fd, &readable)) continue;
        char byte;
        ssize_t count = read(control_fd, &byte, 1);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) break;  // pipectl is gone
        if (asked) continue;
        asked = 1;
        flags |= report_flag_asked;
        deadline = now_ms() + launch->grace_ms;
        signal_all(leader, SIGTERM);
    }
    if (!none_left) kill_until_empty(leader, &status, &ended);
    // What the terminal still holds is bounded by its buffer.
    for (int rounds = 0; terminal >= 0 && rounds < 64 && copy_terminal(terminal, output); rounds++) {}
    remove_secrets(&command);

    int32_t problem[2];
    if (read(failure[0], problem, sizeof problem) == sizeof problem)
        say(control_fd, (uint32_t)problem[0], problem[1], flags);
    else
        say(control_fd, report_ended, status, flags);
    _exit(0);
}

// The process of the run

static int strays;

static void kill_stray(pid_t pid, int signal_number, int depth) {
    for (size_t i = 0; i < warden_count; i++)
        if (wardens[i].pid == pid) return;
    strays++;
    signal_tree(pid, signal_number, depth);
}

// Notes which wardens have ended, and buries orphans.
static void collect(void) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (size_t i = 0; i < warden_count; i++) {
            if (wardens[i].pid != pid) continue;
            wardens[i].pid = 0;
            wardens[i].status = status;
        }
    }
}

// A step may have killed its warden: what it watched over is ours now. Bounded, since what hangs in the kernel can't
// be killed and others wait.
static void kill_strays(void) {
    for (long long end = now_ms() + 10000; now_ms() < end; nap()) {
        strays = 0;
        each_child(getpid(), kill_stray, SIGKILL, 0);
        if (strays == 0) return;
        collect();
    }
}

static void reap_wardens(void) {
    collect();
    for (size_t i = 0; i < warden_count;) {
        if (wardens[i].pid != 0) {
            i++;
            continue;
        }
        int status = wardens[i].status;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            kill_strays();
            say(wardens[i].control, report_lost, status, 0);
        }
        close(wardens[i].control);
        wardens[i] = wardens[--warden_count];
    }
}

static void start_warden(uint32_t id, int control, int output, const int *groups) {
    if (warden_count == warden_room) {
        size_t room = warden_room ? 2 * warden_room : 16;
        struct warden *larger = realloc(wardens, room * sizeof *larger);
        if (!larger) {
            say(control, report_no_process, ENOMEM, 0);
            close(control);
            close(output);
            for (const int *group = groups; *group >= 0; group++) close(*group);
            return;
        }
        wardens = larger;
        warden_room = room;
    }
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < warden_count; i++) close(wardens[i].control);
        dup2(null_fd, 0);
        dup2(output, 1);
        dup2(output, 2);
        if (output != control_fd) close(output);
        if (control != control_fd) {
            dup2(control, control_fd);
            close(control);
        }
        fcntl(control_fd, F_SETFD, FD_CLOEXEC);
        watch_over(groups);
    }
    close(output);
    for (const int *group = groups; *group >= 0; group++) close(*group);
    if (pid < 0) {
        say(control, report_no_process, errno, 0);
        close(control);
        return;
    }
    wardens[warden_count++] = (struct warden){.id = id, .pid = pid, .control = control};
}

// Returns 0 when pipectl is gone.
static int serve_request(void) {
    struct request request;
    struct iovec part = {&request, sizeof request};
    union {
        char bytes[CMSG_SPACE((2 + most_groups) * sizeof(int))];
        struct cmsghdr aligned;
    } space;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &space, .msg_controllen = sizeof space};
    int receive_flags = 0;
#ifdef MSG_CMSG_CLOEXEC
    receive_flags = MSG_CMSG_CLOEXEC;
#endif
    ssize_t count = recvmsg(STDIN_FILENO, &message, receive_flags);
    if (count < 0) return errno == EINTR || errno == EAGAIN;
    if (count != sizeof request) return 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int files[2 + most_groups + 1];
    size_t number = 0;
    if (header && header->cmsg_type == SCM_RIGHTS) number = (header->cmsg_len - CMSG_LEN(0)) / sizeof *files;
    if (number > 2 + most_groups) number = 2 + most_groups;
    if (number > 0) memcpy(files, CMSG_DATA(header), number * sizeof *files);
    // Some did not fit into our table: without all of them a step would run outside its control group.
    if (message.msg_flags & MSG_CTRUNC) {
        if (number > 0) say(files[0], report_no_process, EMFILE, 0);
        for (size_t i = 0; i < number; i++) close(files[i]);
        return 1;
    }
    if (request.kind == request_kill) {
        for (size_t i = 0; i < warden_count; i++)
            if (wardens[i].id == request.id && wardens[i].pid != 0) kill(wardens[i].pid, SIGKILL);
    }
    // What is not used is closed: whoever has the other end waits for its end.
    if (request.kind != request_start || number < 2) {
        for (size_t i = 0; i < number; i++) close(files[i]);
        return 1;
    }
    files[number] = -1;
    // Above those that a warden gives its own places to.
    for (size_t i = 0; i < number; i++) {
        int moved = fcntl(files[i], F_DUPFD_CLOEXEC, 10);
        if (moved < 0) {
            say(files[0], report_no_process, errno, 0);
            for (size_t k = 0; k < number; k++) close(files[k]);
            return 1;
        }
        close(files[i]);
        files[i] = moved;
    }
    start_warden(request.id, files[0], files[1], files + 2);
    return 1;
}

// One command

static pid_t only_child;

static void pass_on(int number) {
    if (only_child > 0) kill(only_child, number);
}

// Starts one command and ends as it does; as the first process of a namespace it also buries orphans.
static int run_one(char **words) {
    static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = pass_on};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) sigaction(passed[i], &action, NULL);
#ifdef __linux__
    // Killed by whoever asked for it, bwrap can't take us along: it may not signal another user's process. But nobody
    // reads our output then, which the pipe tells.
    struct stat output;
    int is_watched = fstat(1, &output) == 0 && S_ISFIFO(output.st_mode);
    sigset_t child, open_mask;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &open_mask);
    struct sigaction reaction = {.sa_handler = child_ended};
    sigaction(SIGCHLD, &reaction, NULL);
#endif
    only_child = fork();
    if (only_child < 0) return 125;
    if (only_child == 0) {
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) signal(passed[i], SIG_DFL);
#ifdef __linux__
        sigprocmask(SIG_SETMASK, &open_mask, NULL);
#endif
        execvp(words[0], words);
        dprintf(2, "%s can't be started: %s\n", words[0], strerror(errno));
        _exit(errno == ENOENT ? 127 : 126);
    }
    for (;;) {
        int status;
#ifdef __linux__
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) {
            struct pollfd reader = {1, 0, 0};
            if (ppoll(&reader, is_watched ? 1 : 0, NULL, &open_mask) <= 0) continue;
            kill(only_child, SIGKILL);
            return 128 + SIGPIPE;
        }
#else
        pid_t pid = wait(&status);
#endif
        if (pid < 0 && errno != EINTR) return 125;
        if (pid != only_child) continue;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
}

// Gives up what the options say; returns the words after them, or ends.
static char **confine(char **words) {
    for (words++; *words && strcmp(*words, "--") != 0; words++) {
        unsigned user, group, most;
        int failed;
        if (strcmp(*words, "--user") == 0 && words[1] && sscanf(words[1], "%u:%u", &user, &group) == 2) {
            failed = drop_privileges(user, group);
            words++;
        } else if (strcmp(*words, "--enter") == 0 && words[1]) {
            failed = 0;
            for (int group = 3, last = 3 + atoi(*++words); group < last; group++) {
                if (write(group, "0", 1) != 1) failed = -1;
                close(group);
            }
        } else if (strcmp(*words, "--processes") == 0 && words[1] && sscanf(words[1], "%u", &most) == 1) {
            // Counted by user, and in a user namespace by that: what is enclosed has it for itself either way.
            struct rlimit limit = {most, most};
            failed = setrlimit(RLIMIT_NPROC, &limit);
            words++;
        } else if (strcmp(*words, "--chdir") == 0 && words[1]) {
            failed = chdir(*++words);
        } else if (strncmp(*words, "--filter", 8) == 0) {
            failed = filter_calls((strstr(*words, "nested") ? allow_nested : 0) |
                                  (strstr(*words, "tracing") ? allow_tracing : 0));
        } else {
            dprintf(2, "stepinit: unknown option %s\n", *words);
            _exit(2);
        }
        if (failed) {
            dprintf(2, "stepinit: %s: %s\n", *words, strerror(errno));
            _exit(125);
        }
    }
    return *words ? words + 1 : NULL;
}

int main(int count, char **arguments) {
    (void)count;
#ifdef __linux__
    // When memory runs out, a step goes before anything of the box does; what is started inherits it.
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        ssize_t written = write(score, "500", 3);
        (void)written;
        close(score);
    }
    // Nothing that a step starts may look into this process or the wardens, which hold its secrets for a moment.
    prctl(PR_SET_DUMPABLE, 0);
#endif
    char **command = confine(arguments);
    if (command && *command) return run_one(command);
    struct sockaddr address;
    socklen_t length = sizeof address;
    if (getsockname(STDIN_FILENO, &address, &length) != 0) {
        static const char help[] = "stepinit starts the steps of a pipectl run; pipectl starts it. See: pipectl --help\n";
        return write(STDERR_FILENO, help, sizeof help - 1) > 0 ? 2 : 3;
    }
    setsid();
#ifdef __linux__
    // What some library of pipectl opened without close-on-exec must not reach a step.
    closefrom(3);
#endif
    // Numbers 0 to 3 are taken in every warden, so none of ours may be among them by chance.
    int null = open("/dev/null", O_RDWR);
    if (null < 0) return 3;
    null_fd = fcntl(null, F_DUPFD_CLOEXEC, 10);
    dup2(null, 1);
    dup2(null, 2);
    dup2(null, control_fd);
    if (null > control_fd) close(null);

    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {.sa_handler = child_ended};
    sigaction(SIGCHLD, &action, NULL);
    sigset_t child, open_mask;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, NULL);
    sigemptyset(&open_mask);

    int connected = 1;
    for (;;) {
        reap_wardens();
        // Without pipectl the wardens end what they watch over; this stays for those that can't. With the first process
        // of a namespace the kernel ends all others.
        if (!connected && (warden_count == 0 || getpid() == 1)) return 0;
        fd_set readable;
        FD_ZERO(&readable);
        if (connected) FD_SET(STDIN_FILENO, &readable);
        if (pselect(1, &readable, NULL, NULL, NULL, &open_mask) > 0) connected = serve_request();
    }
}
