import Foundation

/// A resource of App Store Connect, as JSON:API writes it.
struct AppStoreResource<Attributes: Decodable & Sendable>: Decodable, Sendable {
    var id: String
    var attributes: Attributes
    private var relationships: [String: AppStoreRelationship]?

    /// The ids at the other end of a relationship, as far as the answer has them.
    func ids(_ relationship: String) -> [String] { relationships?[relationship]?.ids ?? [] }
}

/// The ids at the other end of a relationship: one, several, or none where the answer leaves them out.
private struct AppStoreRelationship: Decodable, Sendable {
    var ids: [String]

    private struct Reference: Decodable { var id: String }
    private enum Key: String, CodingKey { case data }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if let many = try? container.decode([Reference].self, forKey: .data) {
            ids = many.map(\.id)
        } else {
            ids = (try? container.decode(Reference.self, forKey: .data)).map { [$0.id] } ?? []
        }
    }
}

/// An answer with one resource.
struct AppStoreDocument<Attributes: Decodable & Sendable>: Decodable, Sendable {
    var data: AppStoreResource<Attributes>
}

/// An answer with a page of resources.
struct AppStorePage<Attributes: Decodable & Sendable>: Decodable, Sendable {
    var data: [AppStoreResource<Attributes>]
    var links: Links?

    struct Links: Decodable, Sendable {
        /// The whole address of the next page.
        var next: String?
    }
}

/// What is sent to make or change a resource.
struct AppStoreDraft<Attributes: Encodable>: Encodable {
    var data: Content

    struct Content: Encodable {
        var type: String
        var id: String?
        var attributes: Attributes?
        var relationships: [String: AppStoreLink]?
    }

    init(_ type: String, id: String? = nil, _ attributes: Attributes?, to links: [String: AppStoreReference] = [:]) {
        data = Content(
            type: type, id: id, attributes: attributes,
            relationships: links.isEmpty ? nil : links.mapValues { AppStoreLink(data: $0) })
    }
}

/// The end of a relationship.
struct AppStoreLink: Encodable { var data: AppStoreReference }

/// The ends of a relationship that leads to many.
struct AppStoreLinks: Encodable { var data: [AppStoreReference] }

/// The type and id of a resource.
struct AppStoreReference: Encodable, Equatable {
    var type: String
    var id: String

    init(_ type: String, _ id: String) {
        self.type = type
        self.id = id
    }
}

/// Stands for attributes that nobody needs.
struct NoAttributes: Codable, Sendable {}

/// The number of requests that the key may still send this hour, from `X-Rate-Limit`.
///
/// As in `user-hour-lim:3600;user-hour-rem:3545;`. Source:
/// https://developer.apple.com/documentation/appstoreconnectapi/identifying-rate-limits
struct AppStoreLimit: Sendable, Equatable {
    var most: Int?
    var remaining: Int?

    init(_ header: String) {
        for part in header.split(separator: ";") {
            let pair = part.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard pair.count == 2 else { continue }
            if pair[0] == "user-hour-lim" { most = Int(pair[1]) }
            if pair[0] == "user-hour-rem" { remaining = Int(pair[1]) }
        }
    }
}
