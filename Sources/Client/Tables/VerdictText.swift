package import Signing
import TerminalText

/// A verdict on a file of a release, for people.
package enum VerdictText {
    /// The file with its verdict, then a line for each check.
    package static func lines(of verdict: FileVerdict) -> String {
        let name = TerminalText.name(verdict.file, limit: 1_000)
        let width = verdict.checks.map(\.name.rawValue.count).max() ?? 0
        var lines = ["\(name): \(verdict.accepted ? "accepted" : "refused")"]
        for check in verdict.checks {
            let state = padded(check.state.rawValue, to: 6)
            let code = check.state == .failed ? check.code.map { " [\(TerminalText.name($0))]" } ?? "" : ""
            lines.append(
                "  \(state)  \(padded(check.name.rawValue, to: width))  "
                    + TerminalText.name(check.sentence, limit: 2_000) + code)
        }
        return lines.joined(separator: "\n")
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
