#pragma once
#include <git2.h>
#include <git2/sys/commit.h>
#if __has_include(<git2/sys/errors.h>)
// Newer versions of libgit2 (1.9) declare git_error_clear() in this header, older ones in git2.h.
#include <git2/sys/errors.h>
#endif
#include <git2/sys/repository.h>

// git_libgit2_opts() is variadic, which Swift can't call; so each used option has a function here.

static inline int cgit_set_search_path(int level, const char *path) {
    return git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, path);
}

static inline int cgit_enable_fsync_gitdir(int enabled) {
    return git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, enabled);
}

static inline int cgit_verify_hashes(int enabled) {
    return git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, enabled);
}

static inline int cgit_allow_extension(const char *name) {
    const char *names[] = {name};
    return git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names, (size_t)1);
}

// libgit2 1.8.0 declares `parents` with another const than 1.5 and 1.9; the cast works with all of them.
static inline int cgit_commit_create(
    git_oid *out, git_repository *repository, const git_signature *author, const git_signature *committer,
    const char *message, const git_oid *tree, size_t count, const git_oid *const *parents) {
    return git_commit_create_from_ids(
        out, repository, NULL, author, committer, NULL, message, tree, count, (void *)parents);
}
