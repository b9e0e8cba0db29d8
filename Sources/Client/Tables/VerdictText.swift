package import Signing
import TerminalText

/// A verdict on a file of a release, for people.
package enum VerdictText {
    /// The file with its verdict, then a line for each check. What is not there explains why a file is refused, and
    /// nothing of one that is accepted.
    package static func lines(of verdict: FileVerdict) -> String {
        let name = TerminalText.name(verdict.file, limit: 1_000)
        let checks = verdict.checks.filter { !verdict.accepted || $0.state != .absent || $0.code != nil }
        let width = checks.map(\.name.rawValue.count).max() ?? 0
        var lines = ["\(name): \(verdict.accepted ? "accepted" : "refused")"]
        for check in checks {
            let state = padded(check.state.rawValue, to: 6)
            let code = check.state == .failed ? check.code.map { " [\(TerminalText.name($0))]" } ?? "" : ""
            lines.append(
                "  \(state)  \(padded(check.name.rawValue, to: width))  "
                    + TerminalText.name(check.sentence, limit: 2_000) + code)
        }
        return lines.joined(separator: "\n")
    }

    /// One line about verdicts of which none is a refusal.
    package static func summary(_ verdicts: [FileVerdict]) -> String {
        let keys = Set(verdicts.flatMap(\.signedBy).map(\.description)).sorted()
        let by = keys.isEmpty ? "" : ", signed by \(keys.joined(separator: ", "))"
        return "\(verdicts.count == 1 ? "1 file" : "all \(verdicts.count) files") accepted\(by)"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
