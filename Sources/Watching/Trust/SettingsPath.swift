/// Files in a repository that configure agents or forges. Changing one controls what other people's agents and the
/// forge do next, with rights that no sandbox limits.
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
    /// Files that forges and editors read only at the top of a repository.
    private static let topFiles: Set<String> = [
        ".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker.yaml",
        ".cirrus.yml", ".cirrus.star", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", "codeowners",
        "docs/codeowners", ".vscode/mcp.json",
    ]
    private static let topFolders: Set<String> = [
        ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".woodpecker", ".buildkite",
    ]

    /// Whether an agent or a forge reads its configuration from `path`. The comparison ignores case, since file systems
    /// may.
    package static func isObeyed(_ path: String) -> Bool {
        let path = path.lowercased()
        let parts = path.split(separator: "/").map(String.init)
        guard let name = parts.last, let top = parts.first else { return false }
        // A file in place of a folder counts as well: a link may lead to the settings.
        return agentFiles.contains(name) || !agentFolders.isDisjoint(with: parts) || topFiles.contains(path)
            || topFolders.contains(top)
    }
}
