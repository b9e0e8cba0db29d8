/// A revision of the Model Context Protocol.
public enum Revision: String, Sendable, CaseIterable {
    case november2024 = "2024-11-05"
    case march2025 = "2025-03-26"
    case june2025 = "2025-06-18"
    case november2025 = "2025-11-25"
    case july2026 = "2026-07-28"

    /// Whether every request names its revision. In earlier ones, `initialize` names it once.
    public var isStateless: Bool { self == .july2026 }

    /// The newest revision that `initialize` can agree on.
    public static let newestOfHandshake = Revision.november2025

    /// Whether the answer of a tool may have a structured form.
    public var hasStructuredContent: Bool {
        switch self {
        case .november2024, .march2025: false
        case .june2025, .november2025, .july2026: true
        }
    }

    /// The revisions that a client may choose from, newest first.
    static var all: JSON { .array(allCases.reversed().map { .string($0.rawValue) }) }
}

/// Keys of `_meta` that the protocol itself uses.
enum MetaKey {
    static let protocolVersion = "io.modelcontextprotocol/protocolVersion"
    static let clientCapabilities = "io.modelcontextprotocol/clientCapabilities"
    static let serverInfo = "io.modelcontextprotocol/serverInfo"
    static let subscription = "io.modelcontextprotocol/subscriptionId"
    static let progressToken = "progressToken"
}
