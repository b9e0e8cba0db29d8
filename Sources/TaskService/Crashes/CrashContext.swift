import CrashReports
import Foundation
import Results
import TerminalText

/// What an agent is told about a crash, as Markdown.
///
/// It quotes a report that anyone may have sent, and code and messages of commits. Hidden characters are visible, and
/// nothing in it ends a block of code early; it is still data, which the prompt marks.
package struct CrashContext: Sendable {
    /// In bytes.
    package static let limit = 48 << 10

    let report: CrashReport
    let release: ReleaseRecord?
    let landed: [String]
    let code: CrashCode

    /// At most ``limit`` bytes: what does not fit is left out, the innermost calls last.
    package var markdown: String {
        var parts = [crash, calls, found]
        parts += code.passages.map(passage)
        parts += code.changes.map(history)
        var text = ""
        var isCut = false
        for part in parts where !part.isEmpty {
            if text.utf8.count + part.utf8.count + 80 > Self.limit { isCut = true } else { text += part + "\n" }
        }
        return isCut ? text + "Some of the code was left out for its length.\n" : text
    }

    private var crash: String {
        var rows = ["### The crash\n"]
        func row(_ name: String, _ value: String?) {
            if let value { rows.append("- \(name): \(Self.line(value))") }
        }
        row(
            "program",
            report.program.map { name in
                [name, report.version, report.build.map { "(\($0))" }].compactMap { $0 }.joined(separator: " ")
            })
        row("system", [report.system, report.architecture].compactMap { $0 }.joined(separator: ", ").nonEmpty)
        row("when", report.at.map { $0.formatted(.iso8601) })
        row("stopped by", report.reason)
        guard let message = report.message else { return rows.joined(separator: "\n") + "\n" }
        return rows.joined(separator: "\n") + "\n\n" + Self.block(TerminalText.lines(message), "") + "\n"
    }

    private var calls: String {
        var lines: [String] = []
        var left = 60
        for (number, (frame, place)) in zip(report.frames, code.places).enumerated() {
            // The program's own calls and the way to them; the rest says little.
            guard left > 0, frame.isOwn || number < 12 || report.frames[number...].contains(where: \.isOwn) else {
                continue
            }
            left -= 1
            let name = TerminalText.name(frame.function ?? "?", limit: 200)
            let spot = place.map { place in
                "  \(place.file)\(place.line.map { ":\($0)" } ?? "")\(place.isGuessed ? " (by its name)" : "")"
            }
            let image = spot ?? frame.image.map { "  in \($0)" } ?? ""
            lines.append("\(frame.isOwn ? "*" : " ") \(number)  \(name)\(TerminalText.name(image, limit: 300))")
        }
        return "### Its calls\n\nThe innermost is first; those of the program have a star.\n\n"
            + Self.block(lines.joined(separator: "\n"), "")
    }

    private var found: String {
        let commit = code.commit.prefix(12)
        guard let release else {
            return
                "### Where it comes from\n\nNo release of this repository has this version. The code below is that of commit "
                + "\(commit), the target's newest.\n"
        }
        var text =
            "### Where it comes from\n\nRelease \(Self.line(release.version)), build \(release.buildNumber), commit "
            + "\(release.commit.prefix(12))."
        if !code.isOfRelease {
            text += " That commit is gone; the code below is that of \(commit), the target's newest."
        }
        if let outdated = code.outdated { text += " \(Self.line(outdated.reason))" }
        guard !landed.isEmpty else { return text + "\n" }
        let names = landed.prefix(30).map { "\n- \(Self.line($0))" }.joined()
        return text + "\n\nChanges that landed in it:\n\(names)\n"
    }

    private func passage(_ passage: CrashCode.Passage) -> String {
        let width = String(passage.first + passage.lines.count).count
        let lines = passage.lines.enumerated().map { index, text in
            let number = passage.first + index
            let digits = String(repeating: " ", count: max(0, width - String(number).count)) + String(number)
            return "\(number == passage.place.line ? ">" : " ") \(digits)  \(TerminalText.name(text, limit: 400))"
        }
        let title = Self.line("\(passage.place.file):\(passage.place.line ?? passage.first)")
        var text = "### \(title)\n\n" + Self.block(lines.joined(separator: "\n"), "")
        if let change = passage.lastChange { text += "\nCommit \(change.prefix(12)) changed these lines last.\n" }
        return text
    }

    private func history(_ file: String, _ changes: [CrashCode.Change]) -> String {
        let rows = changes.map { change in
            "- \(change.commit.prefix(12)), \(change.at.formatted(.iso8601.year().month().day())), "
                + "\(Self.line(change.author)): \(Self.line(change.summary))"
        }
        return "### The last changes of \(Self.line(file))\n\n\(rows.joined(separator: "\n"))\n"
    }

    /// A text of others in a line of Markdown.
    private static func line(_ text: String) -> String {
        TerminalText.name(text, limit: 300).replacing("`", with: "'")
    }

    /// A block of code that its content can't end.
    private static func block(_ text: String, _ language: String) -> String {
        var (longest, run) = (0, 0)
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: max(3, longest + 1))
        return "\(fence)\(language)\n\(text)\n\(fence)\n"
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
