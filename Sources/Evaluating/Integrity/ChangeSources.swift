public import Git
public import TestIntegrity
public import Pipeline

/// The sources of a change and of its target, read from Git's objects: neither is checked out or run.
public struct ChangeSources: Sendable {
    /// A repository folder with the objects of both.
    package let repository: String
    /// The target's commit, and the merge of the change into it.
    package let old: OID
    package let new: OID
    /// Reads the Swift files among them.
    package let reader: any SwiftSourceReader

    /// The most test files outside of the change that are searched for helpers.
    static let surroundingFiles = 2_000
    static let surroundingBytes = 16 << 20
    /// The most bytes of all files of the change on both sides: twice the check's limit.
    static let changedBytes = 64 << 20

    public init(in repository: String, from old: OID, to new: OID, reader: any SwiftSourceReader) {
        self.repository = repository
        self.old = old
        self.new = new
        self.reader = reader
    }

    /// Compares the two commits.
    ///
    /// - Throws: `GitError` if the repository or one of the commits can't be read.
    public func outcome(of rules: [IntegrityRule]) async throws -> IntegrityOutcome {
        let (repository, old, new) = (repository, old, new)
        let files = try await withRepository(at: repository) { store in
            try SourceObjects(store: store, old: old, new: new).changed()
        }
        let changed = Set(files.flatMap { [$0.path, $0.oldPath].compactMap { $0 } })
        @Sendable func look<T: Sendable>(_ body: @Sendable @escaping (SourceObjects) -> T) async -> T? {
            try? await withRepository(at: repository) { body(SourceObjects(store: $0, old: old, new: new)) }
        }
        return await IntegrityCheck(rules: rules, reader: reader).outcome(
            of: files,
            in: IntegrityCheck.Surroundings(
                unchangedTests: { await look { $0.unchangedTests(changed) } ?? [] },
                file: { path in await look { ($0.bytes(path, at: old), $0.bytes(path, at: new)) } ?? (nil, nil) },
                paths: { await look { $0.paths().map(\.path) } ?? [] }))
    }
}

/// The contents of the two commits that the rules need, read from an open repository.
private struct SourceObjects {
    let store: Repository
    let old: OID
    let new: OID

    /// The files of the change, with their contents if a rule reads them.
    func changed() throws -> [ChangedSource] {
        let differences = try store.diff(from: old, to: new)
        // Tests first, so that large other files can't use up the limit.
        let order = differences.indices.sorted { one, other in
            let (first, second) = (TestPaths.isTest(differences[one].path), TestPaths.isTest(differences[other].path))
            return first == second ? one < other : first
        }
        var left = ChangeSources.changedBytes
        return order.map { place in
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
    }

    func paths() -> [TreeEntry] {
        guard let tree = try? store.commit(new).tree else { return [] }
        return (try? store.entries(ofTree: tree, recursive: true).filter { $0.kind != .tree }) ?? []
    }

    func unchangedTests(_ changed: Set<String>) -> [(path: String, bytes: [UInt8])] {
        var left = ChangeSources.surroundingBytes
        var files: [(path: String, bytes: [UInt8])] = []
        for entry in paths() where entry.path.hasSuffix(".swift") && TestPaths.isTest(entry.path) {
            guard !changed.contains(entry.path), files.count < ChangeSources.surroundingFiles,
                let size = try? store.size(of: entry.id), size <= left, size <= ChangedSource.byteLimit,
                let bytes = try? store.blob(entry.id)
            else { continue }
            left -= size
            files.append((entry.path, bytes))
        }
        return files
    }

    /// The content that a rule may read; only the size if it is too large, and nothing if only the path counts.
    private func content(_ path: String, at commit: OID, isRead: Bool) -> ChangedSource.Content {
        guard isRead else { return .bytes([]) }
        guard let entry = try? store.entry(path, at: commit), entry.kind == .blob || entry.kind == .executable,
            let size = try? store.size(of: entry.id)
        else { return .unreadable }
        guard size <= ChangedSource.byteLimit else { return .tooLarge(size) }
        return (try? store.blob(entry.id)).map { .bytes($0) } ?? .unreadable
    }

    func bytes(_ path: String, at commit: OID) -> [UInt8]? {
        guard case .bytes(let bytes) = content(path, at: commit, isRead: true) else { return nil }
        return bytes
    }
}
