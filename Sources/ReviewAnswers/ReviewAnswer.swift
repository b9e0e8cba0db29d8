package import Foundation
import Pipeline
import ProofKeys
package import Results

/// The answer of a reviewer: one JSON object and nothing else.
///
/// Its text is as untrusted as the change that it quotes. Lengths are limited here; code that shows the text must
/// escape it.
package struct ReviewAnswer: Decodable {
    struct Found: Decodable {
        var severity: ReviewSeverity
        var message: String
        var rule: String?
        var file: String?
        var line: Int?
        var endLine: Int?
        var suggestion: String?
        var replacement: String?
    }

    struct Earlier: Decodable {
        var fingerprint: String
        var fate: ReviewFinding.Fate
    }

    var findings: [Found]
    var earlier: [Earlier]?

    fileprivate static let longest = 4_000

    /// - Throws: ``ReviewProblem`` if the answer is not valid.
    package static func read(_ data: Data) throws(ReviewProblem) -> ReviewAnswer {
        guard data.count <= ReviewPlan.answerBytes else {
            throw ReviewProblem("its answer is longer than \(ReviewPlan.answerBytes >> 10) KiB")
        }
        guard data.contains(where: { !" \n\r\t".utf8.contains($0) }) else {
            throw ReviewProblem("it gave no answer; without findings the answer is {\"findings\": []}")
        }
        do {
            return try JSONDecoder().decode(ReviewAnswer.self, from: data)
        } catch let error as DecodingError {
            throw ReviewProblem(
                "its answer is not the JSON that docs/review.md describes: \(ReviewAnswer.words(error))")
        } catch {
            throw ReviewProblem("its answer can't be read: \(error)")
        }
    }

    private static func words(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "\"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "it is not a JSON object, or there is text around it"
                : "\"\(context.codingPath.map(\.stringValue).joined(separator: "."))\" has another type or value"
        @unknown default: "it can't be decoded"
        }
    }

    /// The record after this review: earlier findings with their updated fate, then new findings.
    ///
    /// - Parameter before: The record with the earlier findings.
    package func record(after before: ReviewRecord, maximum: Int) -> ReviewRecord {
        var record = before
        let fates = Dictionary(
            (earlier ?? []).map { ($0.fingerprint, $0.fate) }, uniquingKeysWith: { first, _ in first })
        for index in record.findings.indices {
            record.findings[index].fate = fates[record.findings[index].fingerprint] ?? record.findings[index].fate
        }
        var known = Dictionary(
            record.findings.enumerated().map { ($0.element.fingerprint, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        var new: [ReviewFinding] = []
        for found in findings {
            let one = found.finding(head: before.head)
            if let place = known[one.fingerprint] {
                // A known finding. If it was fixed and is found again, it is open again; if it was withdrawn, it stays
                // withdrawn.
                if place < record.findings.count, record.findings[place].fate == .fixed,
                    fates[one.fingerprint] == nil
                {
                    record.findings[place].fate = .open
                }
                continue
            }
            known[one.fingerprint] = .max
            new.append(one)
        }
        // The most severe come first; equally severe ones keep the reviewer's order.
        let sorted = new.enumerated().sorted {
            ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset)
        }.map(\.element)
        record.findings += sorted.prefix(max(maximum, 0))
        record.leftOut = max(sorted.count - max(maximum, 0), 0)
        return record
    }

    fileprivate static func cut(_ text: String) -> String {
        text.utf8.count <= longest ? text : String(decoding: text.utf8.prefix(longest), as: UTF8.self) + "…"
    }
}

extension ReviewAnswer.Found {
    fileprivate func finding(head: String) -> ReviewFinding {
        let rule = String((rule ?? "review").prefix(100))
        let file = file.map { String($0.prefix(1_000)) }
        // Numbers and white space are ignored, because they change when lines move.
        let words = message.lowercased().split { !$0.isLetter }.joined(separator: " ")
        let line = line.flatMap { $0 > 0 ? $0 : nil }
        return ReviewFinding(
            fingerprint: String(KeyDigest.of(["review", rule, file ?? "", words]).prefix(16)), severity: severity,
            rule: rule, message: ReviewAnswer.cut(message), file: file, line: line,
            endLine: endLine.flatMap { end in line.flatMap { end > $0 ? end : nil } },
            suggestion: suggestion.map(ReviewAnswer.cut), replacement: line == nil ? nil : usableReplacement,
            fate: .open, head: head)
    }

    /// The replacement, if it can be shown as it is: not long, and without characters that look like others or like
    /// nothing. Somebody may apply it by one click.
    private var usableReplacement: String? {
        guard let replacement, replacement.utf8.count <= ReviewAnswer.longest else { return nil }
        let isPlain = replacement.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar == "\n" || scalar == "\t"
            case .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        return isPlain ? replacement : nil
    }
}

/// Why a reviewer's answer can't be used.
package struct ReviewProblem: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
