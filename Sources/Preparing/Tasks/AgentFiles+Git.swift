package import Git
package import Tasks

extension AgentFiles {
    /// A file that is larger is not read.
    private static let mostBytes = 1 << 20
    /// Links that are followed from one file.
    private static let mostLinks = 3

    /// The instructions for agents as a commit has them: ``find(touching:exists:read:)``.
    package static func find(
        touching paths: [String], at commit: OID, in store: Repository
    ) throws -> [InstructionFile] {
        try find(
            touching: paths, exists: { (try? file($0, at: commit, in: store)) ?? nil != nil },
            read: { path, most in
                guard let id = try file(path, at: commit, in: store), try store.size(of: id) <= mostBytes else {
                    return nil
                }
                return Array(try store.blob(id, atMost: mostBytes).prefix(most))
            })
    }

    /// The text of such a file; nil if there is none, or it is too large.
    package static func text(of path: String, at commit: OID, in store: Repository) throws -> String? {
        guard let id = try file(path, at: commit, in: store), try store.size(of: id) <= mostBytes else { return nil }
        return String(decoding: try store.blob(id, atMost: mostBytes), as: UTF8.self)
    }

    /// The file at a path, which may be a link to another one in the repository, as CLAUDE.md often is.
    private static func file(_ path: String, at commit: OID, in store: Repository) throws -> OID? {
        var path = path
        for _ in 0...mostLinks {
            guard let entry = try store.entry(path, at: commit) else { return nil }
            switch entry.kind {
            case .blob, .executable: return entry.id
            case .symlink:
                let target = String(decoding: try store.blob(entry.id, atMost: 4_096), as: UTF8.self)
                guard let next = Includes.path(target, in: path) else { return nil }
                path = next
            case .tree, .submodule: return nil
            }
        }
        return nil
    }
}
