import ArgumentParser
import BuildBox
import Foundation
import Git

struct Landed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "landed", abstract: "Lists which changes landed in the target, and how each was recognised.",
        discussion: "RANGE is OLD..NEW, or one revision for its whole history; default: the default branch.")

    @Argument(help: "OLD..NEW, or a revision.") var range: String?
    @Option(help: "The repository.") var folder = "."
    @Option(name: .customLong("changes"), help: "Branches that are changes, as a glob.") var changes: [String] = []
    @Flag(help: "Print release notes in Markdown.") var notes = false
    @Flag(help: "Print JSON.") var json = false

    private struct Row: Encodable {
        var change: String, head: String, commit: String, how: String, title: String, author: String
    }

    func run() async throws {
        let rules = try ChangeRefs(branchPatterns: changes)
        let (range, folder) = (range, folder)
        let rows = try await withRepository(at: folder) { repository in
            let snapshot = try repository.snapshot()
            let ends = range.map { $0.split(separator: ".", omittingEmptySubsequences: true).map(String.init) } ?? []
            let isRange = range?.contains("..") ?? false
            let newName = isRange ? (range?.hasSuffix("..") == true ? "HEAD" : ends.last) : range
            let new = try repository.resolve(newName ?? "HEAD")
            let old = isRange ? try ends.first.map { try repository.resolve($0) } : nil
            let heads = snapshot.refs.compactMap { ref, head -> ChangeHead? in
                if case .change(let name) = rules.kind(of: ref) { ChangeHead(name: name, head: head) } else { nil }
            }
            guard !heads.isEmpty else {
                throw CommandEnd(
                    code: 2,
                    message:
                        "\(folder) has no refs of changes. Fetch them: git fetch origin '+refs/pull/*/head:refs/pull/*/head', or name branches with --changes"
                )
            }
            return try Landings.recognise(heads, in: repository, from: old, to: new).map { landing in
                let head = try? repository.commit(landing.head)
                return Row(
                    change: landing.change, head: landing.head.hex, commit: landing.commit.hex,
                    how: landing.how.rawValue, title: head?.summary ?? "", author: head?.author.name ?? "")
            }
        }
        if json { return try JSONOutput.print(rows) }
        for row in rows {
            if notes {
                let number = Int(row.change) != nil ? "#\(row.change)" : "`\(row.change)`"
                Terminal.print("- \(markdown(row.title)) (\(number), \(markdown(row.author)))")
            } else {
                Terminal.print(TerminalNames.row([row.change, row.how, String(row.commit.prefix(10)), row.title]))
            }
        }
        Terminal.say("\(rows.count) changes landed")
    }

    private func markdown(_ text: String) -> String {
        String(TerminalNames.clean(text).flatMap { "\\`*_[]<>#|".contains($0) ? ["\\", $0] : [$0] })
    }
}
