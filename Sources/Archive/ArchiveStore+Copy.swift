internal import Results
internal import Store
internal import Foundation
internal import Git

extension ArchiveStore {
    /// Copies all runs and notes to the repository at `url`, a path or a URL; returns how many runs were offered.
    ///
    /// Nothing is overwritten there: an archived run never changes. Artifact bytes are not part of it; copy `artifacts/`
    /// with them. libgit2 1.5 has no time-outs: call it in a process that can be killed. Throws `.unusableCopy` for a
    /// path where there is no repository, and for what the other side refuses.
    public func push(to url: String) async throws -> Int {
        if url.hasPrefix("/"), !FileManager.default.fileExists(atPath: url) {
            throw ArchiveError(
                .unusableCopy, "There is no repository at \"\(url)\"; `git init --bare \(url.shellWord)` creates one.")
        }
        return try await withArchive { repository in
            let names = try repository.snapshot().refs.keys
                .filter { $0.hasPrefix(Self.refPrefix) || $0.hasPrefix("refs/notes/") }
                .sorted()
            // libgit2 doesn't expand "refs/runs/*" when it pushes.
            for start in stride(from: 0, to: names.count, by: 1000) {
                let piece = names[start..<min(start + 1000, names.count)]
                do throws(GitError) {
                    try repository.push(url: url, refspecs: piece.map { "\($0):\($0)" })
                } catch {
                    throw ArchiveError(
                        .unusableCopy,
                        "The archive could not be copied to \"\(url)\": \(Self.words(error)) The archive "
                            + "itself is intact; check that the target is a Git repository that you may write to.",
                        cause: error)
                }
            }
            return names.count { $0.hasPrefix(Self.refPrefix) }
        }
    }

    /// How much the archive would gain from `git gc`, which libgit2 can't do.
    public func maintenance() throws -> Maintenance {
        let manager = FileManager.default
        func names(_ folder: String) -> [String] {
            (try? manager.contentsOfDirectory(atPath: repositoryPath + "/" + folder)) ?? []
        }
        return Maintenance(
            // As `git gc --auto` does it: one folder in 256 stands for all.
            looseObjects: names("objects/17").count * 256, looseRefs: names("refs/runs").count,
            packs: names("objects/pack").count { $0.hasSuffix(".pack") }, repository: repositoryPath)
    }

    /// What `git gc` would find to do.
    public struct Maintenance: Sendable, Equatable {
        /// Estimated.
        public var looseObjects: Int
        public var looseRefs: Int
        public var packs: Int
        var repository: String

        /// Whether it is worth a process: Git's own limits for objects and packs, and 2,000 loose refs.
        public var isNeeded: Bool { looseObjects > 6700 || packs > 50 || looseRefs > 2000 }

        /// What to run, as a child process: its words. Unless it is told, Git does not flush the refs that it packs.
        public var command: [String] { ["git", "-C", repository, "-c", "core.fsync=all", "gc", "--quiet"] }
    }
}
