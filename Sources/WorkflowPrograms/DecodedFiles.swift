import Foundation
import Sandbox
import Synchronization

/// Decoded JSON files that seldom change, read once: a watcher and a run need the same ones at every push.
final class DecodedFiles<Value: Sendable>: Sendable {
    private let most: Int
    private let known = Mutex<[String: Value]>([:])

    /// - Parameter most: Maximum number of decoded files; when it is reached, all are dropped.
    init(most: Int = 64) { self.most = most }

    /// The decoded content of a file, read once per process as long as the file's stamp stays the same.
    ///
    /// - Parameters:
    ///   - digest: The digest that the file must have, in lower-case hexadecimal; nil for any.
    ///   - decode: Decodes the content; returns nil if it is not valid.
    /// - Returns: Nil if there is no such file, if it has another digest, or if it is not valid.
    func value(in path: String, digest: String? = nil, _ decode: (Data) -> Value?) -> Value? {
        guard let found = try? FileDigest.of(file: path), digest.map({ $0 == found }) ?? true else { return nil }
        if let value = known.withLock({ $0[found] }) { return value }
        // Another file may have taken its place since, so only content with the right digest is stored under it.
        guard let content = try? Data(contentsOf: URL(fileURLWithPath: path)), FileDigest.of(content) == found,
            let value = decode(content)
        else { return nil }
        known.withLock { known in
            if known.count >= most { known = [:] }
            known[found] = value
        }
        return value
    }
}
