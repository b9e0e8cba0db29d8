// Workspaces that are mounted for one run. `OverlayMount.swift` starts both programs: change it together with this.

// stepinit --layers FOLDER UID:GID
//
// Holds a mount namespace for FOLDER/merged, where all files shall appear to belong to UID:GID. It writes "open" to
// standard input, which is a socket. Then it reads layers from the socket, newest first, each as two words that a NUL
// ends: UID:GID, the owner of its files on disk, and its path. After an empty word it mounts FOLDER/upper over the
// layers at FOLDER/merged and writes "ready". A process that entered the namespace between the two answers, or took
// FOLDER/merged into its own namespace, sees the mount as well. If FOLDER/git/.git exists, that folder is a layer that
// hides every `.git` below it. If something fails, it writes the reason as one line in place of either answer, and
// ends. Otherwise it ends when the socket closes. Returns the exit code.
int hold_layers(char **words);

// stepinit --within PID -- COMMAND…
//
// Becomes COMMAND in the namespaces of a process that holds layers. Returns an exit code if that fails.
int enter_layers(char **words);
