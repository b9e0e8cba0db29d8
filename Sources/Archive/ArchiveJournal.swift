import Store
internal import Crypto
internal import Foundation
internal import Git
internal import Synchronization

/// A small run on its way into the archive: all that is new, and the ref that names it.
struct JournalRecord: Sendable, Equatable {
    var ref: String
    var commit: OID
    var objects: [LooseObject]
}

/// A write-ahead log of what was put into `archive.git` and not flushed there yet.
///
/// A run is four files and a ref, each of which a disk wants flushed with its folder, eleven flushes in all. Here all of
/// it is one record, with one flush of a file that never grows; then the files are written as usual, without a flush, and
/// everybody can read them. After a power cut any of them may be gone: ``ArchiveStore/recover()`` writes again what the
/// records have. ``beginFlush()`` and ``endFlush(_:)`` flush them together, when nobody waits, and empty the journal.
///
/// The file has a record after the other, from its beginning:
/// - 4 bytes `PCJ1`; the length of the content, 4 bytes, little-endian
/// - its number, 8 bytes, little-endian: one more than that of the record before. What is left of older ones ends the
///   list so.
/// - SHA-256 of number and content
/// - the content: see ``JournalRecord/content``
final class ArchiveJournal: Sendable {
    /// Bytes of the file.
    static let size = 4 << 20

    let path: String
    private let state = Mutex(State())
    /// The number through which records are on disk. One at a time flushes: of two, only one is told of an error.
    private let flushed = Mutex<UInt64>(0)

    /// One element when the first record was written since the journal was empty.
    let news: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    private struct State {
        /// Nil before ``open()``.
        var file: Int32?
        /// Whether the disk has refused something since the journal was empty: no record is taken then.
        var isBroken = false
        /// Whether it was a flush of the files: another one would say that all is well, and they must be written anew.
        var isDoubtful = false
        var position = 0
        var number = UInt64.random(in: 0 ... .max >> 1)
        /// Records whose files are being written.
        var underway = 0
        var isFlushing = false
        /// Goes on when no record is underway.
        var drained: CheckedContinuation<Void, Never>?
        /// Go on when nobody flushes.
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Files and folders that are written and not flushed.
        var paths: Set<String> = []
        /// Counts records, for those who wait for a rest.
        var written = 0

        var isEmpty: Bool { position == 0 && !isBroken }
    }

    /// - Parameter repository: The folder of `archive.git`; who moves that away moves the journal with it.
    init(repository: String) {
        path = repository + "/pipectl-journal"
        (news, tell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit {
        if let file = state.withLock({ $0.file }) { close(file) }
    }

    /// Takes records from now on. Only for the one process that may write to the archive, after
    /// ``ArchiveStore/recover()``. Where there can be no journal, each run is flushed by itself.
    func open() {
        guard state.withLock({ $0.file == nil }) else { return }
        var status = stat()
        if stat(path, &status) != 0 || Int(status.st_size) != Self.size { make() }
        let file = Foundation.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return }
        state.withLock { $0.file = file }
    }

    /// All of it is written once, so that a record changes nothing but bytes: neither the file's size nor its places.
    private func make() {
        let new = path + ".new"
        do {
            try Data(count: Self.size).write(to: URL(fileURLWithPath: new))
            try ObjectBatch.flush([new])
            guard rename(new, path) == 0 else { throw unusable("made", String(cString: strerror(errno))) }
            try ObjectBatch.flush([(path as NSString).deletingLastPathComponent])
        } catch {
            unlink(new)
        }
    }

    // MARK: Writing

    /// Writes a record down; it is on disk when this returns true, and ``placed(_:)`` must follow.
    ///
    /// False where it can't be: there is no room, or no journal. Then the caller flushes what it writes.
    func append(_ record: JournalRecord) -> Bool {
        let content = record.content
        let mine: (file: Int32, number: UInt64)? = state.withLock { state in
            guard let file = state.file, !state.isBroken, !state.isFlushing,
                state.position + Self.header + content.count <= Self.size
            else { return nil }
            state.number += 1
            let bytes = Self.framed(content, state.number)
            guard Self.write(bytes, at: state.position, to: file) else {
                state.isBroken = true
                return nil
            }
            if state.position == 0 { tell.yield() }
            state.position += bytes.count
            state.underway += 1
            state.written += 1
            return (file, state.number)
        }
        guard let mine else { return false }
        let isOnDisk = flushed.withLock { flushed in
            let last = state.withLock { $0.isBroken ? nil : $0.number }
            // Another one may have flushed both.
            guard let last, flushed < mine.number else { return last != nil }
            guard Self.flush(mine.file) else {
                state.withLock { $0.isBroken = true }
                return false
            }
            flushed = last
            return true
        }
        if !isOnDisk { placed([]) }
        return isOnDisk
    }

    /// The files of a record have their names: they and their folders are to be flushed.
    func placed(_ paths: Set<String>) {
        let drained: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.underway -= 1
            state.paths.formUnion(paths)
            guard state.underway == 0 else { return nil }
            defer { state.drained = nil }
            return state.drained
        }
        drained?.resume()
    }

