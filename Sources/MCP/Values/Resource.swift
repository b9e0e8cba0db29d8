/// A text that a model may read, with its URI.
public struct Resource: Sendable {
    /// The URI, or the URI template.
    public var uri: String
    public var name: String
    /// The title for people.
    public var title: String
    /// The MIME type.
    public var type: String

    public init(uri: String, name: String, title: String, type: String) {
        self.uri = uri
        self.name = name
        self.title = title
        self.type = type
    }

    var listing: JSON {
        ["uri": .string(uri), "name": .string(name), "title": .string(title), "mimeType": .string(type)]
    }

    var template: JSON {
        ["uriTemplate": .string(uri), "name": .string(name), "title": .string(title), "mimeType": .string(type)]
    }
}

/// The resources of a server.
public protocol ResourceProvider: Sendable {
    /// The newest and most useful ones. The others are reached through ``templates``.
    func resources() async throws -> [Resource]
    /// URIs with variables in braces (RFC 6570, level 1).
    var templates: [Resource] { get }
    /// The text and its MIME type; nil if there is no resource with this URI.
    func read(_ uri: String) async throws -> (text: String, type: String)?
}
