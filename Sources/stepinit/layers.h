// Workspaces that are mounted for one run: `OverlayMount.swift` starts both of these, change it with them.

// stepinit --layers FOLDER UID:GID
//
// Holds a mount namespace of its own for FOLDER/merged, where all files are to belong to UID:GID, and says "open" on standard
// input, which is a socket. From it come the layers then, newest first, each as two words that a NUL ends: UID:GID, who
// owns its files on the disk, and its path. After an empty word it mounts FOLDER/upper over them at FOLDER/merged, and says
// "ready"; who has entered the namespace between the two, or taken FOLDER/merged from there into one of its own, has the
// mount as well. Where there is a FOLDER/git/.git, and that folder is a layer, nothing of a `.git` below it is seen. Instead
// of either answer it says what is wrong, in one line, and ends; else it ends with the socket. Returns the exit code.
int hold_layers(char **words);

// stepinit --within PID -- COMMAND…
//
// Becomes COMMAND in the namespaces of a process that holds layers; returns an exit code when it can't.
int enter_layers(char **words);
