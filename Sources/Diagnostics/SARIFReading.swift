package import Results
package import Foundation

/// Reads SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), as far as findings need it.
///
/// The code under test wrote the file: its size is bounded, no address in it is opened, and results that do not follow
/// the standard are skipped.
package enum SARIFReading {
    /// The largest file that is read, in bytes.
    package static let maximumBytes = 32 << 20
    static let maximumFindings = 5_000

    /// - Throws: ``SARIFProblem`` if the file is not SARIF.
    package static func findings(in data: Data, named name: String) throws -> [Finding] {
        let log: Log
        do { log = try JSONDecoder().decode(Log.self, from: data) } catch {
            throw SARIFProblem(description: "it is not SARIF 2.1.0: an object with \"runs\", each with \"results\"")
        }
        var findings: [Finding] = []
        for run in log.runs {
            let tool = run.tool?.driver?.name ?? "sarif"
            let rules = run.tool?.driver?.rules ?? []
            for result in run.results?.compactMap(\.value) ?? [] where result.counts {
                guard findings.count < maximumFindings else { return findings }
                let rule = result.ruleIndex.flatMap { rules.indices.contains($0) ? rules[$0].value : nil }
                let id = result.ruleId ?? result.rule?.id ?? rule?.id
                let place = result.locations?.first?.value?.physicalLocation
                let message = result.message?.text ?? rule?.shortDescription?.text ?? id ?? tool
                findings.append(
                    Finding(
                        rule: id ?? tool, severity: severity(result.level ?? rule?.level), message: message,
                        file: place?.artifactLocation?.uri.map { path($0) }, line: place?.region?.startLine,
                        column: place?.region?.startColumn,
                        suggestion: result.fixes?.first?.value?.description?.text,
                        excerpt: place?.region?.snippet?.text
                    ).bounded)
            }
        }
        return findings
    }

    private static func severity(_ level: String?) -> Finding.Severity {
        switch level {
        case "error": .error
        case "note", "none": .note
        default: .warning
        }
    }

    /// The path of a `uri` (RFC 3986): a relative one, or that of a file.
    private static func path(_ uri: String) -> String {
        let plain = uri.hasPrefix("file:///") ? String(uri.dropFirst(7)) : uri
        return plain.removingPercentEncoding ?? plain
    }

    // MARK: The file

    /// A value that is ignored if it has an unexpected type.
    private struct Lenient<Value: Decodable>: Decodable {
        var value: Value?
        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }

    private struct Log: Decodable { var runs: [Run] }
    private struct Run: Decodable { var tool: Tool?; var results: [Lenient<Result>]? }
    private struct Tool: Decodable { var driver: Driver? }
    private struct Driver: Decodable { var name: String?; var rules: [Lenient<Rule>]? }
    private struct Text: Decodable { var text: String? }
    private struct Reference: Decodable { var id: String? }

    private struct Rule: Decodable {
        struct Configuration: Decodable { var level: String? }
        var id: String?
        var shortDescription: Text?
        var defaultConfiguration: Configuration?
        var level: String? { defaultConfiguration?.level }
    }

    private struct Result: Decodable {
        struct Location: Decodable { var physicalLocation: Physical? }
        struct Physical: Decodable { var artifactLocation: Artifact?; var region: Region? }
        struct Artifact: Decodable { var uri: String? }
        struct Region: Decodable { var startLine: Int?; var startColumn: Int?; var snippet: Text? }
        struct Fix: Decodable { var description: Text? }
        struct Suppression: Decodable { var status: String? }

        var ruleId: String?
        var ruleIndex: Int?
        var rule: Reference?
        var level: String?
        var kind: String?
        var baselineState: String?
        var message: Text?
        var locations: [Lenient<Location>]?
        var fixes: [Lenient<Fix>]?
        var suppressions: [Lenient<Suppression>]?

        /// Whether the result reports a present problem: not one that passed, is gone, or was accepted.
        var counts: Bool {
            if let kind, ["pass", "notApplicable", "informational"].contains(kind) { return false }
            if baselineState == "absent" { return false }
            return !(suppressions ?? []).contains { ($0.value?.status ?? "accepted") == "accepted" }
        }
    }
}

struct SARIFProblem: Error, CustomStringConvertible {
    var description: String
}
