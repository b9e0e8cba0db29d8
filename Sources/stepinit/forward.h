// Ways out of a sandbox that has no network: sockets of pipectl's that are in its file system.

#pragma once

// stepinit --forward SOCKET -- COMMAND…
//
// Listens on a port of the sandbox's own loopback, passes each connection on to the Unix socket, and becomes the command,
// whose variables name the port as a proxy: HTTPS_PROXY and its other spellings. Returns only if it fails.
int forward_and_run(char **words);

// stepinit --connect SOCKET
//
// Connects its input and output with the Unix socket until one of them ends. Returns the exit status.
int connect_to(char **words);
