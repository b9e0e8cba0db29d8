import Foundation

/// One upload of a build, as App Store Connect describes it.
struct BuildUpload: Decodable, Sendable {
    var cfBundleShortVersionString: String?
    var cfBundleVersion: String?
    var state: State?

    struct State: Decodable, Sendable {
        var state: String?
        var errors: [Detail]?
        var warnings: [Detail]?
    }

    struct Detail: Decodable, Sendable {
        var code: String?
        var description: String?

        var words: String {
            let text = (description ?? "").plain(500)
            guard let code else { return text }
            return text.isEmpty ? code.plain(100) : "\(text) (\(code.plain(100)))"
        }
    }

    var isAwaitingUpload: Bool { state?.state == "AWAITING_UPLOAD" }
    var isComplete: Bool { state?.state == "COMPLETE" }
    var hasFailed: Bool { state?.state == "FAILED" }

    struct Draft: Encodable {
        var cfBundleShortVersionString: String
        var cfBundleVersion: String
        var platform: String
    }
}

/// A file of a ``BuildUpload``.
struct BuildUploadFile: Decodable, Sendable {
    var fileName: String?
    var fileSize: Int?
    var assetType: String?
    var assetDeliveryState: DeliveryState?
    var sourceFileChecksums: Checksums?
    var uploadOperations: [UploadOperation]?

    struct DeliveryState: Decodable, Sendable {
        var state: String?
        var errors: [BuildUpload.Detail]?
    }

    var isThere: Bool { ["UPLOAD_COMPLETE", "COMPLETE"].contains(assetDeliveryState?.state) }

    struct Draft: Encodable {
        var fileName: String
        var fileSize: Int
        var uti: String
        var assetType = "ASSET"
    }

    /// That all parts are there, with the file's digest.
    struct Commit: Encodable {
        var uploaded = true
        var sourceFileChecksums: Checksums
    }

    struct Checksums: Codable, Sendable {
        var file: Checksum?

        struct Checksum: Codable, Sendable {
            var hash: String?
            var algorithm: String?
        }
    }
}

/// How Apple wants one part of a file.
struct UploadOperation: Decodable, Sendable, Equatable {
    var method: String
    var url: String
    var offset: Int
    var length: Int
    var requestHeaders: [Header]?
    var expiration: String?
    var partNumber: Int?

    struct Header: Decodable, Sendable, Equatable {
        var name: String
        var value: String
    }

    /// Whether its address may no longer be used at `date`.
    func hasExpired(at date: Date) -> Bool {
        guard let expiration else { return false }
        let end =
            (try? Date(expiration, strategy: .iso8601))
            ?? (try? Date(expiration, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        return end.map { $0 <= date } ?? false
    }
}
