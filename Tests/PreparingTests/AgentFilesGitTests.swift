import Git
import Preparing
import Tasks
import TestBasics
import Testing

/// The instructions for agents, read from a commit.
@Suite(.timeLimit(.minutes(1))) struct AgentFilesGitTests {
    @Test func `links and includes are followed inside the repository`() async throws {
        let folder = try TemporaryFolder()
        let made = try await TestRepository.make(at: folder["r"])
        try made.write([
            "AGENTS.md": "Keep it small. @docs/style.md", "docs/style.md": "Style", "Sources/App/a.swift": "",
        ])
        try await runCommand("ln", "-s", "../AGENTS.md", folder["r/Sources/CLAUDE.md"])
        try await runCommand("ln", "-s", "/etc/passwd", folder["r/CLAUDE.md"])
        try await runCommand("ln", "-s", "AGENTS.md", folder["r/Sources/App/AGENTS.md"])
        let commit = try await made.commit([:], "one")
        let store = try Repository(opening: folder["r/.git"])
        let id = try #require(OID(hex: commit))
        let found = try AgentFiles.find(touching: ["Sources/App/a.swift"], at: id, in: store)
        #expect(found.map(\.path) == ["AGENTS.md", "docs/style.md"])
        #expect(found.map(\.text) == ["Keep it small. @docs/style.md", "Style"])
        #expect(try AgentFiles.text(of: "Sources/CLAUDE.md", at: id, in: store) == "Keep it small. @docs/style.md")
        #expect(try AgentFiles.text(of: "CLAUDE.md", at: id, in: store) == nil)
        #expect(try AgentFiles.text(of: "gone", at: id, in: store) == nil)
        withExtendedLifetime(folder) {}
    }
}
