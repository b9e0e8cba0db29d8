/// Files that agents or forges obey when they are in a repository: whoever changes one decides what others' agents and
/// the forge do next, with rights that no sandbox of ours limits.
package enum SettingsPath {
    /// Names that agents read in every folder.
    private static let agentFiles: Set<String> = [
        "claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", ".mcp.json", ".cursorrules",
        ".windsurfrules", ".clinerules", ".goosehints", ".aider.conf.yml", ".roomodes",
    ]
    private static let agentFolders: Set<String> = [
        ".claude", ".cursor", ".codex", ".gemini", ".agents", ".windsurf", ".clinerules", ".continue", ".roo",
        ".opencode", ".kiro", ".amazonq", ".junie",
    ]
    /// What forges and editors read at the top of a repository only.
    private static let topFiles: Set<String> = [
        ".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker.yaml",
        ".cirrus.yml", ".cirrus.star", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", "codeowners",
        "docs/codeowners", ".vscode/mcp.json",
    ]
    private static let topFolders: Set<String> = [
        ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".woodpecker", ".buildkite",
    ]

    /// Whether an agent or a forge obeys what is at `path`. Letters count in any case: file systems may ignore it.
    package static func isObeyed(_ path: String) -> Bool {
        let path = path.lowercased()
        let parts = path.split(separator: "/").map(String.init)
        guard let name = parts.last, let top = parts.first else { return false }
        // A file in a folder's place counts, too: a link may lead to the settings.
        return agentFiles.contains(name) || !agentFolders.isDisjoint(with: parts) || topFiles.contains(path)
            || topFolders.contains(top)
    }
}
