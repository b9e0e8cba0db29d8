internal import Foundation

/// A file of the daemon's own that no process writes any more, mapped into memory. It is unmapped when the value ends.
///
/// Foundation's mapped `Data` reads the file first, which takes longer than everything that is done with it.
package struct MappedFile: ~Copyable {
    package let bytes: UnsafeRawBufferPointer

    /// - Throws: `.notFound` if the file can't be read.
    package init(_ path: String) throws(GitError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw MappedFile.problem(path) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw MappedFile.problem(path) }
        // An empty file can't be mapped.
        guard info.st_size > 0 else {
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        #if os(Linux)
            // The whole file is read, so one call replaces a page fault for every sixteen pages.
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
