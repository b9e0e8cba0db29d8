import ForgeConnection
import Foundation

/// Source: https://docs.github.com/en/rest/code-scanning/code-scanning#upload-an-analysis-as-sarif-data
extension GitHubService {
    /// GitHub's limit for a compressed file, in bytes.
    static let mostScanBytes = 10 << 20

    /// Sends a SARIF file. If the same file is sent again, it replaces the first one.
    ///
    /// - Returns: GitHub's id of the upload.
    func send(_ scan: ScanState, _ sarif: [UInt8]) async throws -> String? {
        struct Body: Encodable {
            var commitSha: String
            var ref: String
            var sarif: String
        }
        struct Made: Decodable { var id: String? }
        struct Processed: Decodable {
            var processingStatus: String?
            var errors: [String]?
        }
        let text = Data(try Gzip.compress(sarif)).base64EncodedString()
        guard text.utf8.count <= Self.mostScanBytes else {
            throw ForgeError(.refused, "\(scan.file) is larger than 10 MB, compressed; GitHub takes no more")
        }
        let made = try await session.send(
            .send(
                .post, "\(root)/code-scanning/sarifs", Body(commitSha: scan.commit, ref: scan.ref, sarif: text))
        ).decode(Made.self)
        guard let id = made.id else { return nil }
        let processed = try await session.send(.get("\(root)/code-scanning/sarifs/\(ForgeRequest.part(id))"))
            .decode(Processed.self)
        guard processed.processingStatus != "failed" else {
            let why = (processed.errors ?? []).prefix(3).joined(separator: "; ")
            throw ForgeError(.refused, "code scanning can't use \(scan.file): \(String(why.prefix(500)))")
        }
        return id
    }
}
