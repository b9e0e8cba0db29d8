public import ForgeConnection

/// What a person enters at a forge to have it send webhooks.
public struct WebhookForm: Sendable {
    public var url: String
    public var secret: WebhookSecret
    public var kind: ForgeKind
    public var credential: ForgeCredential

    public init(url: String, secret: WebhookSecret, kind: ForgeKind, credential: ForgeCredential) {
        (self.url, self.secret, self.kind, self.credential) = (url, secret, kind, credential)
    }

    /// Where the form is.
    var place: String {
        switch (kind, credential) {
        case (.github, .app): "the App's settings, Webhook"
        case (.github, .token): "the repository's Settings, Webhooks"
        case (.gitlab, _): "the project's Settings, Webhooks"
        case (.gitea, _), (.forgejo, _): "the repository's Settings, Webhooks, Add webhook, \(kind.title)"
        }
    }

    /// The events to choose, as the forge calls them.
    public var events: [String] {
        switch (kind, credential) {
        case (.github, .app):
            [
                "Check run", "Check suite", "Issue comment", "Issues", "Pull request", "Pull request review",
                "Pull request review comment", "Push",
            ]
        case (.github, .token):
            [
                "Issue comments", "Issues", "Pull request review comments", "Pull request reviews", "Pull requests",
                "Pushes",
            ]
        case (.gitlab, _): ["Push events", "Tag push events", "Comments", "Issues events", "Merge request events"]
        case (.gitea, _), (.forgejo, _):
            [
                "Push", "Issues", "Issue Labeled", "Issue Comment", "Pull Request", "Pull Request Labeled",
                "Pull Request Comment", "Pull Request Reviewed", "Pull Request Synchronized",
            ]
        }
    }

    /// One line for each field of the form.
    public var text: String {
        var lines = ["  where         \(place)", "  URL           \(url)"]
        if kind != .gitlab { lines.append("  content type  application/json") }
        lines.append("  secret        \(secret.text)")
        lines.append("  events        \(events.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }
}
