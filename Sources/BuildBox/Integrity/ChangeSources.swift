public import Git
public import TestIntegrity
public import Pipeline

/// The sources of a change and of its target, from Git's objects: nothing of either is checked out or run.
public struct ChangeSources {
    let store: Repository
    /// The target's commit, and the change merged into it.
    let old: OID
    let new: OID

    /// Test files beside the change that are looked at for helpers.
    static let surroundingFiles = 2_000
    static let surroundingBytes = 16 << 20
    /// Of all files of the change, both sides; twice what the check reads.
    static let changedBytes = 64 << 20

    /// Holds one commit against another.
    public static func outcome(
        of rules: [IntegrityRule], from old: OID, to new: OID, in store: Repository
    ) throws -> IntegrityOutcome {
        try ChangeSources(store: store, old: old, new: new).outcome(of: rules)
    }

    func outcome(of rules: [IntegrityRule]) throws -> IntegrityOutcome {
        let differences = try store.diff(from: old, to: new)
        // Tests first: what is large beside them must not keep them from being read.
        let order = differences.indices.sorted { one, other in
            let (first, second) = (TestPaths.isTest(differences[one].path), TestPaths.isTest(differences[other].path))
            return first == second ? one < other : first
        }
        var left = Self.changedBytes
        let files = order.map { place in
            let difference = differences[place]
            let isRead = ChangedSource.isRead(difference.path) || difference.oldPath.map(ChangedSource.isRead) == true
            let oldPath = difference.oldPath ?? difference.path
            func content(_ path: String, at commit: OID, isRead: Bool) -> ChangedSource.Content {
                let content = self.content(path, at: commit, isRead: isRead)
                guard case .bytes(let bytes) = content else { return content }
                guard bytes.count <= left else { return .tooLarge(bytes.count) }
                left -= bytes.count
                return content
            }
            return ChangedSource(
                path: difference.path, oldPath: difference.status == .copied ? nil : difference.oldPath,
                old: difference.status == .added ? .missing : content(oldPath, at: old, isRead: isRead),
                new: difference.status == .deleted ? .missing : content(difference.path, at: new, isRead: isRead),
                additions: difference.additions, deletions: difference.deletions)
        }
        let changed = Set(differences.flatMap { [$0.path, $0.oldPath].compactMap { $0 } })
        return IntegrityCheck(rules: rules).outcome(
            of: files,
            in: IntegrityCheck.Surroundings(
                unchangedTests: { unchangedTests(changed) },
                file: { path in (bytes(path, at: old), bytes(path, at: new)) },
                paths: { paths().map(\.path) }))
    }

    private func paths() -> [TreeEntry] {
        guard let tree = try? store.commit(new).tree else { return [] }
        return (try? store.entries(ofTree: tree, recursive: true).filter { $0.kind != .tree }) ?? []
    }

    private func unchangedTests(_ changed: Set<String>) -> [(path: String, bytes: [UInt8])] {
        var left = Self.surroundingBytes
        var files: [(path: String, bytes: [UInt8])] = []
        for entry in paths() where entry.path.hasSuffix(".swift") && TestPaths.isTest(entry.path) {
            guard !changed.contains(entry.path), files.count < Self.surroundingFiles,
                let size = try? store.size(of: entry.id), size <= left, size <= ChangedSource.byteLimit,
                let bytes = try? store.blob(entry.id)
            else { continue }
            left -= size
            files.append((entry.path, bytes))
        }
        return files
    }

    /// What a rule may need to read of a file; its size where it is too large, and nothing where only its path counts.
    private func content(_ path: String, at commit: OID, isRead: Bool) -> ChangedSource.Content {
        guard isRead else { return .bytes([]) }
        guard let entry = try? store.entry(path, at: commit), entry.kind == .blob || entry.kind == .executable,
            let size = try? store.size(of: entry.id)
        else { return .unreadable }
        guard size <= ChangedSource.byteLimit else { return .tooLarge(size) }
        return (try? store.blob(entry.id)).map { .bytes($0) } ?? .unreadable
    }

    private func bytes(_ path: String, at commit: OID) -> [UInt8]? {
        guard case .bytes(let bytes) = content(path, at: commit, isRead: true) else { return nil }
        return bytes
    }
}
