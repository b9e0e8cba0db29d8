import CGit
import Foundation

/// Runs one libgit2 call; a negative result becomes a ``GitError`` that names the call.
@discardableResult
func git(_ call: String, _ body: () -> Int32) throws(GitError) -> Int32 {
    LibGit2.start()
    let code = body()
    guard code < 0 else { return code }
    // The message belongs to this thread until its next failure, so it is copied and cleared.
    defer { git_error_clear() }
    let last = git_error_last()
    let message = last.flatMap { $0.pointee.message }.map { String(cString: $0) }
    throw GitError(
        call: call, code: GitError.Code(rawValue: code), message: message,
        systemError: last.flatMap { GitError.systemError(class: $0.pointee.klass, message: message) })
}

/// Runs one libgit2 call that may find nothing. Returns false then, and true if it found something.
func gitFinds(_ call: String, _ body: () -> Int32) throws(GitError) -> Bool {
    do {
        try git(call, body)
        return true
    } catch {
        if error.code == .notFound { return false }
        throw error
    }
}

/// One owned libgit2 object. It is freed once, never copied, and never outlives its repository.
struct Handle: ~Copyable {
    typealias Release = @convention(c) (OpaquePointer?) -> Void

    let pointer: OpaquePointer
    private let release: Release

    /// Makes the object with `make`, which fills the pointer it is given; `release` is its `git_…_free`.
    init(
        _ call: String, free release: Release, _ make: (inout OpaquePointer?) -> Int32
    ) throws(GitError) {
        var out: OpaquePointer?
        try git(call) { make(&out) }
        guard let out else { throw GitError(call: call, code: .failed, message: nil) }
        pointer = out
        self.release = release
    }

    deinit { release(pointer) }

    /// Passes the object to the caller, who must free it.
    consuming func take() -> OpaquePointer {
        let pointer = pointer
        discard self
        return pointer
    }
}

/// Lends `strings` to one call, as a `git_strarray`.
func withStringArray<R>(_ strings: [String], _ body: (UnsafeMutablePointer<git_strarray>) -> R) -> R {
    var pointers = strings.map { strdup($0) }
    defer { pointers.forEach { free($0) } }
    return pointers.withUnsafeMutableBufferPointer { pointers in
        var array = git_strarray(strings: pointers.baseAddress, count: pointers.count)
        return body(&array)
    }
}

/// Lends paths of any bytes to one call.
func withPaths(_ paths: [[UInt8]], _ body: (git_strarray) -> Int32) -> Int32 {
    var pointers = paths.map { path in strdup(path.map { CChar(bitPattern: $0) } + [0]) }
    defer { pointers.forEach { free($0) } }
    return pointers.withUnsafeMutableBufferPointer { pointers in
        body(git_strarray(strings: pointers.baseAddress, count: pointers.count))
    }
}

/// Calls `body` with a path in libgit2's form: bytes that end with a zero.
func withPath(_ path: [UInt8], _ body: (UnsafePointer<CChar>?) -> Int32) -> Int32 {
    (path + [0]).withUnsafeBufferPointer { path in
        path.withMemoryRebound(to: CChar.self) { body($0.baseAddress) }
    }
}
