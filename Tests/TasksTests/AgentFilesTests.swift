@testable import Tasks
import Testing

/// The files of a repository that tell agents how to work.
struct AgentFilesTests {
    private func find(_ files: [String: String], _ touched: String...) -> [InstructionFile] {
        AgentFiles.find(
            touching: touched, exists: { files[$0] != nil },
            read: { path, most in files[path].map { Array($0.utf8.prefix(most)) } })
    }

    private func paths(_ files: [String: String], _ touched: String...) -> [String] {
        AgentFiles.find(
            touching: touched, exists: { files[$0] != nil }, read: { path, _ in files[path].map { Array($0.utf8) } }
        )
        .map(\.path)
    }

    @Test func `the root and the folders of the touched files count`() {
        let files = [
            "AGENTS.md": "", "CLAUDE.md": "", "Sources/AGENTS.md": "", "Sources/App/AGENTS.md": "",
            "Tests/AGENTS.md": "",
            "Sources/AppB/AGENTS.md": "",
        ]
        #expect(paths(files) == ["AGENTS.md", "CLAUDE.md"])
        #expect(
            paths(files, "Sources/App/A.swift") == [
                "AGENTS.md", "CLAUDE.md", "Sources/AGENTS.md", "Sources/App/AGENTS.md",
            ])
        #expect(paths(files, "Sources/*/A.swift") == ["AGENTS.md", "CLAUDE.md", "Sources/AGENTS.md"])
        #expect(paths(files, "../x/../Tests/A.swift") == ["AGENTS.md", "CLAUDE.md"])
    }

    @Test func `a file brings in what it names`() {
        let files = [
            "CLAUDE.md": "See @AGENTS.md and @docs/style.md, please.", "AGENTS.md": "",
            "docs/style.md": "@./more.md @../x.md",
            "docs/more.md": "", "x.md": "",
        ]
        let found = find(files)
        #expect(found.map(\.path) == ["AGENTS.md", "CLAUDE.md", "docs/style.md", "docs/more.md", "x.md"])
        #expect(found.map(\.includedBy) == [nil, nil, "CLAUDE.md", "docs/style.md", "docs/style.md"])
    }

    @Test(arguments: [
        ("@a.md", ["a.md"]), ("x@a.md", []), ("ada@example.com", []), ("`@a.md`", []),
        ("``@a.md ` x`` @b.md", ["b.md"]),
        ("```\n@a.md\n```\n@b.md", ["b.md"]), ("~~~\n```\n@a.md\n~~~\n@b.md", ["b.md"]), ("@a.md.", ["a.md"]),
        ("- @a.md\n- @b.md", ["a.md", "b.md"]), ("@", []), ("a ` @b.md", ["b.md"]),
        ("````\n```\n@a.md\n````\n@b.md", ["b.md"]),
    ])
    func `words in code bring nothing`(_ text: String, _ words: [String]) {
        #expect(Includes.words(of: text) == words)
    }

    @Test(
        arguments: [
            ("../a.md", "docs/x.md", "a.md"), ("../../a.md", "docs/x.md", nil), ("/etc/passwd", "x.md", nil),
            ("~/.ssh/id", "x.md", nil), ("./a.md", "docs/x.md", "docs/a.md"), ("a/../b.md", "x.md", "b.md"),
            ("..", "docs/x.md", nil), ("a\\b", "x.md", nil),
        ] as [(String, String, String?)])
    func `paths stay in the repository`(_ word: String, _ file: String, _ path: String?) {
        #expect(Includes.path(word, in: file) == path)
    }

    @Test func `circles end`() {
        #expect(
            paths(["AGENTS.md": "@CLAUDE.md @AGENTS.md", "CLAUDE.md": "@AGENTS.md"]) == ["AGENTS.md", "CLAUDE.md"])
    }

    @Test func `depth, sizes and numbers are limited`() {
        let chain = Dictionary(uniqueKeysWithValues: (0...9).map { ("\($0).md", "@\($0 + 1).md") })
        #expect(paths(chain.merging(["AGENTS.md": "@0.md"]) { $1 }).last == "4.md")
        let many = Dictionary(uniqueKeysWithValues: (0...200).map { ("\($0).md", "text \($0)") })
            .merging(["AGENTS.md": (0...200).map { "@\($0).md" }.joined(separator: " ")]) { $1 }
        #expect(paths(many).count == AgentFiles.Limit.files)
        let large = find(["AGENTS.md": String(repeating: "x", count: 100_000), "CLAUDE.md": "y"])
        #expect(large[0].isCut && large[0].text.utf8.count == AgentFiles.Limit.fileBytes)
        #expect(!large[1].isCut)
    }

    @Test func `a copy says nothing new`() {
        #expect(paths(["AGENTS.md": "Keep it small.", "CLAUDE.md": "Keep it small."]) == ["AGENTS.md"])
    }

    @Test func `binary and missing files are left out`() {
        #expect(paths(["AGENTS.md": "a\u{0}b", "CLAUDE.md": "@gone.md"]) == ["CLAUDE.md"])
    }
}
