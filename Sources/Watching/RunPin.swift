package import Results

/// Refs in pipectl's store that protect the merges of runs from `git gc`.
package enum RunPin {
    package static let prefix = "refs/pipectl/runs"

    package static func ref(of run: RunID) -> String { "\(prefix)/\(run)" }
}
