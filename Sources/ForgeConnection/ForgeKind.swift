/// A product that hosts repositories and their changes.
public enum ForgeKind: String, Sendable, Codable, CaseIterable {
    case github, gitlab, gitea, forgejo

    /// The product's name: `GitHub`.
    public var title: String {
        switch self {
        case .github: "GitHub"
        case .gitlab: "GitLab"
        case .gitea: "Gitea"
        case .forgejo: "Forgejo"
        }
    }

    /// The product's name for a change: `pull request`.
    public var changeTitle: String { self == .gitlab ? "merge request" : "pull request" }

    /// The kind that a host's name shows; nil for other names, such as most of a team's own servers.
    static func recognised(by host: String) -> ForgeKind? {
        let host = host.lowercased()
        let labels = host.split(separator: ".").map(String.init)
        if host == "codeberg.org" { return .forgejo }
        return allCases.first { kind in labels.contains { $0 == kind.rawValue || $0.hasPrefix("\(kind.rawValue)-") } }
    }
}
