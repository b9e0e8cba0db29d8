import Foundation
import Sandbox
import Synchronization

/// What JSON files that seldom change say, decoded once: a watcher and a run ask for the same ones at every push.
final class DecodedFiles<Value: Sendable>: Sendable {
    private let most: Int
    private let known = Mutex<[String: Value]>([:])

    /// - Parameter most: How many are kept; with one more all are forgotten.
    init(most: Int = 64) { self.most = most }

    /// The value of a file's content, read once per process while the file's stamp stays the same.
    ///
    /// - Parameters:
    ///   - digest: What the file must be, in lower-case hexadecimal; nil for whatever it is.
    ///   - decode: Makes the value of the content; nil where it is none.
    /// - Returns: Nil when there is no such file, or it is another one than `digest` says, or no value.
    func value(in path: String, digest: String? = nil, _ decode: (Data) -> Value?) -> Value? {
        guard let found = try? FileDigest.of(file: path), digest.map({ $0 == found }) ?? true else { return nil }
        if let value = known.withLock({ $0[found] }) { return value }
        // Another one may have taken its place since: only what has the digest is kept under it.
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
