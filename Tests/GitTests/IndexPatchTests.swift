import Foundation
import GitFixture
import Git
import TestBasics
import Testing

/// An index that is patched repeatedly must stay equal to the one that Git makes of each tree.
@Suite(.timeLimit(.minutes(3))) struct IndexPatchTests {
    let fixture: Fixture
    let repository: Repository

    init() throws {
        fixture = try Fixture()
        repository = try fixture.store()
    }

    /// Files, links, programs and submodules at random paths, many of which are folders in another tree.
    private func tree(_ numbers: inout SplitMix64, like old: [String: Int], paths: Int) -> [String: Int] {
        let parts = ["a", "b", "a-", "a.", "a0", "ab", "new\\nline", "ü", "é", " x", "!", "#", "*", "\\377"]
        var tree = old
        for _ in 0..<paths {
            let path = (0...numbers.below(3)).map { _ in parts[numbers.below(parts.count)] }.joined(separator: "/")
            for other in tree.keys where other.hasPrefix(path + "/") || path.hasPrefix(other + "/") {
                tree[other] = nil
            }
            tree[path] = numbers.below(7) == 0 ? nil : numbers.below(12)
        }
        return tree
    }

    private func commit(_ tree: [String: Int]) throws -> OID {
        var script = "commit refs/heads/x\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\ndeleteall\n"
        for (path, kind) in tree {
            let text = "text \(kind)\n"
            switch kind % 6 {
            // libgit2 checks no submodule out whose name has more than one line.
            case 0 where !path.contains("\\n"):
                script += "M 160000 \(String(repeating: "\(kind % 9 + 1)", count: 40)) \"\(path)\"\n"
            case 1: script += "M 120000 inline \"\(path)\"\ndata \(text.utf8.count)\n\(text)\n"
            case 2: script += "M 100755 inline \"\(path)\"\ndata \(text.utf8.count)\n\(text)\n"
            default: script += "M 100644 inline \"\(path)\"\ndata \(text.utf8.count)\n\(text)\n"
            }
        }
        try fixture.git(["fast-import", "--quiet", "--force"], in: fixture["store"], input: script)
        return try fixture.id("refs/heads/x", in: "store")
    }

    /// Checks the commit out, over `base` if given. The index according to Git must match the tree.
    private func check(_ commit: OID, _ name: String, over base: CheckedOut?) throws -> CheckedOut {
        for folder in [name, "\(name).git"] {
            try FileManager.default.createDirectory(atPath: fixture[folder], withIntermediateDirectories: true)
        }
        let made = try repository.checkoutLayer(
            commit, files: fixture[name], gitDirectory: fixture["\(name).git"], over: base)
        if made.difference != nil { #expect(base != nil) }
        let git = { (words: [String]) in
            try fixture.git(
                ["--git-dir", fixture["\(name).git"], "--work-tree", fixture[name]] + words, in: fixture.root)
        }
        let listed = try git(["ls-files", "--stage"])
        let expected = try git(["ls-tree", "-r", commit.hex]).split(separator: "\n").map { line -> String in
            // "100644 blob ID\tPATH" against "100644 ID 0\tPATH".
            let halves = line.split(separator: "\t", maxSplits: 1)
            let words = halves[0].split(separator: " ")
            return "\(words[0]) \(words[2]) 0\t\(halves[1])"
        }
        #expect(listed.split(separator: "\n").map(String.init) == expected)
        #expect(try git(["diff-index", "--cached", "--name-only", commit.hex]) == "")
        // The only command that checks the order of the entries and the checksum.
        #expect(try git(["fsck", "--no-dangling"]) == "")
        #expect(try git(["write-tree"]) == made.tree.hex)
        return CheckedOut(tree: made.tree, index: fixture["\(name).git/index"])
    }

    @Test(arguments: [1, 2, 3]) func `each index is the one that Git writes`(_ seed: UInt64) throws {
        var numbers = SplitMix64(seed: seed)
        var content = tree(&numbers, like: ["begin": 3], paths: 60)
        var base = try check(commit(content), "first", over: nil)
        for round in 0..<12 {
            // It grows, shrinks, loses all but a little, or stays.
            if round % 4 == 3 { content = content.filter { _ in numbers.below(4) == 0 } }
            content = tree(&numbers, like: content, paths: [1, 10, 100, 3][round % 4])
            content["always"] = 3
            base = try check(commit(content), "round\(round)", over: base)
        }
    }

    @Test func `a large index is written and hashed by two threads`() throws {
        // Long paths, so that few files make it large, and longer than an entry's own field for the length can say.
        let folder = (0..<18).map { _ in String(repeating: "f", count: 180) }.joined(separator: "/")
        func content(_ change: Int) -> [String: Int] {
            Dictionary(
                uniqueKeysWithValues: (0..<260).compactMap { number -> (String, Int)? in
                    if change == 1, number % 50 == 7 { return nil }
                    return ("\(folder)/\(number)", change == 2 && number % 60 == 5 ? 4 : 3)
                })
        }
        var base = try check(commit(content(0)), "large0", over: nil)
        for change in 1...3 { base = try check(commit(content(change)), "large\(change)", over: base) }
        let size = try FileManager.default.attributesOfItem(atPath: base.index)[.size] as? Int
        #expect((size ?? 0) > 600 << 10)
    }
}
