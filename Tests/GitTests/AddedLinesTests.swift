import Git
import TestBasics
import Testing

/// What a commit adds, line by line.
@Suite(.timeLimit(.minutes(1))) struct AddedLinesTests {
    @Test(arguments: [("1\n", "1\n\u{0}2\n"), ("1\u{0}\n", "1\n\u{32}\n")])
    func `a file with a NUL byte, before or after, counts as a whole`(_ before: String, _ after: String) async throws {
        let folder = try TemporaryFolder()
        let made = try await TestRepository.make(at: folder["r"])
        let old = try await made.commit(["a": before], "old")
        let new = try await made.commit(["a": after], "new")
        var found: [AddedLines] = []
        try Repository(opening: folder["r/.git"]).addedLines(
            from: #require(OID(hex: old)), to: #require(OID(hex: new)), in: { _ in true }
        ) {
            found.append($0)
            return true
        }
        #expect(found.map(\.lines.count) == [2])
        withExtendedLifetime(folder) {}
    }

    @Test func `lines have their numbers and no ending`() async throws {
        let folder = try TemporaryFolder()
        let made = try await TestRepository.make(at: folder["r"])
        let old = try await made.commit(
            ["a": "1\n2\n3\n", "gone": "x\n", "same": "s\n", "moved": "1\n2\n3\n4\n5\n6\n"], "old")
        try await made.git("rm", "-q", "gone")
        try await made.git("mv", "moved", "there")
        try await made.git("rm", "-q", "same")
        try await runCommand("ln", "-s", "a", folder["r/same"])
        let new = try await made.commit(
            ["a": "1\nx\r\n3\n4", "b/c": "one\n\ntwo\n", "bin": "\u{0}a\n", "there": "1\n2\n3\n4\n5\n6\n7\n"], "new")
        let repository = try Repository(opening: folder["r/.git"])
        var found: [AddedLines] = []
        try repository.addedLines(from: #require(OID(hex: old)), to: #require(OID(hex: new)), in: { _ in true }) {
            found.append($0)
            return true
        }
        #expect(found.map(\.path) == ["a", "b/c", "bin", "there"])
        #expect(found[0].lines.map { "\($0.number) \($0.text)" } == ["2 x", "4 4"])
        #expect(found[1].lines.map { "\($0.number) \($0.text)" } == ["1 one", "2 ", "3 two"])
        #expect(found[2].lines.map(\.text) == ["\u{0}a"])
        #expect(found[3].oldPath == "moved")
        #expect(found[3].lines.map(\.text) == ["7"])
        var whole: [AddedLines] = []
        try repository.addedLines(
            from: #require(OID(hex: old)), to: #require(OID(hex: new)), in: { $0 == "there" }, isWhole: { _, _ in true }
        ) {
            whole.append($0)
            return false
        }
        #expect(whole.map(\.lines.count) == [7])
        withExtendedLifetime(folder) {}
    }
}
