import TestBasics
import Foundation
import TestSupport
import Testing

/// `agents install`: shows its changes before it writes, writes once, and damages nothing.
struct AgentsInstallTests {
    private func text(_ bench: Bench, _ path: String) -> String? {
        FileManager.default.contents(atPath: "\(bench.repository)/\(path)").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(.timeLimit(.minutes(5)))
    func `agents install shows the changes, writes on request and changes nothing again`() async throws {
        try await Bench.with { bench in
            let shown = try await bench.pipectl("agents", "install")
            #expect(shown.code == 2 && shown.errors.contains("--yes"), "\(shown.errors)")
            #expect(shown.output.contains("+++ .mcp.json") && shown.output.contains("+    \"pipectl\": {"))
            #expect(try await bench.git(["status", "--porcelain"]) == "", "nothing is written")
            let written = try await bench.pipectl("agents", "install", "--yes")
            #expect(written.code == 0, "\(written.errors)")
            for path in [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json"] {
                let data = Data((text(bench, path) ?? "").utf8)
                let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any], "\(path)")
                let servers = json[path.hasPrefix(".vscode") ? "servers" : "mcpServers"] as? [String: Any]
                let server = try #require(servers?["pipectl"] as? [String: Any], "\(path)")
                #expect(server["command"] as? String == "pipectl" && server["args"] as? [String] == ["mcp"])
            }
            #expect(
                text(bench, ".codex/config.toml")?.hasPrefix("[mcp_servers.pipectl]\ncommand = \"pipectl\"\n") == true)
            for path in [".claude/skills/pipectl/SKILL.md", ".agents/skills/pipectl/SKILL.md"] {
                #expect(text(bench, path)?.hasPrefix("---\nname: pipectl\ndescription: ") == true)
            }
            #expect(text(bench, "AGENTS.md")?.contains("pipectl wait") == true)
            let again = try await bench.pipectl("agents", "install")
            #expect(again.code == 0 && again.output == "", "\(again.output)")
        }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            // The texts before and after; nil for a file that is left alone.
            (
                ".mcp.json", "{\n  // ours\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // last\n  }\n}\n",
                "{\n  // ours\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"pipectl\": {\n      \"command\": \"pipectl\",\n      \"args\": [\"mcp\"]\n    } // last\n  }\n}\n"
            ),
            (
                ".mcp.json", "{\"other\": [1, {\"}\": \"\\\"\"}]}",
                "{\"other\": [1, {\"}\": \"\\\"\"}],\n  \"mcpServers\": {\n    \"pipectl\": {\n      \"command\": \"pipectl\",\n      \"args\": [\"mcp\"]\n    }\n  }}"
            ),
            (
                ".mcp.json", "{\n  \"mcpServers\": {}\n}\n",
                "{\n  \"mcpServers\": {\n    \"pipectl\": {\n      \"command\": \"pipectl\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"
            ),
            (
                ".mcp.json", "{\"mcpServers\": {\"pipectl\": {\"command\": \"old\"}, \"b\": {}}}",
                "{\"mcpServers\": {\"pipectl\": {\n      \"command\": \"pipectl\",\n      \"args\": [\"mcp\"]\n    }, \"b\": {}}}"
            ),
            (".mcp.json", "{\"mcpServers\": {\"pipectl\": {\"args\": [\"mcp\"], \"command\": \"pipectl\"}}}", "same"),
            (".mcp.json", "{ \"mcpServers\": ", nil), (".mcp.json", "[]", nil),
            (".mcp.json", "{\"mcpServers\": 3}", nil),
            (".mcp.json", "<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n", nil), (".mcp.json", "{} {}", nil),
            (".mcp.json", "{\"a\": 1 \"b\": 2}", nil), (".mcp.json", "\u{0}", nil),
            (
                ".codex/config.toml", "model = \"m\" # [x]\ntext = \"\"\"\n[mcp_servers.pipectl]\n\"\"\"\n",
                "model = \"m\" # [x]\ntext = \"\"\"\n[mcp_servers.pipectl]\n\"\"\"\n\n[mcp_servers.pipectl]\ncommand = \"pipectl\"\nargs = [\"mcp\"]\ntool_timeout_sec = 3600\n"
            ),
            (".codex/config.toml", "[mcp_servers.\"pipectl\"]\ncommand = \"mine\"\n", nil),
            (".codex/config.toml", "mcp_servers = { a = { command = \"x\" } }\n", nil),
            (".codex/config.toml", "[mcp_servers]\npipectl = { command = \"x\" }\n", nil),
            (".codex/config.toml", "text = \"\"\"\nno end\n", nil), (".codex/config.toml", "what is this\n", nil),
            ("AGENTS.md", "# Ours\n\n<!-- pipectl: begin -->\nold\n", nil),
        ] as [(String, String, String?)])
    func whatIsThereStays(path: String, before: String, after: String?) async throws {
        try await Bench.with { bench in
            try bench.write([path: before])
            let ended = try await bench.pipectl("agents", "install", "--yes")
            guard let after else {
                #expect(ended.code == 3 && ended.errors.contains("\(path) is left alone"), "\(ended.errors)")
                #expect(text(bench, path) == before)
                #expect(text(bench, ".cursor/mcp.json") != nil, "the others are written all the same")
                return
            }
            #expect(ended.code == 0, "\(ended.errors)")
            #expect(text(bench, path) == (after == "same" ? before : after))
            #expect(try await bench.pipectl("agents", "install").output == "", "a second time there is nothing to do")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `the paragraph is replaced in its place`() async throws {
        try await Bench.with { bench in
            let old = "# Ours\n\n<!-- pipectl: begin -->\nold\n<!-- pipectl: end -->\n\n## After\n"
            try bench.write(["AGENTS.md": old])
            #expect(try await bench.pipectl("agents", "install", "--host", "agents", "--yes").code == 0)
            let new = try #require(text(bench, "AGENTS.md"))
            #expect(new.hasPrefix("# Ours\n\n<!-- pipectl: begin -->\n") && new.hasSuffix("\n\n## After\n"))
            #expect(!new.contains("old") && new.contains("pipectl wait"))
            #expect(text(bench, ".mcp.json") == nil, "only what was asked for")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a link out of the repository is not followed`() async throws {
        try await Bench.with { bench in
            let outside = "\(bench.root)/outside"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: "\(bench.repository)/.cursor", withDestinationPath: outside)
            try FileManager.default.createSymbolicLink(
                atPath: "\(bench.repository)/AGENTS.md", withDestinationPath: "\(bench.root)/nowhere.md")
            let ended = try await bench.pipectl("agents", "install", "--yes")
            #expect(ended.code == 3 && ended.errors.contains("outside the repository"), "\(ended.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty)
            #expect(!FileManager.default.fileExists(atPath: "\(bench.root)/nowhere.md"))
        }
    }
}
