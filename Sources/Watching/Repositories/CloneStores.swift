import CoreFoundation
import Workspaces
import StateFiles
package import Control
import Results
import Store
import Foundation

import Archive
import Git
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The daemon's stores for runs of clones: `NAME.clone-DIGEST.git` in the folder of mirrors.
package struct CloneStores: Sendable {
    /// An absolute path.
    package let mirrors: String

    package init(mirrors: String) {
        self.mirrors = mirrors
    }

    /// The path of the store for runs of the clone at `clone`.
    ///
    /// - Parameter name: The name of the repository that was cloned.
    package func path(for clone: String, of name: String) -> String {
        "\(mirrors)/\(name).clone-\(BytesDigest.sha256(Array(clone.utf8)).prefix(12)).git"
    }

    /// Stores whose clone was deleted, except those at the paths in `needed`. Blocks.
    ///
    /// A clone that can't be examined, for example below a folder without permissions, counts as existing. One on a
    /// disk that is not mounted counts as deleted; its next run makes the store again.
    package func abandoned(needed: Set<String>) -> [AbandonedStore] {
        names.filter { $0.contains(/\.clone-[0-9a-f]{12}\.git$/) && !needed.contains("\(mirrors)/\($0)") }
            .compactMap { name in
                guard let objects = Self.clone(of: "\(mirrors)/\(name)"), Self.isGone(objects) else { return nil }
                return AbandonedStore(name: name, clone: objects)
            }
    }

    /// Removes these stores, and returns those that are removed now. Blocks.
    package func remove(_ stores: [AbandonedStore]) -> [AbandonedStore] {
        stores.filter { (try? FileManager.default.removeItem(atPath: "\(mirrors)/\($0.name)")) != nil }
    }

    /// Removes the scratch files that killed merges left in any store more than an hour ago. Blocks.
    package func clearScratch() {
        for name in names where name.hasSuffix(".git") {
            MergeScratch.clear(ChangeMerger.scratchFolder("\(mirrors)/\(name)"))
        }
    }

    private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: mirrors)) ?? []).sorted() }

    /// The clone's objects folder, which is the first that its store borrows from; nil if the store names none.
    private static func clone(of store: String) -> String? {
        let text = (try? String(contentsOfFile: "\(store)/objects/info/alternates", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").first.map(String.init).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private static func isGone(_ path: String) -> Bool {
        access(path, F_OK) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }
}
