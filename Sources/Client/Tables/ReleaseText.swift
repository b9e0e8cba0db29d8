package import Control
import Foundation
package import Results
import TerminalText

/// Releases as lines for people.
package enum ReleaseText {
    package static func table(_ releases: [ReleaseRecord]) -> String {
        TextTable.text(
            ["version", "build", "repository", "commit", "made", "run", "state", "where"],
            releases.map { release in
                [
                    release.version, "\(release.buildNumber)", release.repository, String(release.commit.prefix(10)),
                    release.madeAt.iso8601Day, "\(release.run)", release.standing,
                    release.publications.map { "\($0.step): \($0.state.rawValue)" }.joined(separator: ", "),
                ]
            })
    }

    /// What whoever takes the files of a release must know; nil: nothing.
    package static func warning(_ release: ReleaseRecord) -> String? {
        guard release.state == .yanked else { return nil }
        let why = release.reason.map { ": \($0)" } ?? ""
        return TerminalText.name("release \(release.version) was withdrawn\(why)", limit: 2_000)
    }

    package static func text(_ detail: ReleaseDetail) -> String {
        let release = detail.release
        var lines = [
            "\(release.repository) \(release.version), build \(release.buildNumber): \(release.standing)"
                + (release.reason.map { ": \($0)" } ?? ""),
            "commit \(release.commit), made by run \(release.run) of \(release.workflow) on \(release.madeAt.iso8601)",
            "files in \(detail.folder)",
        ]
        if let gate = release.gate { lines.append(gate.inWords) }
        for publication in release.publications {
            lines.append("\(publication.step): \(publication.state.rawValue) \(publication.destination)")
            if let reason = publication.reason { lines.append("  \(reason)") }
            if let address = publication.address { lines.append("  \(address)") }
            // Nobody is to install what was withdrawn.
            if release.state != .yanked, let install = publication.install { lines.append("  \(install)") }
        }
        var text = lines.map { TerminalText.name($0, limit: 1_000) + "\n" }.joined() + "\n"
        for file in release.files { text += "\(file.sha256)  \(TerminalText.name(file.name, limit: 300))\n" }
        // Each line begins where its author began it.
        let notes = TerminalText.lines(release.notes).replacing("\n  ", with: "\n")
        return text + "\n" + notes + (notes.hasSuffix("\n") ? "" : "\n")
    }
}
