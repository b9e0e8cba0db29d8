import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Messages that go out at a descriptor, one a line, each as a whole.
public struct LineOutput: Sendable {
    private let descriptor: Int32
    /// Serial: lines neither mix nor overtake one another, and a reader that is slow blocks no task of ours.
    private let queue = DispatchQueue(label: "lines out")

    public init(descriptor: Int32 = 1) { self.descriptor = descriptor }

    /// Returns when the kernel has it; a reader that is gone takes it too.
    func send(_ message: JSON) async {
        let line = message.bytes + [UInt8(ascii: "\n")]
        let descriptor = descriptor
        await withCheckedContinuation { continuation in
            queue.async {
                var rest = line[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    rest = rest.dropFirst(count)
                }
                continuation.resume()
            }
        }
    }
}
