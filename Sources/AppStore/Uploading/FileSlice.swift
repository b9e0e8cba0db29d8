import Concurrency
import NIOCore
import SystemPackage

/// A part of a file, as a sequence of buffers. It can be read several times.
struct FileSlice: AsyncSequence, Sendable {
    static let step = 1 << 20

    let file: SystemPackage.FileDescriptor
    let offset: Int
    let length: Int

    func makeAsyncIterator() -> Iterator { Iterator(slice: self) }

    struct Iterator: AsyncIteratorProtocol {
        let slice: FileSlice
        var done = 0

        mutating func next() async throws -> ByteBuffer? {
            guard done < slice.length else { return nil }
            let (file, start) = (slice.file, slice.offset + done)
            let count = Swift.min(FileSlice.step, slice.length - done)
            let bytes = try await offThread {
                try [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
                    written = try file.read(
                        fromAbsoluteOffset: Int64(start), into: UnsafeMutableRawBufferPointer(buffer))
                }
            }
            guard !bytes.isEmpty else { throw AppStoreError(.machine, "the file ends before its length") }
            done += bytes.count
            return ByteBuffer(bytes: bytes)
        }
    }
}
