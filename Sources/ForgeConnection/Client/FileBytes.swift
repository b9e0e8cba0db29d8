import Concurrency
package import NIOCore
package import SystemPackage

/// The bytes of a file, read piece by piece off the cooperative pool, with bytes before and after them. It is read anew
/// by each iteration, so a request can be sent again.
package struct FileBytes: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    /// How many bytes are read at once.
    static let piece = 256 << 10

    package let path: FilePath
    /// Where it begins, in bytes.
    package let start: Int
    /// How many bytes of the file are read.
    package let length: Int
    package let before: [UInt8]
    package let after: [UInt8]

    package init(_ path: FilePath, from start: Int = 0, length: Int, before: [UInt8] = [], after: [UInt8] = []) {
        self.path = path
        self.start = start
        self.length = length
        self.before = before
        self.after = after
    }

    /// All bytes, with those before and after.
    package var count: Int { before.count + length + after.count }

    package func makeAsyncIterator() -> Iterator { Iterator(of: self) }

    package struct Iterator: AsyncIteratorProtocol {
        private let bytes: FileBytes
        private var isBegun = false
        private var read = 0
        private var isEnded = false

        init(of bytes: FileBytes) { self.bytes = bytes }

        /// - Throws: `Errno`: `.ioError` where the file is shorter than was said.
        package mutating func next() async throws -> ByteBuffer? {
            if !isBegun {
                isBegun = true
                if !bytes.before.isEmpty { return ByteBuffer(bytes: bytes.before) }
            }
            if read < bytes.length {
                let (path, offset) = (bytes.path, bytes.start + read)
                let most = Swift.min(FileBytes.piece, bytes.length - read)
                let piece = try await offThread { try Self.piece(of: path, at: offset, most: most) }
                read += piece.readableBytes
                return piece
            }
            guard !isEnded else { return nil }
            isEnded = true
            return bytes.after.isEmpty ? nil : ByteBuffer(bytes: bytes.after)
        }

        private static func piece(of path: FilePath, at offset: Int, most: Int) throws -> ByteBuffer {
            let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            return try descriptor.closeAfter {
                var buffer = ByteBuffer()
                var failure: (any Error)?
                buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: most) { room in
                    do {
                        return try descriptor.read(
                            fromAbsoluteOffset: Int64(offset),
                            into: UnsafeMutableRawBufferPointer(rebasing: room[..<most]))
                    } catch {
                        failure = error
                        return 0
                    }
                }
                if let failure { throw failure }
                guard buffer.readableBytes > 0 else { throw Errno.ioError }
                return buffer
            }
        }
    }
}
