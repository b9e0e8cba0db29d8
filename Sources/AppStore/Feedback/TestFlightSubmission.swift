package import Foundation

/// What a tester sent from TestFlight: a crash, or a screenshot with words. All texts are of strangers.
package struct TestFlightSubmission: Sendable, Equatable {
    /// What kind it is, by the name of its resource.
    package enum Kind: String, Sendable, Codable, CaseIterable {
        case crash = "betaFeedbackCrashSubmissions"
        case screenshot = "betaFeedbackScreenshotSubmissions"
    }

    /// The longest words of a tester that are taken, in characters.
    static let longestComment = 10_000

    package var kind: Kind
    /// Its identifier at Apple.
    package var id: String
    package var createdAt: Date
    package var comment: String
    /// `iPhone17,1`.
    package var device: String
    /// `19.0`.
    package var system: String
    /// The number of the build that was tested, where Apple tells it.
    package var build: String?

    init(_ resource: AppStoreResource<Attributes>, _ kind: Kind, builds: [String: String]) throws {
        let attributes = resource.attributes
        guard Self.isIdentifier(resource.id),
            let date = attributes.createdDate.flatMap({ text in
                (try? Date(text, strategy: .iso8601))
                    ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            })
        else { throw AppStoreError(.badAnswer, "a submission has no identifier or date") }
        (self.kind, id, createdAt) = (kind, resource.id, date)
        comment = String((attributes.comment ?? "").unicodeScalars.prefix(Self.longestComment))
        device = (attributes.deviceModel ?? "").plain(100)
        system = (attributes.osVersion ?? "").plain(100)
        build = resource.ids("build").first.flatMap { builds[$0] }.map { $0.plain(100) }
    }

    /// Whether it can be an identifier of Apple's.
    package static func isIdentifier(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "-_.".utf8.contains($0)
            }
    }

    struct Attributes: Decodable, Sendable {
        var createdDate: String?
        var comment: String?
        var deviceModel: String?
        var osVersion: String?
    }
}
