import Results

/// Where the merges of runs are pinned in our own store, so that no `git gc` takes them away.
enum RunPin {
    static let prefix = "refs/pipectl/runs"

    static func ref(of run: RunID) -> String { "\(prefix)/\(run)" }
}
