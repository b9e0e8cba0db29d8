import Foundation
import Pipeline
import Synchronization

/// What compiled workflows said of themselves, read once: a watcher and a run ask for the same one at every push.
enum ReadDescriptions {
    private static let most = 64
    private static let known = Mutex<[String: ProgramDescription]>([:])

    /// - Parameters:
    ///   - digest: Of the file's content, in lower-case hexadecimal.
    /// - Returns: Nil when the file isn't a description, or another one than the digest says.
    static func description(_ digest: String, in path: String) -> ProgramDescription? {
        if let description = known.withLock({ $0[digest] }) { return description }
        guard let content = try? Data(contentsOf: URL(fileURLWithPath: path)), FileDigest.of(content) == digest,
            let description = try? JSONDecoder().decode(ProgramDescription.self, from: content)
        else { return nil }
        known.withLock { known in
            if known.count >= most { known = [:] }
            known[digest] = description
        }
        return description
    }
}
