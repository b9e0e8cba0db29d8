import Foundation
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The output of an attempt in a file, for whoever follows it, now or over a later connection.
///
/// Up to ``capacity`` bytes, nothing is forgotten and the command waits for nobody. Beyond that, or on a full disk, the
/// command waits until the present follower has taken what makes room, and nobody can follow from the beginning any
/// more: ``isWhole`` is false.
final class OutputSpool: Sendable {
    /// What a follower finds.
    enum Piece: Equatable {
        case bytes([UInt8])
        /// There is nothing new yet.
        case nothing
        case end
        /// It was forgotten.
        case gone
    }

    private struct State {
        var file: FileDescriptor?
        /// How many bytes the command has printed.
        var count = 0
        /// The first byte in the file.
        var first = 0
        /// The bytes before this one were taken by the follower.
        var taken = 0
        var isWhole = true
        /// The last bytes, if the file could not take them.
        var rest: [UInt8] = []
        var isEnded = false
        var isClosed = false
    }

    static let usualCapacity = 256 << 20
    private static let mostBytes = 1 << 18

    private let path: String
    private let capacity: Int
    private let state = Mutex(State())
    private let change = NSCondition()

    /// - Parameter path: For a file that is made with the first byte, and has no name after that.
    init(_ path: String, capacity: Int = usualCapacity) { (self.path, self.capacity) = (path, capacity) }

    /// Whether all output is there from the beginning, and the command does not wait.
    var isWhole: Bool { state.withLock { $0.isWhole } }

    /// Appends output; waits for the follower if there is no room.
    func append(_ bytes: UnsafeRawBufferPointer) {
        var left = bytes[...]
        while !left.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: left.prefix(min(Self.mostBytes, capacity)))
            change.lock()
            while !state.withLock({ take(piece, &$0) }) { _ = change.wait(until: Date(timeIntervalSinceNow: 1)) }
            change.broadcast()
            change.unlock()
            left = left.dropFirst(piece.count)
        }
    }

    /// Notes that there will be no more output.
    func end() { update { $0.isEnded = true } }

    /// Lets nobody wait any more.
    func close() { update { $0.isClosed = true } }

    private func update(_ body: (inout State) -> Void) {
        change.lock()
        state.withLock { body(&$0) }
        change.broadcast()
        change.unlock()
    }

    /// Takes a piece; false if there is no room now.
    private func take(_ piece: UnsafeRawBufferPointer, _ state: inout State) -> Bool {
        if state.isClosed { return true }
        if !state.rest.isEmpty {
            guard state.taken >= state.count else { return false }
            (state.rest, state.first) = ([], state.count)
        }
        if state.count + piece.count - state.first > capacity {
            state.isWhole = false
            guard state.taken >= state.count + piece.count - capacity else { return false }
            state.first = state.taken
        }
        do { try write(piece, &state) } catch {
            state.isWhole = false
            state.rest = Array(piece)
        }
        state.count += piece.count
        return true
    }

    private func write(_ piece: UnsafeRawBufferPointer, _ state: inout State) throws {
        let file = try state.file ?? open()
        state.file = file
        let place = state.count % capacity
        let room = min(piece.count, capacity - place)
        _ = try file.writeAll(toAbsoluteOffset: Int64(place), UnsafeRawBufferPointer(rebasing: piece[..<room]))
        guard room < piece.count else { return }
        _ = try file.writeAll(toAbsoluteOffset: 0, UnsafeRawBufferPointer(rebasing: piece[room...]))
    }

    private func open() throws -> FileDescriptor {
        let file = try FileDescriptor.open(
            FilePath(path), .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
            permissions: .ownerReadWrite)
        unlink(path)
        return file
    }

    /// What comes at an offset; waits a second at most. The follower has taken everything before it.
    func next(from offset: Int) -> Piece {
        change.lock()
        defer { change.unlock() }
        if let piece = state.withLock({ found(at: offset, &$0) }) {
            change.broadcast()
            return piece
        }
        change.broadcast()
        _ = change.wait(until: Date(timeIntervalSinceNow: 1))
        return state.withLock { found(at: offset, &$0) } ?? .nothing
    }

    private func found(at offset: Int, _ state: inout State) -> Piece? {
        state.taken = offset
        if offset < state.first { return .gone }
        guard offset < state.count else { return state.isEnded || state.isClosed ? .end : nil }
        let inMemory = state.count - state.rest.count
        if offset >= inMemory { return .bytes(Array(state.rest[(offset - inMemory)...])) }
        guard let file = state.file else { return .gone }
        let place = offset % capacity
        let size = min(Self.mostBytes, inMemory - offset, capacity - place)
        let bytes = try? [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            filled = try file.read(fromAbsoluteOffset: Int64(place), into: UnsafeMutableRawBufferPointer(buffer))
        }
        guard let bytes, !bytes.isEmpty else { return .gone }
        return .bytes(bytes)
    }
}
