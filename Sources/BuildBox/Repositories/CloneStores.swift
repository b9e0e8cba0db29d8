import Workspaces
import StateFiles
import SystemCalls
import Control
import Results
import Store
import Foundation

import Archive
import Engine
import Git

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The box's own stores for runs of clones: `NAME.clone-DIGEST.git` in the folder of mirrors.
struct CloneStores: Sendable {
    /// Absolute.
    let mirrors: String

    /// Where the store for runs of the clone at `clone` is.
    ///
    /// - Parameter name: The repository that the clone came from.
    func path(for clone: String, of name: String) -> String {
        "\(mirrors)/\(name).clone-\(BytesDigest.sha256(Array(clone.utf8)).prefix(12)).git"
    }

    /// Stores whose clone is gone, but for those at the paths in `needed`. Blocks.
    ///
    /// A clone that can't be looked at, as where a folder above it is closed to us, counts as there. One on a disk that
    /// is not mounted counts as gone: its next run makes the store again.
    func abandoned(needed: Set<String>) -> [AbandonedStore] {
        names.filter { $0.contains(/\.clone-[0-9a-f]{12}\.git$/) && !needed.contains("\(mirrors)/\($0)") }
            .compactMap { name in
                guard let objects = Self.clone(of: "\(mirrors)/\(name)"), Self.isGone(objects) else { return nil }
                return AbandonedStore(name: name, clone: objects)
            }
    }

    /// Removes these stores, and returns those that are gone now. Blocks.
    func remove(_ stores: [AbandonedStore]) -> [AbandonedStore] {
        stores.filter { (try? FileManager.default.removeItem(atPath: "\(mirrors)/\($0.name)")) != nil }
    }

    /// Removes what killed merges left in any store more than an hour ago. Blocks.
    func clearScratch() {
        for name in names where name.hasSuffix(".git") {
            MergeScratch.clear(ChangeMerger.scratchFolder("\(mirrors)/\(name)"))
        }
    }

    private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: mirrors)) ?? []).sorted() }

    /// The clone's folder of objects, which is the first that its store borrows; nil where the store names none.
    private static func clone(of store: String) -> String? {
        let text = (try? String(contentsOfFile: "\(store)/objects/info/alternates", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").first.map(String.init).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private static func isGone(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }
}

extension Box {
    /// Stores of clones that are gone, and that no run needs: neither one that waits or runs, nor the retained workspace
    /// of one that failed.
    func abandonedStores() async throws -> [AbandonedStore] {
        let stores = CloneStores(mirrors: state.mirrors)
        var needed: Set<String> = []
        for run in try await index.runs(RunFilter(states: [.queued, .running], limit: .max)) {
            guard let request = try await index.run(run.id)?.request, let clone = request.source else { continue }
            needed.insert(stores.path(for: clone, of: request.repository))
        }
        for one in await kept.all {
            needed.formUnion(one.objects.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path })
        }
        return try await offThread { [needed] in stores.abandoned(needed: needed) }
    }

    /// Removes these stores and what killed merges left; returns the stores that are gone now.
    func remove(_ abandoned: [AbandonedStore]) async throws -> [AbandonedStore] {
        let stores = CloneStores(mirrors: state.mirrors)
        return try await offThread {
            stores.clearScratch()
            return stores.remove(abandoned)
        }
    }
}
