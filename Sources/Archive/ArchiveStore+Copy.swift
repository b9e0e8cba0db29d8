internal import Results
internal import Store
internal import Foundation
internal import Git

extension ArchiveStore {
    /// Pushes all runs and notes to the repository at `url`, a path or a URL, and returns the number of runs.
    ///
    /// Nothing is overwritten there, because an archived run never changes. Artifact files are not included; copy
    /// `artifacts/` with them. libgit2 1.5 has no time-outs, so call this in a process that can be killed.
    ///
    /// - Throws: `.unusableCopy` if there is no repository at a path, or if the other side refuses the push.
    public func push(to url: String) async throws -> Int {
        if url.hasPrefix("/"), !FileManager.default.fileExists(atPath: url) {
            throw ArchiveError(
                .unusableCopy, "There is no repository at \"\(url)\"; `git init --bare \(url.shellWord)` creates one.")
        }
        return try await withArchive { repository in
            let names = try repository.snapshot().refs.keys
                .filter { $0.hasPrefix(Self.refPrefix) || $0.hasPrefix("refs/notes/") }
                .sorted()
            // libgit2 does not expand "refs/runs/*" when it pushes.
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

    /// What `git gc` would clean up in the archive, which libgit2 can't do.
    public func maintenance() throws -> Maintenance {
        let manager = FileManager.default
        func names(_ folder: String) -> [String] {
            (try? manager.contentsOfDirectory(atPath: repositoryPath + "/" + folder)) ?? []
        }
        return Maintenance(
            // As in `git gc --auto`: one folder of 256 is counted as a sample.
            looseObjects: names("objects/17").count * 256, looseRefs: names("refs/runs").count,
            packs: names("objects/pack").count { $0.hasSuffix(".pack") }, repository: repositoryPath)
    }

    /// The numbers by which `git gc` decides.
    public struct Maintenance: Sendable, Equatable {
        /// An estimate.
        public var looseObjects: Int
        /// The number of refs that have a file of their own.
        public var looseRefs: Int
        /// The number of pack files.
        public var packs: Int
        var repository: String

        /// Whether `git gc` is worth its time: by Git's own limits for objects and packs, and 2,000 loose refs.
        public var isNeeded: Bool { looseObjects > 6700 || packs > 50 || looseRefs > 2000 }

        /// The command to run as a child process. Without the setting, Git does not flush the refs that it packs.
        public var command: [String] { ["git", "-C", repository, "-c", "core.fsync=all", "gc", "--quiet"] }
    }
}
