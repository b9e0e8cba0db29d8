internal import CGit
internal import Foundation

/// An object in the form of its own file: kind, size and content, compressed by zlib.
public struct LooseObject: Sendable, Equatable {
    /// The SHA-1 of kind, size and content.
    public var id: OID
    /// The content of the file.
    public var bytes: [UInt8]

    public init(id: OID, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}

/// New objects of a repository that are written first and flushed together.
///
/// libgit2 flushes each object and its folder before it writes the next one, and each flush waits for the disk. Here
/// all bytes are on their way before the first flush, so that nearly all flushes find nothing left to do. The guarantee
/// is the same: an object gets its name when its bytes are on disk, and after ``finish()`` all names are on disk, too.
/// Objects of more than ``sizeLimit`` bytes are written by libgit2.
///
/// A caller that can write a few small objects again from another place holds them back (``held``), and ends with
/// ``place()`` instead.
public final class ObjectBatch {
    /// The largest object, in bytes, that is made in memory.
    static let sizeLimit = 1 << 20

    private let repository: Repository
    private let folder: String
    /// The number of bytes that may still be held back.
    private var room: Int
    private var files: [(descriptor: Int32, path: String, id: OID)] = []
    private var added: Set<OID> = []
    /// Folders of objects that existed before. Another process may have written them without a flush.
    private var known: Set<String> = []
    /// The objects so far, including those that the repository has; nil if they exceeded the limit of
    /// ``init(_:holding:)``.
    public private(set) var held: [LooseObject]?
    /// The files that ``place()`` gave their names, and their folders: the argument for ``flush(_:)``.
    public private(set) var placed: Set<String> = []

    /// - Parameter holding: The most bytes, compressed, that are held back in memory.
    public init(_ repository: Repository, holding: Int = 0) {
        self.repository = repository
        room = holding
        folder = repository.commonDirectory + "/objects"
        held = holding > 0 ? [] : nil
    }

    deinit { forget() }

    /// Adds `bytes` as a file's content and returns the blob's id.
    public func add(blob bytes: [UInt8]) throws(GitError) -> OID {
        if bytes.count > Self.sizeLimit {
            try letGo()
            return try repository.createBlob(bytes)
        }
        return try add(bytes, GIT_OBJECT_BLOB, "blob")
    }

