package import Git
package import Results
import Foundation
import TestIntegrity

/// The target with nothing of a try but its tests. What the try mends must fail on it.
package struct TaskReproductionCommit: Sendable, Equatable {
    /// Its only parent is the target's commit.
    package var commit: OID
    /// The files that it takes from the try.
    package var files: [String]

    /// Makes the commit, and the ref that keeps it. The same try and target give the same commit.
    ///
    /// - Parameter tip: The target's commit.
    /// - Returns: nil if the try adds or changes no file that is only for tests.
    /// - Throws: Errors of Git, such as for a try that is gone.
    package static func make(
        _ made: TaskTry, of task: TaskID, onto tip: OID, in store: Repository
    ) throws -> TaskReproductionCommit? {
        guard let head = OID(hex: made.commit) else { return nil }
        let base = try store.mergeBase(tip, head) ?? tip
        var changes: [String: TreeFile?] = [:]
        for change in try store.diff(from: base, to: head) {
            guard change.status != .deleted, TestPaths.isOnlyForTests(change.path),
                let entry = try store.entry(change.path, at: head), [.blob, .executable].contains(entry.kind)
            else { continue }
            changes[change.path] = .blob(entry.id, executable: entry.kind == .executable)
            // A test that moved would be there twice, and two of a name may not compile.
            if change.status == .renamed, let old = change.oldPath, TestPaths.isOnlyForTests(old),
                try store.entry(old, at: tip) != nil
            {
                changes.updateValue(nil, forKey: old)
            }
        }
        guard changes.contains(where: { $0.value != nil }) else { return nil }
        let files = changes.keys.sorted()
        let target = try store.commit(tip)
        let tree = try store.tree(target.tree, changing: files.map { ($0, changes[$0] ?? nil) })
        // A fixed time and name, so that it is not made twice.
        let author = Signature(
            name: TaskCommit.name, email: FixCommit.address, time: try store.commit(head).committer.time)
        let commit = try store.createCommit(
            tree: tree, parents: [tip], author: author, committer: author,
            message: """
                Tests of work \(made.attempt) of task \(task)

                The target with nothing of the work but its tests: they must fail here.

                """)
        try store.setRef(
            TaskCommit.testsRef(of: task, attempt: made.attempt), to: commit, message: "pipectl: reproduction")
        return TaskReproductionCommit(commit: commit, files: files)
    }
}
