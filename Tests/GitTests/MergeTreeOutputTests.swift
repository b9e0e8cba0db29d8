import Testing

@testable import Git

/// The output of `git merge-tree`, as bytes.
@Suite struct MergeTreeOutputTests {
    let tree = String(repeating: "ab", count: 20)
    let blob = String(repeating: "0", count: 40)

    private func outcomes(_ fields: [String]) -> [MergeOutcome] {
        MergeTreeOutput(Array(fields.map { $0 + "\0" }.joined().utf8)).outcomes
    }

    private func conflict(_ stages: [String], _ messages: [String]) -> [String] {
        ["0", tree] + stages + [""] + messages + [""]
    }

    @Test func `several clean merges in one output`() throws {
        let id = try #require(OID(hex: tree))
        #expect(outcomes(["1", tree, "", "1", tree, ""]) == [.merged(tree: id), .merged(tree: id)])
        #expect(outcomes([]) == [])
    }

    @Test func `a conflict's kind is from its stages and messages`() {
        let fields = conflict(
            [
                "100644 \(blob) 1\ta b\nc", "100644 \(blob) 2\ta b\nc", "100644 \(blob) 3\ta b\nc",
                "100644 \(blob) 1\tgone", "100644 \(blob) 2\tgone", "160000 \(blob) 1\tsub", "160000 \(blob) 2\tsub",
                "160000 \(blob) 3\tsub", "100644 \(blob) 3\tmoved",
            ],
            [
                "1", "a b\nc", "Auto-merging", "Auto-merging a b\n", "1", "a b\nc", "CONFLICT (contents)", "text\n",
                "2",
                "moved", "elsewhere", "CONFLICT (rename/rename)", "text\n",
            ])
        #expect(
            outcomes(fields) == [
                .conflicts([
                    MergeConflict(path: "a b\nc", kind: "both modified"),
                    MergeConflict(path: "gone", kind: "deleted by change, modified on target"),
                    MergeConflict(path: "moved", kind: "renamed differently by both"),
                    MergeConflict(path: "sub", kind: "submodule moved by both"),
                ])
            ])
    }

    @Test func `a conflict without files has those of its message`() {
        let fields = conflict([], ["1", "dir", "CONFLICT(directory rename unclear split)", "text\n"])
        guard case .conflicts(let conflicts)? = outcomes(fields).first else {
            Issue.record("no conflict was read")
            return
        }
        #expect(conflicts.map(\.path) == ["dir"])
    }

    @Test func `the output for one pair gives the same`() throws {
        let id = try #require(OID(hex: tree))
        #expect(MergeTreeOutput(single: Array("\(tree)\0".utf8), isClean: true).outcomes == [.merged(tree: id)])
        let text = "\(tree)\0100644 \(blob) 3\tx\0\0" + "1\0x\0CONFLICT (contents)\0text\0"
        #expect(
            MergeTreeOutput(single: Array(text.utf8), isClean: false).outcomes == [
                .conflicts([
                    MergeConflict(path: "x", kind: "added by change where the target has a folder or a rename")
                ])
            ])
    }

    @Test func `a truncated output ends the list`() {
        let whole = Array(
            (["1", tree, ""] + conflict(["100644 \(blob) 3\tx"], ["1", "x", "CONFLICT (contents)", "text"]))
                .map { $0 + "\0" }.joined().utf8)
        for count in 0..<whole.count {
            let outcomes = MergeTreeOutput(Array(whole.prefix(count))).outcomes
            #expect(outcomes.count == (count < 44 ? 0 : 1))
        }
        #expect(MergeTreeOutput(whole).outcomes.count == 2)
    }
}