    /// Adds the bytes of the regular file at `path`, without filters. A symbolic link is refused.
    public func add(blobFromFile path: String) throws(GitError) -> OID {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        var facts = stat()
        guard file >= 0, fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= Self.sizeLimit
        else {
            if file >= 0 { close(file) }
            try letGo()
            return try repository.createBlob(fromFile: path)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress?.advanced(by: done), $0.count - done) }
            guard count > 0 else { throw problem("read", path) }
            done += count
        }
        return try add(blob: bytes)
    }

    /// Adds a tree, nested according to the slashes in the paths, by the rules of ``Repository/createTree(_:)``.
    public func add(tree files: [String: TreeFile]) throws(GitError) -> OID {
        try add(
            tree: files.map { (path: $0.key.split(separator: "/", omittingEmptySubsequences: false), file: $0.value) })
    }

    private func add(tree files: [(path: [Substring], file: TreeFile)]) throws(GitError) -> OID {
        var entries: [(key: [UInt8], line: [UInt8])] = []
        for (name, inside) in Dictionary(grouping: files, by: { $0.path.first ?? "" }) {
            let isWhole = inside.count == 1 && inside[0].path.count == 1
            guard !["", ".", ".."].contains(name), name.lowercased() != ".git", !name.utf8.contains(0),
                isWhole || inside.allSatisfy({ $0.path.count > 1 })
            else {
                throw GitError(
                    call: "ObjectBatch", code: .invalidName,
                    message: "\"\(inside[0].path.joined(separator: "/"))\" cannot be a file of a tree: a part of it is "
                        + "empty, \".\", \"..\", \".git\" or also a file. Choose another name.")
            }
            let id =
                isWhole
                ? inside[0].file.blob
                : try add(tree: inside.map { (path: Array($0.path.dropFirst()), file: $0.file) })
            let mode = isWhole ? (inside[0].file.isExecutable ? "100755" : "100644") : "40000"
            // Git compares a folder's name as if it ended with a slash.
            entries.append(
                (Array(name.utf8) + (isWhole ? [] : [0x2f]), Array("\(mode) \(name)\0".utf8) + id.bytes))
        }
        entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
        return try add(entries.flatMap(\.line), GIT_OBJECT_TREE, "tree")
    }

    /// Adds a commit without parents. No ref is moved.
    public func add(commitOf tree: OID, by author: Signature, message: String) throws(GitError) -> OID {
        guard !message.utf8.contains(0), !author.name.contains(where: "<>\n\0".contains) else {
            throw GitError(
                call: "ObjectBatch", code: .invalidName,
                message: "The message of a commit contains NUL, or the author's name contains <, >, a line feed or NUL."
            )
        }
        let minutes = abs(author.offsetMinutes)
        let zone = String(format: "%@%02d%02d", author.offsetMinutes < 0 ? "-" : "+", minutes / 60, minutes % 60)
        let who = "\(author.name) <\(author.email)> \(Int(author.time.timeIntervalSince1970.rounded(.down))) \(zone)"
        let text = "tree \(tree.hex)\nauthor \(who)\ncommitter \(who)\n\n\(message)"
        return try add(Array(text.utf8), GIT_OBJECT_COMMIT, "commit")
    }

    /// Flushes all objects and gives them their names. They are on disk when this returns.
    public func finish() throws(GitError) {
        try letGo()
        for file in files where fsync(file.descriptor) != 0 { throw problem("write", file.path) }
        var places: Set<String> = []
        for file in files { try name(file.path, file.id, &places) }
        // Before the folders are opened, because there may be no descriptors left for them.
        for file in files { close(file.descriptor) }
        files = []
        try Self.flush(places.union(known))
        known = []
    }

    /// Gives the objects that are held back their names, without a flush. After a power cut any of them may be missing
    /// or empty. ``placed`` is what must still be flushed, also if this throws. Only while ``held`` is not nil.
    public func place() throws(GitError) {
        let objects = held ?? []
        held = []
        for object in objects {
            let path = repository.looseFile(of: object.id)
            placed.formUnion([path, (path as NSString).deletingLastPathComponent])
            if repository.contains(object.id) { continue }
            let file = try make(object)
            close(file.descriptor)
            do { try name(file.path, object.id, &placed) } catch {
                unlink(file.path)
                throw error
            }
        }
    }

    /// Writes an object that was held back before, even if the repository has it.
    public func rewrite(_ object: LooseObject) throws(GitError) { try write(object) }

    /// Flushes files and folders. Those that no longer exist are ignored.
    public static func flush(_ paths: Set<String>) throws(GitError) {
        // All bytes are on their way before the first flush. Only one descriptor is open at a time, because there may
        // be few.
        for path in paths { try withDescriptor(path) { cgit_begin_write($0) } }
        for path in paths {
            try withDescriptor(path) { file throws(GitError) in
                guard fsync(file) == 0 else { throw problem("write", path) }
            }
        }
    }

    private static func withDescriptor(
        _ path: String, _ body: (Int32) throws(GitError) -> Void
    ) throws(GitError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0, errno == ENOENT { return }
        guard file >= 0 else { throw problem("open", path) }
        defer { close(file) }
        try body(file)
    }

    private func add(_ content: [UInt8], _ kind: git_object_t, _ name: String) throws(GitError) -> OID {
        var raw = git_oid()
        try git("git_odb_hash") { content.withUnsafeBytes { git_odb_hash(&raw, $0.baseAddress, $0.count, kind) } }
        let id = OID(raw)
        if added.contains(id) { return id }
        // ``held`` must contain every object, because another process may have written the existing ones without a
        // flush.
        if held == nil, isThere(id) { return id }
        let object = LooseObject(id: id, bytes: try Self.compressed(Array("\(name) \(content.count)\0".utf8) + content))
        added.insert(id)
        room -= object.bytes.count
        if held != nil, room >= 0 {
            held?.append(object)
        } else {
            try letGo()
            if !isThere(id) { try write(object) }
        }
        return id
    }

    private func isThere(_ id: OID) -> Bool {
        guard repository.contains(id) else { return false }
        known.insert((repository.looseFile(of: id) as NSString).deletingLastPathComponent)
        return true
    }

    /// Writes what was held back. From then on each object is written when it is added.
    private func letGo() throws(GitError) {
        guard let objects = held else { return }
        held = nil
        for object in objects where !isThere(object.id) { try write(object) }
    }

    private func write(_ object: LooseObject) throws(GitError) {
        let file = try make(object)
        cgit_begin_write(file.descriptor)
        files.append((file.descriptor, file.path, object.id))
        // Descriptors are few, and other code needs some, too. A run with hundreds of logs flushes several times.
        if files.count == 16 { try finish() }
    }

    /// An open file with an object's bytes that does not have the object's name yet.
    private func make(_ object: LooseObject) throws(GitError) -> (descriptor: Int32, path: String) {
        let path = "\(folder)/tmp_object_git2_\(object.id.hex.prefix(12))\(UInt64.random(in: .min ... .max))"
        func make() -> Int32 { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o444) }
        var file = make()
        if file < 0, [EMFILE, ENFILE].contains(errno), !files.isEmpty {
            try finish()
            file = make()
        }
        guard file >= 0 else { throw problem("make", path) }
        var done = 0
        while done < object.bytes.count {
            let count = object.bytes.withUnsafeBytes {
                Foundation.write(file, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            guard count > 0 else {
                let failed = problem("write", path)
                close(file)
                unlink(path)
                throw failed
            }
            done += count
        }
        return (file, path)
    }

    /// Gives a file its object's name, and returns the folders that changed.
    private func name(_ file: String, _ id: OID, _ places: inout Set<String>) throws(GitError) {
        let path = repository.looseFile(of: id)
        let place = (path as NSString).deletingLastPathComponent
        if rename(file, path) != 0 {
            // It exists already, except for the first objects.
            guard errno == ENOENT else { throw problem("make", path) }
            guard mkdir(place, 0o755) == 0 || errno == EEXIST else { throw problem("make", place) }
            places.insert(folder)
            guard rename(file, path) == 0 else { throw problem("make", path) }
        }
        places.insert(place)
    }

    static func compressed(_ content: [UInt8]) throws(GitError) -> [UInt8] {
        var size = cgit_compress_bound(content.count)
        var bytes = [UInt8](repeating: 0, count: size)
        let failed = content.withUnsafeBytes { from in
            bytes.withUnsafeMutableBytes { to in cgit_compress(to.baseAddress, &size, from.baseAddress, from.count) }
        }
        guard failed == 0 else { throw GitError(call: "compress2", code: .failed, message: "zlib error \(failed)") }
        bytes.removeLast(bytes.count - size)
        return bytes
    }

    /// Removes files of objects that were not finished.
    private func forget() {
        for file in files {
            close(file.descriptor)
            unlink(file.path)
        }
    }

    private func problem(_ verb: String, _ path: String) -> GitError { Self.problem(verb, path) }

    private static func problem(_ verb: String, _ path: String) -> GitError {
        let reason = String(cString: strerror(errno))
        return GitError(
            call: "ObjectBatch", code: .failed,
            message: "could not \(verb) \"\(path)\": \(reason). Check its owner and the free space.")
    }
}