    /// Bytes of objects that one record may have, 0 when none is taken; larger runs are flushed by themselves.
    var mostOfRecord: Int { state.withLock { $0.file == nil ? 0 : 64 << 10 } }

    /// How many records were written since the start, and whether half of the room is taken; nil when it is empty.
    var load: (written: Int, isHalfFull: Bool)? {
        state.withLock { $0.isEmpty ? nil : ($0.written, $0.position > Self.size / 2) }
    }

    // MARK: Emptying

    /// What is on disk in the journal only.
    enum Unflushed: Equatable {
        /// Files and folders that are written.
        case paths(Set<String>)
        /// What all records have: a flush has failed, and what is written is not to be trusted.
        case records
    }

    /// What is to be flushed; no record is taken until ``endFlush(_:)``. Nil when there is nothing; who flushes already is
    /// waited for.
    func beginFlush() async -> Unflushed? {
        while state.withLock({ $0.isFlushing }) {
            await withCheckedContinuation { continuation in
                let isFlushing = state.withLock { state in
                    if state.isFlushing { state.waiting.append(continuation) }
                    return state.isFlushing
                }
                if !isFlushing { continuation.resume() }
            }
        }
        let isMine = state.withLock { state in
            guard !state.isEmpty, !state.isFlushing else { return false }
            state.isFlushing = true
            return true
        }
        guard isMine else { return load == nil ? nil : await beginFlush() }
        await withCheckedContinuation { continuation in
            let isDrained = state.withLock { state in
                if state.underway > 0 { state.drained = continuation }
                return state.underway == 0
            }
            if isDrained { continuation.resume() }
        }
        return state.withLock { $0.isDoubtful ? .records : .paths($0.paths) }
    }

    /// Everything that ``beginFlush()`` gave is on disk, and the records go; or it is not, and they stay.
    ///
    /// - Returns: Whether the journal is empty. It is not either when the disk refuses that.
    func endFlush(_ isFlushed: Bool) -> Bool {
        let (isEmpty, waiting) = state.withLock { state in
            let isEmpty = isFlushed && state.file.map(Self.empty) ?? true
            if isEmpty {
                state.paths = []
                state.position = 0
            }
            state.isBroken = !isEmpty
            state.isDoubtful = !isEmpty && (state.isDoubtful || !isFlushed)
            state.isFlushing = false
            defer { state.waiting = [] }
            return (isEmpty, state.waiting)
        }
        for one in waiting { one.resume() }
        return isEmpty
    }

    /// Without its first record it has none.
    private static func empty(_ file: Int32) -> Bool {
        write([UInt8](repeating: 0, count: header), at: 0, to: file) && flush(file)
    }

    private static func flush(_ file: Int32) -> Bool {
        #if os(Linux)
            fdatasync(file) == 0
        #else
            fsync(file) == 0
        #endif
    }

    // MARK: Reading

    /// The whole records of the file, in their order; none where there is no file.
    func records() throws -> [JournalRecord] {
        guard let file = try handle(O_RDONLY) else { return [] }
        do {
            let start = try file.read(upToCount: Self.magic.count) ?? Data()
            guard start.elementsEqual(Self.magic) else { return [] }
            return Self.records(in: [UInt8](start + (try file.readToEnd() ?? Data())))
        } catch { throw unusable("read", error.localizedDescription) }
    }

