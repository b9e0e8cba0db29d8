/// A program that runs agents, or a file that several of them read.
package enum AgentHost: String, CaseIterable {
    case claude, cursor, vscode, codex, gemini
    /// A skill folder that several hosts read.
    case skills
    /// The paragraph in AGENTS.md.
    case agents

    /// The files of the repository to edit, with the edit of each.
    ///
    /// - Parameter command: The command that starts `pipectl`.
    func edits(command: String) -> [AgentFile] {
        let server = Self.server(command)
        switch self {
        // Claude Code: the project's servers in .mcp.json; a skill is a folder with a SKILL.md.
        case .claude:
            return [
                AgentFile(".mcp.json") { (text) throws(JSONEdit.Problem) in
                    try JSONEdit.set("mcpServers", "pipectl", to: server, in: text)
                },
                AgentFile(".claude/skills/pipectl/SKILL.md") { _ in AgentTexts.skill },
            ]
        case .cursor:
            return [
                AgentFile(".cursor/mcp.json") { (text) throws(JSONEdit.Problem) in
                    try JSONEdit.set("mcpServers", "pipectl", to: server, in: text)
                }
            ]
        // Visual Studio Code uses another key and requires the server's type.
        case .vscode:
            let typed = server.replacing("{\n", with: "{\n  \"type\": \"stdio\",\n", maxReplacements: 1)
            return [
                AgentFile(".vscode/mcp.json") { (text) throws(JSONEdit.Problem) in
                    try JSONEdit.set("servers", "pipectl", to: typed, in: text)
                }
            ]
        // Codex reads the file once the user trusts the project. A call may take as long as a verdict.
        case .codex:
            return [
                AgentFile(".codex/config.toml") { (text) throws(JSONEdit.Problem) in
                    try TOMLEdit.setTable(
                        "mcp_servers.pipectl",
                        ["command = \(Self.quoted(command))", "args = [\"mcp\"]", "tool_timeout_sec = 3600"], in: text)
                }
            ]
        case .gemini:
            // Gemini's time limit is in milliseconds, 10 minutes by default.
            let timed = server.replacing("\n}", with: ",\n  \"timeout\": 3600000\n}")
            return [
                AgentFile(".gemini/settings.json") { (text) throws(JSONEdit.Problem) in
                    try JSONEdit.set("mcpServers", "pipectl", to: timed, in: text)
                }
            ]
        case .skills: return [AgentFile(".agents/skills/pipectl/SKILL.md") { _ in AgentTexts.skill }]
        case .agents:
            return [
                AgentFile("AGENTS.md") { (text) throws(JSONEdit.Problem) in
                    try MarkedParagraph.set(AgentTexts.paragraph, in: text)
                }
            ]
        }
    }

    private static func server(_ command: String) -> String {
        "{\n  \"command\": \(quoted(command)),\n  \"args\": [\"mcp\"]\n}"
    }

    /// A JSON string, which is also a valid TOML string.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// A file that `pipectl agents install` creates or extends.
struct AgentFile {
    /// Relative to the top of the repository.
    var path: String
    /// Returns the new text for the present one, which is empty if the file does not exist.
    var edit: (String) throws(JSONEdit.Problem) -> String

    init(_ path: String, _ edit: @escaping (String) throws(JSONEdit.Problem) -> String) {
        self.path = path
        self.edit = edit
    }
}
