/// A product that hosts repositories and their changes.
public enum ForgeKind: String, Sendable, Codable, CaseIterable {
    case github, gitlab, gitea, forgejo

    /// As people write it: `GitHub`.
    public var title: String {
        switch self {
        case .github: "GitHub"
        case .gitlab: "GitLab"
        case .gitea: "Gitea"
        case .forgejo: "Forgejo"
        }
    }

    /// What this product calls a change: `pull request`.
    public var changeTitle: String { self == .gitlab ? "merge request" : "pull request" }

    /// The kind that a host's name tells; nil where it tells nothing, as for most of a team's own servers.
    static func recognised(by host: String) -> ForgeKind? {
        let host = host.lowercased()
        let labels = host.split(separator: ".").map(String.init)
        if host == "codeberg.org" { return .forgejo }
        return allCases.first { kind in labels.contains { $0 == kind.rawValue || $0.hasPrefix("\(kind.rawValue)-") } }
    }
}
