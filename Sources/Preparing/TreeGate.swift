package import Watching
package import Results
package import Git
import Pipeline

/// Refuses a commit whose tree exceeds the limits, before any of its files is unpacked.
package struct TreeGate: Sendable {
    package let limits: TreeLimits

    /// - Parameter options: A tree may also not exceed a run's limit on disk.
    package init(_ options: DaemonOptions) {
        var limits = options.treeLimits
        limits.bytes = min(limits.bytes, options.runLimits.workspace ?? .max)
        self.limits = limits
    }

    /// - Throws: ``EarlyVerdict`` if the tree is too large; `GitError` if it can't be read.
    package func check(_ run: QueuedRun, in repository: WatchedRepository) async throws {
        // A missing commit gets another verdict later.
        guard let head = OID(hex: run.request.head) else { return }
        do {
            try await withRepository(at: repository.store) { store in
                if store.contains(head) { _ = try store.measure(commit: head, limits: limits) }
            }
        } catch let excess as TreeExcess {
            throw EarlyVerdict(excess)
        } catch let error as GitError where error.code == .tooLarge {
            throw EarlyVerdict(tooLarge: error)
        }
    }
}

extension EarlyVerdict {
    package init(_ excess: TreeExcess) {
        self.init(verdict: .failed, reason: "nothing was run: \(excess)")
        findings = [
            Finding(
                rule: "tree-too-large", severity: .error, message: excess.description,
                file: excess.path.isEmpty ? nil : excess.path, line: nil, column: nil, suggestion: excess.suggestion)
        ]
    }

    package init(tooLarge error: GitError) {
        self.init(verdict: .failed, reason: "nothing was run: \(error)")
        findings = [
            Finding(
                rule: "tree-too-large", severity: .error, message: error.description, file: nil, line: nil, column: nil,
                suggestion: "split the change")
        ]
    }
}

extension TreeExcess {
    /// How to raise the limit, if that is possible.
    fileprivate var suggestion: String {
        switch measure {
        case .entries: "if the repository is that large, start the daemon with `--tree-limit entries=NUMBER`"
        case .bytes:
            "if the repository is that large, start the daemon with `--tree-limit size=MIB`, within `--run-limit workspace=MIB`"
        case .fileBytes: "keep large files elsewhere, or start the daemon with `--tree-limit file-size=MIB`"
        case .pathBytes: "add fewer files, or start the daemon with `--tree-limit entries=NUMBER`"
        case .depth, .nameBytes, .pathLength, .folderBytes, .time:
            "use shorter names and fewer folders; this limit is fixed"
        }
    }
}
