#pragma once
// What sandboxes have in common, mounted once. Linux only.

#include "sandbox.h"

// Returns a descriptor of a mount namespace for `struct sandbox`'s `template`, which stays open; -1 where there is none for
// this sandbox. Those of the last sandboxes are kept as long as what they show is what it was.
int find_template(const struct sandbox *sandbox);

// Waits until there is something to read, and meanwhile gives up templates as soon as the box's mounts change.
void wait_for_request(int socket);
