#pragma once
#include <git2.h>
#include <git2/sys/commit.h>
#if __has_include(<git2/sys/errors.h>)
// git_error_clear() is declared there in newer versions of libgit2 (1.9), and in git2.h in older ones.
#include <git2/sys/errors.h>
#endif
#include <git2/sys/repository.h>
#include <zlib.h>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

// git_libgit2_opts() is variadic, which Swift cannot call; each option we set gets a name of its own here.

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

// libgit2 1.8.0 declares `parents` with another const than 1.5 and 1.9; the cast fits all of them.
static inline int cgit_commit_create(
    git_oid *out, git_repository *repository, const git_signature *author, const git_signature *committer,
    const char *message, const git_oid *tree, size_t count, const git_oid *const *parents) {
    return git_commit_create_from_ids(
        out, repository, NULL, author, committer, NULL, message, tree, count, (void *)parents);
}

// What a batch of objects needs: zlib, and sync_file_range(2), which is hidden from Swift.

static inline size_t cgit_compress_bound(size_t size) { return compressBound(size); }

static inline int cgit_compress(void *to, size_t *to_size, const void *from, size_t from_size) {
    uLongf size = *to_size;
    int failed = compress2((Bytef *)to, &size, (const Bytef *)from, from_size, 1);
    *to_size = size;
    return failed;
}

// Starts to write a file's bytes out; a hint that hastens the flush to come and may fail.
static inline void cgit_begin_write(int file) {
#ifdef __linux__
    syscall(SYS_sync_file_range, file, 0LL, 0LL, 2 /* SYNC_FILE_RANGE_WRITE */);
#else
    (void)file;
#endif
}
