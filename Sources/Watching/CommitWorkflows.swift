package import WorkflowPrograms
import Engine
package import Git
import Pipeline
import Results

/// Reads the `workflows/` of commits, and compiles them if needed.
package enum CommitWorkflows {
    /// The compiled workflows of a commit.
    package static func program(
        at commit: OID, tree: OID, _ repository: WatchedRepository, _ programs: ProgramCache
    ) async throws -> WorkflowProgram {
        do {
            if let kept = try programs.program(keptFor: tree.hex) { return kept }
            let sources = try await sources(tree: tree, gitDirectory: repository.store)
            return try await programs.program(for: sources)
        } catch let error as DefinitionError {
            throw EarlyVerdict(error, tested: nil)
        }
    }

    /// Limits of `workflows/`, which is held in memory as a whole.
    private static let sourceLimits = TreeLimits(entries: 10_000, bytes: 64 << 20, fileBytes: 16 << 20)

    /// The files of `workflows/` for the compiler.
    package static func sources(tree: OID, gitDirectory: String) async throws -> WorkflowSources {
        let files = try await withRepository(at: gitDirectory) { repository in
            do { _ = try repository.measure(tree: tree, limits: sourceLimits) } catch let excess as TreeExcess {
                throw DefinitionError(.invalid, "workflows/ is too large to be compiled: \(excess)")
            }
            return try repository.entries(ofTree: tree, recursive: true).compactMap { entry -> WorkflowFile? in
                guard entry.kind == .blob || entry.kind == .executable else { return nil }
                return WorkflowFile(
                    path: "workflows/\(entry.path)", bytes: try repository.blob(entry.id),
                    isExecutable: entry.kind == .executable)
            }
        }
        return WorkflowSources(tree: tree.hex, files: files)
    }
}
