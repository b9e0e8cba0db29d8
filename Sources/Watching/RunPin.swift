package import Results

/// Where the merges of runs are pinned in our own store, so that no `git gc` takes them away.
package enum RunPin {
    package static let prefix = "refs/pipectl/runs"

    package static func ref(of run: RunID) -> String { "\(prefix)/\(run)" }
}
