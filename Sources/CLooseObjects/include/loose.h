#pragma once

// Reads the loose objects of one folder in place of libgit2: up to 1.9, libgit2 never ends when it reads an object whose
// file is truncated (libgit2 issue 7342). Missing and very large objects are left to libgit2. The form without a header
// that Git wrote for a while in 2006 is refused, as Git itself does since 1.8.
//
// `repository` is a `git_repository *`; `folder` is one of its folders with objects. It is asked after the packs and
// before libgit2. Returns 0 or libgit2's error.
int loose_objects_read(void *repository, const char *folder);
