#define _GNU_SOURCE
#include "confine.h"

#include <errno.h>
#include <grp.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef __linux__

int drop_privileges(uint32_t user, uint32_t group) {
    if (setgroups(0, NULL) != 0 || setgid(group) != 0) return -1;
    return setuid(user);
}

// macOS: a sandbox has no mounts.
int uncover_proc(void) { return 0; }

// macOS: sandbox-exec applied its profile already.
int filter_calls(int allowed) { (void)allowed; return 0; }

#else

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "newcalls.h"

int drop_privileges(uint32_t user, uint32_t group) {
    // With an empty bounding set, even a program that is setuid-root or has file capabilities regains nothing.
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return -1;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    return (int)syscall(SYS_capset, &header, none);
}

int uncover_proc(void) {
    // bubblewrap mounts these over themselves, read-only, if it could write to them.
    static const char *const covered[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"};
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++)
        // EINVAL: nothing is mounted there.
        if (umount2(covered[i], MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) return -1;
    return 0;
}

#ifndef TIOCSTI
#define TIOCSTI 0x5412
#endif
#ifndef TIOCSETD
#define TIOCSETD 0x5423
#endif
#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4U
#endif
// Largest System V shared memory segment where no control group counts them, in bytes. The kernel allows 4,096
// segments.
#define most_shared_segment (64 << 10)
#define TIOCLINUX_REQUEST 0x541C
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Always refused: calls that change the machine, reach into the kernel, or read other processes' memory.
static const int refused[] = {
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, 425 /* io_uring_setup */,
    426 /* io_uring_enter */, 427 /* io_uring_register */, SYS_kcmp, SYS_open_by_handle_at, SYS_name_to_handle_at,
    SYS_acct, SYS_quotactl, SYS_swapon, SYS_swapoff, SYS_reboot, SYS_kexec_load, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_syslog, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_vhangup,
    SYS_move_pages, SYS_migrate_pages, SYS_fanotify_init, SYS_nfsservctl, SYS_lookup_dcookie,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm, SYS_uselib, SYS_ustat, SYS_sysfs, SYS_modify_ldt,
#endif
};

// Calls with which a sandbox is made inside the sandbox. The kernel allows them in namespaces that the step made; in
// those of its sandbox a step has no capabilities.
static const int of_nesting[] = {
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig,
    SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_setns, SYS_sethostname, SYS_setdomainname,
};

static const int of_tracing[] = {SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd};

struct program {
    struct sock_filter code[320];
    unsigned short length;
};

static void add(struct program *program, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
    program->code[program->length++] = (struct sock_filter){code, if_true, if_false, value};
}

static void load(struct program *program, size_t offset) {
    add(program, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static const uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;

static void refuse_call(struct program *program, int number) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)number);
    add(program, BPF_RET | BPF_K, 0, 0, refuse);
}

// Refuses `number` when its argument `index` equals `value` (with `as_flags`: shares a bit with it). Only the lower 32
// bits are compared; for every call that is passed here the kernel does the same.
static void refuse_argument(struct program *program, int number, int index, uint32_t value, int as_flags) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)number);
    load(program, offsetof(struct seccomp_data, args) + 8 * (size_t)index);
    add(program, BPF_JMP | (as_flags ? BPF_JSET : BPF_JEQ) | BPF_K, 0, 1, value);
    add(program, BPF_RET | BPF_K, 0, 0, refuse);
    load(program, offsetof(struct seccomp_data, nr));
}

// Allows only the socket families that programs use to talk to each other and to the network. Each other family opens
// more of the kernel to attack, and some are not confined by a network namespace.
static void allow_families(struct program *program, int number) {
    static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    enum { count = sizeof families / sizeof *families };
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, count + 3, (uint32_t)number);
    load(program, offsetof(struct seccomp_data, args));
    for (int i = 0; i < count; i++)
        add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(count - i), 0, (uint32_t)families[i]);
    add(program, BPF_RET | BPF_K, 0, 0, refuse);
    load(program, offsetof(struct seccomp_data, nr));
}

// Refuses `number` when its 64-bit argument `index` is larger than `most`.
static void refuse_above(struct program *program, int number, int index, uint32_t most) {
    size_t place = offsetof(struct seccomp_data, args) + 8 * (size_t)index;
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 6, (uint32_t)number);
    load(program, place + 4);  // the upper half, on little-endian machines
    add(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
    load(program, place);
    add(program, BPF_JMP | BPF_JGT | BPF_K, 0, 1, most);
    add(program, BPF_RET | BPF_K, 0, 0, refuse);
    load(program, offsetof(struct seccomp_data, nr));
}

int filter_calls(int allowed) {
#ifndef OWN_ARCHITECTURE
    (void)allowed;
    errno = ENOSYS;
    return -1;
#else
    struct program program = {.length = 0};
    load(&program, offsetof(struct seccomp_data, arch));
    add(&program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, OWN_ARCHITECTURE);
    // Calls of another architecture (32 bit on a 64-bit kernel) have other numbers, so the rules below don't apply to
    // them.
    add(&program, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    load(&program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    // The same is true for the x32 interface, which sets this bit.
    add(&program, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
    add(&program, BPF_RET | BPF_K, 0, 0, refuse);
#endif
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) refuse_call(&program, refused[i]);
    refuse_argument(&program, SYS_ioctl, 1, TIOCSTI, 0);
    refuse_argument(&program, SYS_ioctl, 1, TIOCLINUX_REQUEST, 0);
    // TIOCSETD loads the kernel module of any line discipline.
    refuse_argument(&program, SYS_ioctl, 1, TIOCSETD, 0);
    allow_families(&program, SYS_socket);
    allow_families(&program, SYS_socketpair);
    // The whole machine shares its huge pages, and no memory limit counts them.
    refuse_argument(&program, SYS_mmap, 3, MAP_HUGETLB, 1);
    refuse_argument(&program, SYS_memfd_create, 1, MFD_HUGETLB, 1);
    refuse_argument(&program, SYS_shmget, 2, SHM_HUGETLB, 1);
    // Such a segment outlives the processes that mapped it, and only a control group counts it.
    if (allowed & uncounted_memory) refuse_above(&program, SYS_shmget, 1, most_shared_segment);
    if (!(allowed & allow_nested)) {
        static const uint32_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                           CLONE_NEWUTS | CLONE_NEWCGROUP;
        for (size_t i = 0; i < sizeof of_nesting / sizeof *of_nesting; i++) refuse_call(&program, of_nesting[i]);
        refuse_argument(&program, SYS_unshare, 0, namespaces | CLONE_NEWTIME, 1);
        // CLONE_NEWTIME shares a bit with clone's signal number.
        refuse_argument(&program, SYS_clone, 0, namespaces, 1);
        // clone3 takes its flags in memory, where a filter can't look. With ENOSYS libc falls back to clone.
        add(&program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_clone3);
        add(&program, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
    }
    if (!(allowed & allow_tracing)) {
        for (size_t i = 0; i < sizeof of_tracing / sizeof *of_tracing; i++) refuse_call(&program, of_tracing[i]);
        refuse_argument(&program, SYS_ptrace, 0, PTRACE_ATTACH, 0);
        refuse_argument(&program, SYS_ptrace, 0, PTRACE_SEIZE, 0);
    }
    add(&program, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
    struct sock_fprog whole = {program.length, program.code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole);
#endif
}

#endif
