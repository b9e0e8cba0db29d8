import Git
import TestSupport

extension FuzzTarget {
    /// Git's output about merges; its paths come from a change.
    static let merges = FuzzTarget.pure(
        "merge-tree", words: ["0\0", "1\0", "\0\0", "\t", "100644 ", " 1\t", " 3\t", "CONFLICT (contents)\0", "2\0"],
        limit: 64 << 10,
        corpus: {
            let tree = String(repeating: "ab", count: 20)
            return Corpus.texts(
                "1\0\(tree)\0\0" + "1\0\(tree)\0\0",
                "0\0\(tree)\0100644 \(tree) 1\ta\0100644 \(tree) 2\ta\0160000 \(tree) 3\ta\0\0"
                    + "1\0a\0Auto-merging\0Auto-merging a\n\0" + "2\0a\0b\0CONFLICT (rename/rename)\0text\n\0\0")
        }
    ) { bytes, _ in
        let outcomes = MergeTreeOutput(bytes).outcomes
        // Each has at least a status, a tree, and an end.
        try demand(outcomes.count <= bytes.count / 43 + 1, "\(outcomes.count) merges in \(bytes.count) bytes")
        for case .conflicts(let conflicts) in outcomes {
            try demand(Set(conflicts.map(\.path)).count == conflicts.count, "a path conflicts twice")
            try demand(conflicts.allSatisfy { !$0.kind.isEmpty }, "a conflict of no kind")
        }
    }
}
