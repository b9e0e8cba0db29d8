import ArgumentParser
import Client
import Control
import Foundation
import Git
import LandedChanges
import StateFiles
import Watching

struct Landed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "landed", abstract: "Lists the changes that landed in the target, and how each was recognised.",
        discussion: """
            RANGE is OLD..NEW, or one revision for its whole history. Default: the target branch of the watched \
            repository, else origin's default branch, else HEAD.

            How a change was recognised: merge, fastForward, squash (one commit has its effect), rebase (a series of \
            commits repeats its commits), inside (its head is part of another change that landed).
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "OLD..NEW, or a revision.") var range: String?
    @Option(help: "The repository.") var folder = "."
    @Option(
        name: .customLong("changes"),
        help: ArgumentHelp(
            "Branches that count as changes. Default: the daemon's setting for this repository.",
            valueName: "glob")
    )
    var changes: [String] = []
    @Flag(help: "Print release notes in Markdown.") var notes = false
    @Flag(help: "Print JSON.") var json = false

    private struct Row: Encodable {
        var change: String, head: String, commit: String, how: String, title: String, author: String
    }

    private struct Facts: Sendable {
        var draft: LandingDraft
        var objects: String
    }

    func run() async throws {
        // This process only reads objects that are in the repository already, and hashing each again would be slow.
        LibGit2.trustStoredObjects()
        let known = await watched()
        let rules = try ChangeRefs(branchPatterns: changes.isEmpty ? known?.changePatterns ?? [] : changes)
        let place = LandedPlace(folder: self.folder, watched: known, rules: rules)
        let (folder, range) = try await place.find(self.range)
        let memory = (try? state.folder()).flatMap { LandedMemory($0) }
        let facts = try await withRepository(at: folder) { repository in
            let new = try repository.resolve(range.new)
            let old = try range.old.map { try repository.resolve($0) }
            let heads = try repository.snapshot().refs.compactMap { ref, head -> ChangeHead? in
                if case .change(let name) = rules.kind(of: ref) { ChangeHead(name: name, head: head) } else { nil }
            }
            guard !heads.isEmpty else {
                throw CommandEnd(
                    code: 2,
                    message:
                        "no pull request refs found in \(folder). Fetch them: "
                        + "git fetch origin '+refs/pull/*/head:refs/pull/*/head', or name branches with --changes")
            }
            let draft = try Landings.draft(
                heads, in: repository, from: old, to: new, keeping: memory?.file(of: repository.gitDirectory))
            return Facts(draft: draft, objects: repository.gitDirectory)
        }
        let landings = try await landings(facts)
        let rows = try await withRepository(at: folder) { repository in
            landings.map { landing in
                let head = try? repository.commit(landing.head)
                return Row(
                    change: landing.change, head: landing.head.hex, commit: landing.commit.hex,
                    how: landing.how.rawValue, title: head?.summary ?? "", author: head?.author.name ?? "")
            }
        }
        if json { return try JSONOutput.print(rows) }
        for row in rows { print(row) }
        Terminal.say(rows.count == 1 ? "1 change landed" : "\(rows.count) changes landed")
    }

    private func landings(_ facts: Facts) async throws -> [LandedChange] {
        let merger = try await ChangeMerger.find()
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("pipectl-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let confirmed = try await merger.confirmed(facts.draft.questions, objects: facts.objects, scratch: scratch)
        return facts.draft.landings(confirmed: confirmed)
    }

    private func print(_ row: Row) {
        guard notes else {
            return Terminal.print(
                TerminalNames.row([row.change, row.how, String(row.commit.prefix(10)), row.title]))
        }
        let number = Int(row.change) != nil ? "#\(row.change)" : "`\(row.change)`"
        Terminal.print("- \(markdown(row.title)) (\(number), \(markdown(row.author)))")
    }

    /// What a running daemon knows about this repository, or about the one that it is a clone of.
    private func watched() async -> RepositoryFacts? {
        guard let socket = try? state.folder().socket,
            let client = try? await DaemonClient<DaemonRequest, DaemonReply>.connect(path: socket),
            case .repository(let facts)? = try? await client.ask(.repository(RunSubject.repository(folder)))
        else { return nil }
        return facts
    }

    private func markdown(_ text: String) -> String {
        String(TerminalNames.clean(text).flatMap { "\\`*_[]<>#|".contains($0) ? ["\\", $0] : [$0] })
    }
}
