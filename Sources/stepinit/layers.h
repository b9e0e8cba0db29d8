// Workspaces that are mounted for one run: `LayerHolder.swift` starts both of these, change it with them.

// stepinit --layers FOLDER UID:GID [LAYER UID:GID]…
//
// Mounts FOLDER/upper over the layers, newest first, at FOLDER/merged, in a mount namespace of its own, where all files
// belong to UID:GID; each layer is followed by who owns its files on the disk. Where there is a FOLDER/git/.git, and that
// folder is a layer, nothing of a `.git` below it is seen. Says "ready" on standard input, which is
// a socket, or what is wrong, in one line; holds the namespace until that socket closes. Returns the exit code.
int hold_layers(char **words);

// stepinit --within PID -- COMMAND…
//
// Becomes COMMAND in the namespaces of a process that holds layers; returns an exit code when it can't. Where COMMAND is this
// program, `own`, itself, it need not be started again, which takes a millisecond: returns -1.
int enter_layers(const char *own, char **words);
