// Sandboxes: `SandboxWords.swift` writes these words, change it with them.

// stepinit --enclose [OPTION]… -- stepinit [OPTION]…
//
// What bubblewrap is to a box that is not root: becomes, in a child, the first process of namespaces that have nothing
// but what the options name, and goes on with the words after `--`, which must make a user of it. The options are
// bubblewrap's, with the same meaning: --unshare-net, --hostname, --new-session, --die-with-parent, --perms, --size,
// --dir, --symlink, --tmpfs, --bind, --bind-try, --ro-bind, --ro-bind-try, --proc, --dev, --remount-ro. The namespaces
// of processes, mounts, IPC, names and control groups are always its own. With --network DESCRIPTOR it has that network
// namespace, and not one of its own. --own comes before what is shown to this sandbox alone: the rest may be mounted once
// for many (template.h).
//
// It takes root and Linux 5.12. Returns in the child only, with the words after `--`; this process ends when the child
// has, as it did, and then nothing lives that was in there. With it, however it ends, the child ends.
char **enclose(char **arguments);

// stepinit --enclosures
//
// Makes one sandbox after the other, as it is asked over the socket that is its standard input (`struct enclosure`), each
// as a child of its own parent: neither a program is loaded for it, nor does a process wait beside it. Returns in each
// child, with the words after `--`.
char **enclose_as_asked(char **arguments);

// The words that this process was started with, where those for `enclose` are not all of them.
void hide_from(char **words);

// To be called when the process is what it will be, for a change of the user undoes it.
void end_with_parent(void);
