import Foundation
import GitFixture
import Git
import Testing

/// Only what differs is read of two trees, and the result must be that of `git diff-tree`.
@Suite(.timeLimit(.minutes(2))) struct TreeDiffTests {
    let fixture: Fixture
    let repository: Repository

    init() throws {
        fixture = try Fixture()
        repository = try fixture.store()
    }

    /// Names whose order, characters or bytes could be mistaken for something else.
    private static let names = [
        "a", "a-b", "a.b", "a/b", "a/b-c/d", "a0", "!x", "#x", "*", "[a]", "?", "sub/!y", "sub/*/z", " lead", "-q",
        "new\\nline", "ümläut", "deep/er/and/er", "deep/er-x", "last",
    ]

    /// Commits a file, link, program, submodule or nothing at each of the names, according to `choice`.
    private func commit(_ name: String, _ choice: (Int) -> Int) throws -> OID {
        var script = "commit refs/heads/\(name)\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\ndeleteall\n"
        for (number, path) in TreeDiffTests.names.enumerated() {
            let kind = choice(number)
            // No file is like another, so that none is taken for a renamed one.
            let text = (0..<8).map { "\(number) \(kind) line \($0 &* (number &+ 7) &* (kind &+ 3))\n" }.joined()
            switch kind % 6 {
            case 1: script += "M 100755 inline \"\(path)\"\ndata \(text.utf8.count)\n\(text)\n"
            case 2: script += "M 120000 inline \"\(path)\"\ndata \(text.utf8.count)\n\(text)\n"
            case 3: script += "M 160000 \(String(repeating: "\(kind % 10)", count: 40)) \"\(path)\"\n"
            case 4: script += "M 100644 inline \"\(path)/in\"\ndata \(text.utf8.count)\n\(text)\n"
            case 5: continue
            default: script += "M 100644 inline \"\(path)\"\ndata \(text.utf8.count)\n\(text)\n"
            }
        }
        try fixture.git(["fast-import", "--quiet", "--force"], in: fixture["store"], input: script)
        return try fixture.id("refs/heads/\(name)", in: "store")
    }

    /// The kind of change and the path of each difference, as Git prints it.
    private func told(_ old: OID, _ new: OID) throws -> [(kind: Character, path: String)] {
        let words = try fixture.git(
            ["diff-tree", "-r", "-z", "--no-renames", "--name-status", old.hex, new.hex], in: fixture["store"]
        ).split(separator: "\0", omittingEmptySubsequences: true).map(String.init)
        return stride(from: 0, to: words.count - 1, by: 2).map { (words[$0].first ?? " ", words[$0 + 1]) }
    }

    @Test func `the difference is the one that Git finds`() throws {
        var state: UInt64 = 7
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for round in 0..<40 {
            let first = TreeDiffTests.names.map { _ in random(12) }
            // Few differences, many, or none.
            let second = first.map { random(10) < [1, 5, 10, 0][round % 4] ? random(12) : $0 }
            let (old, new) = (try commit("old", { first[$0] }), try commit("new", { second[$0] }))
            let expected = try told(old, new)
            let changes = try repository.diff(from: old, to: new)
            #expect(
                Set(changes.map(\.path)) == Set(expected.map(\.path)), "round \(round)")
            #expect(changes.count == expected.count, "round \(round)")
            let count = try repository.differenceCount(
                from: fixture.id("\(old.hex)^{tree}", in: "store"), to: fixture.id("\(new.hex)^{tree}", in: "store"))
            // A path that became another kind may be reported as removed and added.
            let mostly = expected.count + expected.filter { $0.kind == "T" }.count
            #expect(count >= expected.count && count <= mostly, "round \(round)")
        }
    }
}
