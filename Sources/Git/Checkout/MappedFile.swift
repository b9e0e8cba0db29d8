internal import Foundation

/// A file of the box's own that nobody writes to any more, as memory; unmapped when it goes.
///
/// Foundation's mapped `Data` is read into memory first, which takes longer than all that is done with it.
struct MappedFile: ~Copyable {
    let bytes: UnsafeRawBufferPointer

    /// - Throws: `.notFound` when it can't be read.
    init(_ path: String) throws(GitError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw MappedFile.problem(path) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw MappedFile.problem(path) }
        // Nothing can't be mapped.
        guard info.st_size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        #if os(Linux)
            // All of it is read: one call instead of a fault for every sixteen pages.
            let flags = MAP_PRIVATE | MAP_POPULATE
        #else
            let flags = MAP_PRIVATE
        #endif
        guard let start = mmap(nil, Int(info.st_size), PROT_READ, flags, descriptor, 0), start != MAP_FAILED else {
            throw MappedFile.problem(path)
        }
        bytes = UnsafeRawBufferPointer(start: start, count: Int(info.st_size))
    }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }

    private static func problem(_ path: String) -> GitError {
        GitError(
            call: "index", code: .notFound, message: "\"\(path)\" can't be read: \(String(cString: strerror(errno))).")
    }
}
