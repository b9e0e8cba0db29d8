#include "include/loose.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <git2/sys/odb_backend.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif

typedef struct {
    git_odb_backend parent;
    char *folder;
} loose_reader;

// Larger objects, or objects of unknown size, are left to libgit2.
#define LIMIT ((off_t)1 << 30)

static unsigned char *read_file(const char *path, size_t *size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    struct stat facts;
    unsigned char *bytes = NULL;
    size_t done = 0;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size < LIMIT) {
        *size = (size_t)facts.st_size;
        bytes = malloc(*size + 1);
        while (bytes && done < *size) {
            ssize_t count = read(file, bytes + done, *size - done);
            if (count <= 0 && !(count < 0 && errno == EINTR)) break;
            if (count > 0) done += (size_t)count;
        }
        *size = done;
    }
    close(file);
    return bytes;
}

// Parses "blob 12", NUL. Returns its length with the NUL, or 0 if it is malformed.
static size_t read_header(const char *text, size_t length, git_object_t *kind, uint64_t *size) {
    size_t end = 0;
    while (end < length && text[end] != 0) end++;
    const char *space = memchr(text, ' ', end);
    if (end == length || !space || space + 1 == text + end || end - (size_t)(space - text) > 12) return 0;
    *size = 0;
    for (const char *digit = space + 1; digit < text + end; digit++) {
        if (*digit < '0' || *digit > '9') return 0;
        *size = *size * 10 + (uint64_t)(*digit - '0');
    }
    size_t name = (size_t)(space - text);
    if (name == 4 && memcmp(text, "blob", 4) == 0) *kind = GIT_OBJECT_BLOB;
    else if (name == 4 && memcmp(text, "tree", 4) == 0) *kind = GIT_OBJECT_TREE;
    else if (name == 6 && memcmp(text, "commit", 6) == 0) *kind = GIT_OBJECT_COMMIT;
    else if (name == 3 && memcmp(text, "tag", 3) == 0) *kind = GIT_OBJECT_TAG;
    else return 0;
    return end + 1;
}

// Returns 0, GIT_PASSTHROUGH, or -1 if the stream ends before the object does or has more bytes than the object.
static int inflate_object(
    void **out, size_t *size, git_object_t *kind, git_odb_backend *backend, unsigned char *bytes, size_t count) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    stream.next_in = bytes;
    stream.avail_in = (uInt)count;
    if (inflateInit(&stream) != Z_OK) return GIT_PASSTHROUGH;
    char head[64];
    stream.next_out = (Bytef *)head;
    stream.avail_out = sizeof head;
    int state = inflate(&stream, Z_SYNC_FLUSH);
    uint64_t length = 0;
    size_t taken = sizeof head - stream.avail_out;
    size_t header = state == Z_OK || state == Z_STREAM_END ? read_header(head, taken, kind, &length) : 0;
    int result = -1;
    unsigned char *content = NULL;
    if (header > 0 && length < (uint64_t)LIMIT && taken - header <= length
        && (content = git_odb_backend_data_alloc(backend, (size_t)length + 1))) {
        memcpy(content, head + header, taken - header);
        // One byte more than the object has; otherwise the end of the stream would not be reached.
        stream.next_out = content + (taken - header);
        stream.avail_out = (uInt)(length + 1 - (taken - header));
        while (state == Z_OK && stream.avail_out > 0) state = inflate(&stream, Z_FINISH);
        if (state == Z_STREAM_END && stream.total_out == header + length) result = 0;
    }
    inflateEnd(&stream);
    if (result == 0) {
        content[length] = 0;
        *out = content;
        *size = (size_t)length;
    } else {
        git_odb_backend_data_free(backend, content);
    }
    return result;
}

static char *path_of(git_odb_backend *backend, const git_oid *id) {
    const char *folder = ((loose_reader *)backend)->folder;
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, id);
    size_t room = strlen(folder) + sizeof hex + 3;
    char *path = malloc(room);
    if (path) snprintf(path, room, "%s/%.2s/%s", folder, hex, hex + 2);
    return path;
}

static void say_damaged(const char *path) {
    char words[512];
    snprintf(words, sizeof words, "the object \"%s\" is damaged: its file is cut or has other bytes. "
        "`git fsck` finds all such; fetch them again", path);
    git_error_set_str(GIT_ERROR_ODB, words);
}

static int read_object(
    void **out, size_t *size, git_object_t *kind, git_odb_backend *backend, const git_oid *id) {
    size_t count = 0;
    char *path = path_of(backend, id);
    if (!path) return GIT_PASSTHROUGH;
    unsigned char *bytes = read_file(path, &count);
    int result = bytes ? inflate_object(out, size, kind, backend, bytes, count) : GIT_PASSTHROUGH;
    if (result == -1) say_damaged(path);
    free(bytes);
    free(path);
    return result;
}

// Reads only the kind and the size: a few bytes, however large the object is.
static int read_object_header(size_t *size, git_object_t *kind, git_odb_backend *backend, const git_oid *id) {
    char *path = path_of(backend, id);
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    unsigned char bytes[256];
    ssize_t count = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    int result = GIT_PASSTHROUGH;
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    stream.next_in = bytes;
    stream.avail_in = count > 0 ? (uInt)count : 0;
    if (count >= 0 && inflateInit(&stream) == Z_OK) {
        char head[64];
        stream.next_out = (Bytef *)head;
        stream.avail_out = sizeof head;
        int state = inflate(&stream, Z_SYNC_FLUSH);
        uint64_t length = 0;
        size_t taken = sizeof head - stream.avail_out;
        int is_read = (state == Z_OK || state == Z_STREAM_END) && read_header(head, taken, kind, &length) > 0;
        inflateEnd(&stream);
        result = is_read ? 0 : -1;
        if (is_read) *size = (size_t)length;
        else say_damaged(path);
    }
    if (file >= 0) close(file);
    free(path);
    return result;
}

static void free_reader(git_odb_backend *backend) {
    free(((loose_reader *)backend)->folder);
    free(backend);
}

int loose_objects_read(void *repository, const char *folder) {
    loose_reader *reader = calloc(1, sizeof *reader);
    git_odb *odb = NULL;
    if (!reader || !(reader->folder = strdup(folder))) {
        free(reader);
        return -1;
    }
    int failed = git_odb_init_backend(&reader->parent, GIT_ODB_BACKEND_VERSION);
    reader->parent.read = read_object;
    reader->parent.read_header = read_object_header;
    reader->parent.free = free_reader;
    if (!failed) failed = git_repository_odb(&odb, repository);
    // Packs have priority 2 and loose objects 1; among those with the same number an alternate comes first.
    if (!failed) failed = git_odb_add_alternate(odb, &reader->parent, 1);
    git_odb_free(odb);
    if (failed) free_reader(&reader->parent);
    return failed;
}