    static func records(in bytes: [UInt8]) -> [JournalRecord] {
        var records: [JournalRecord] = []
        var (position, last): (Int, UInt64?) = (0, nil)
        while let (number, content) = frame(in: bytes[position...]), last.map({ number == $0 + 1 }) ?? true,
            let record = JournalRecord(content: content)
        {
            records.append(record)
            (position, last) = (content.endIndex, number)
        }
        return records
    }

    /// Empties the file of one who does not take records.
    func clear() throws {
        guard let file = try handle(O_RDWR) else { return }
        // Its last use otherwise would be the question for its number.
        defer { try? file.close() }
        guard Self.empty(file.fileDescriptor) else { throw unusable("emptied", String(cString: strerror(errno))) }
    }

    /// The file, open; nil where there is none.
    private func handle(_ mode: Int32) throws -> FileHandle? {
        let file = Foundation.open(path, mode | O_CLOEXEC | O_NOFOLLOW)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw unusable("opened", String(cString: strerror(errno))) }
        return FileHandle(fileDescriptor: file, closeOnDealloc: true)
    }

    func unusable(_ verb: String, _ reason: String) -> ArchiveError {
        ArchiveError(
            .unusableArchive,
            "\"\(path)\" can't be \(verb): \(reason). It may have runs that the archive lost at a power loss. "
                + "Check its owner and the disk; if it is not a file, move it away.")
    }

    // MARK: Records

    private static let magic = Array("PCJ1".utf8)
    private static let header = 4 + 4 + 8 + SHA256.byteCount

    static func framed(_ content: [UInt8], _ number: UInt64) -> [UInt8] {
        let numbered = littleEndian(number) + content
        return magic + littleEndian(UInt32(content.count)) + littleEndian(number) + Array(SHA256.hash(data: numbered))
            + content
    }

    private static func frame(in bytes: ArraySlice<UInt8>) -> (number: UInt64, content: ArraySlice<UInt8>)? {
        var rest = bytes
        guard rest.take(4).elementsEqual(magic), let length: UInt32 = rest.takeInteger(),
            let number: UInt64 = rest.takeInteger()
        else { return nil }
        let digest = rest.take(SHA256.byteCount)
        let content = rest.take(Int(length))
        guard content.count == Int(length), digest.elementsEqual(SHA256.hash(data: littleEndian(number) + content))
        else {
            return nil
        }
        return (number, content)
    }

    private static func write(_ bytes: [UInt8], at position: Int, to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(file, $0.baseAddress?.advanced(by: done), $0.count - done, off_t(position + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

extension JournalRecord {
    /// The length of the ref's name, 4 bytes; the name; the commit's id, 20 bytes; for each object its id, the length of
    /// its bytes, 4 bytes, and the bytes. Lengths are little-endian.
    var content: [UInt8] {
        var content = littleEndian(UInt32(ref.utf8.count)) + Array(ref.utf8) + commit.bytes
        for object in objects { content += object.id.bytes + littleEndian(UInt32(object.bytes.count)) + object.bytes }
        return content
    }

    init?(content: ArraySlice<UInt8>) {
        var rest = content
        guard let length: UInt32 = rest.takeInteger(),
            let ref = String(validating: rest.take(Int(length)), as: UTF8.self),
            let commit = OID(bytes: rest.take(20))
        else { return nil }
        (self.ref, self.commit, objects) = (ref, commit, [])
        while !rest.isEmpty {
            guard let id = OID(bytes: rest.take(20)), let length: UInt32 = rest.takeInteger() else { return nil }
            let bytes = rest.take(Int(length))
            guard bytes.count == Int(length) else { return nil }
            objects.append(LooseObject(id: id, bytes: Array(bytes)))
        }
    }
}

private func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

extension ArraySlice<UInt8> {
    /// Removes the first `count` bytes, or as many as there are, and returns them.
    fileprivate mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let taken = prefix(count)
        self = self[taken.endIndex...]
        return taken
    }

    fileprivate mutating func takeInteger<Value: FixedWidthInteger>() -> Value? {
        let bytes = take(MemoryLayout<Value>.size)
        guard bytes.count == MemoryLayout<Value>.size else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Value($1) }
    }
}
