import Foundation
@testable import Pipeline
import TestBasics
import Testing

/// The command lines of agents, run by the real shell with a program in the agent's place that notes what it was given.
struct AgentRecipeTests {
    enum Part: String, CaseIterable { case plan, work, review }

    private static let follow = "Follow the instructions on standard input"
    private static let codex = [
        "exec", "--ephemeral", "--skip-git-repo-check", "--color", "never", "--sandbox", "danger-full-access",
    ]
    private static let aider = [
        "--no-git", "--no-gitignore", "--no-auto-commits", "--no-pretty", "--no-stream", "--no-check-update",
        "--no-show-release-notes", "--no-show-model-warnings", "--no-suggest-shell-commands", "--no-detect-urls",
        "--analytics-disable", "--input-history-file", "/dev/null", "--chat-history-file", "/dev/null",
    ]

    /// The program, and its arguments; FILE stands for a file with the prompt.
    static let wanted: [String: (program: String, plan: [String], work: [String], review: [String]?)] = [
        "claude": (
            "claude", ["-p", follow, "--output-format", "json", "--allowedTools", "Read,Glob,Grep"],
            [
                "-p", follow, "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits",
                "--allowedTools", "Bash",
            ], ["-p", follow, "--allowedTools", "Read,Glob,Grep"]
        ),
        "codex": ("codex", codex + ["-"], codex + ["--json", "-"], codex + ["-"]),
        "gemini": (
            "gemini", ["--skip-trust", "--output-format", "json", "-p", follow],
            ["--skip-trust", "--approval-mode", "yolo", "--output-format", "stream-json", "-p", follow],
            ["--skip-trust", "-p", follow]
        ),
        "cursor": (
            "cursor-agent",
            ["-p", "--trust", "--mode", "ask", "--output-format", "json", "Follow the instructions in the file FILE"],
            [
                "-p", "--trust", "--force", "--sandbox", "disabled", "--output-format", "stream-json",
                "Follow the instructions in the file FILE",
            ],
            ["-p", "--trust", "--mode", "ask", "--output-format", "text", "Follow the instructions in the file FILE"]
        ),
        "copilot": (
            "copilot", ["--silent", "--no-ask-user", "--allow-all-tools", "--deny-tool=write"],
            ["--no-ask-user", "--allow-all-tools"],
            ["--silent", "--no-ask-user", "--allow-all-tools", "--deny-tool=write"]
        ),
        "opencode": (
            "opencode", ["run", "--agent", "plan"], ["run", "--auto", "--format", "json"], ["run", "--agent", "plan"]
        ),
        "qwen": (
            "qwen", ["-p", follow], ["--approval-mode", "yolo", "--output-format", "stream-json", "-p", follow],
            ["-p", follow]
        ),
        "goose": (
            "goose", ["run", "--no-session", "--quiet", "-i", "-"], ["run", "--no-session", "-i", "-"],
            ["run", "--no-session", "--quiet", "-i", "-"]
        ),
        "aider": (
            "aider", aider + ["--chat-mode", "ask", "--message-file", "FILE"],
            aider + ["--yes-always", "--message-file", "FILE"], nil
        ),
    ]

    private static let prompt = "# Do it\n\n$(touch gone) `x` \"quoted\" 'too' \\n \u{1F680}\n"

    @Test func `every recipe has its line here`() {
        #expect(Set(AgentCommand.recipes.map(\.name)) == Set(Self.wanted.keys))
        #expect(Set(AgentCommand.recipes.map(\.name)).count == AgentCommand.recipes.count)
    }

    @Test(.timeLimit(.minutes(2)), arguments: AgentCommand.recipes.map(\.name), Part.allCases)
    func `the agent gets its words and the prompt`(_ name: String, _ part: Part) async throws {
        let recipe = try #require(AgentCommand.recipes.first { $0.name == name })
        let wanted = try #require(Self.wanted[name])
        let line: String? =
            switch part {
            case .plan: recipe.plan
            case .work: recipe.work
            case .review: recipe.review
            }
        let words: [String]? =
            switch part {
            case .plan: wanted.plan
            case .work: wanted.work
            case .review: wanted.review
            }
        guard let line, let words else {
            #expect(line == nil && words == nil)
            return
        }
        let folder = try TemporaryFolder(.disk)
        // It notes its arguments and its input, and the file that its last argument ends with.
        try folder.write(
            "bin/\(wanted.program)",
            """
            #!/bin/sh
            printf '%s\\n' "$@" > "$NOTES/words"
            cat > "$NOTES/input"
            for last do :; done
            file=${last##* }
            if [ -f "$file" ]; then cp "$file" "$NOTES/file"; printf %s "$file" > "$NOTES/path"; fi
            printf '```json\\n{"mode":"%s"}\\n```\\n' "$GOOSE_MODE"
            """.utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder["bin/\(wanted.program)"])
        for name in ["notes", "tmp", "work"] { try folder.folder(name) }
        let environment = [
            "PATH": folder["bin"] + ":/usr/bin:/bin", "NOTES": folder["notes"], "TMPDIR": folder["tmp"],
            "HOME": folder["tmp"],
        ]
        let ended = try await CommandRunner(in: folder["work"], environment: environment)
            .end(of: ["/bin/sh", "-ec", line], input: Self.prompt)
        #expect(ended.code == 0, "\(ended.errors)")

        func note(_ name: String) -> String? { try? String(contentsOfFile: folder["notes/\(name)"], encoding: .utf8) }
        var given = try #require(note("words"))
        if let path = note("path") { given = given.replacing(path, with: "FILE") }
        #expect(given == words.map { "\($0)\n" }.joined())
        #expect((note("file") ?? note("input")) == Self.prompt)
        let mode = name == "goose" ? "auto" : ""
        // A reviewer's answer is JSON and nothing else.
        #expect(
            ended.output == (part == .review ? "{\"mode\":\"\(mode)\"}\n" : "```json\n{\"mode\":\"\(mode)\"}\n```\n"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder["work"]).isEmpty, "nothing lands in the work")
        withExtendedLifetime(folder) {}
    }

    @Test func `a recipe is a declaration without problems`() {
        for recipe in AgentCommand.recipes {
            #expect(TasksDeclaration(branch: "main", agents: [recipe], workflows: ["test"]).problems.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: AgentCommand.recipes.map(\.name))
    func `an agent that fails is not taken for one that worked`(_ name: String) async throws {
        let recipe = try #require(AgentCommand.recipes.first { $0.name == name })
        let program = try #require(Self.wanted[name]?.program)
        let folder = try TemporaryFolder(.disk)
        try folder.write("bin/\(program)", "#!/bin/sh\nexit 3\n".utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder["bin/\(program)"])
        let environment = ["PATH": folder["bin"] + ":/usr/bin:/bin", "TMPDIR": folder.path, "HOME": folder.path]
        for line in [recipe.plan, recipe.work] {
            let ended = try await CommandRunner(in: folder.path, environment: environment)
                .end(of: ["/bin/sh", "-ec", line], input: Self.prompt)
            #expect(ended.code == 3)
        }
        withExtendedLifetime(folder) {}
    }
}
