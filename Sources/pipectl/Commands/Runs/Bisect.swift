import ArgumentParser
import Client
import CommandHelp
import Control
import Foundation
import Git
import Results
import StateFiles
import TerminalText

struct Bisect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect", abstract: "Finds the commit, and the change, that broke a test.",
        discussion: """
            Follows the branch's first parents. Uses results from the archive and runs only commits without one, \
            and only the step with the test; a daemon uses idle slots for this. Skips commits that can't be \
            tested. Exit code 0: the cause was found; 7: there is none to find.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var daemonOptions: DaemonOptionGroup
    @Argument(help: "The test's name in a report, or a part of the name that is unique.") var test: String
    @Option(help: "A commit where the test passes. Default: the newest one found.") var good: String?
    @Option(help: "A commit where the test fails. Default: the branch's tip.") var bad: String?
    @Option(help: "The workflow that runs the test. Default: the one that ran it last.") var workflow: String?
    @Option(help: "The branch. Default: the repository's target branch.") var branch: String?
    @OptionGroup var subject: RepositoryOption
    @Flag(inversion: .prefixedNo, help: "Run the first bad and the last good commit again to confirm.") var verify =
        true
    @Flag(help: "Print the answer as JSON.") var json = false

    func run() async throws {
        let folder = try state.folder()
        let access = try await daemonOptions.open(folder, "bisect")
        do {
            try await IdleFlags.check(daemonOptions.given, access)
            var request = BisectRequest(test: test, repository: subject.place)
            (request.good, request.bad, request.workflow) = (await commit(good), await commit(bad), workflow)
            (request.branch, request.verifies) = (branch, verify)
            let outcome = try await search(request, access)
            await access.close()
            try show(outcome)
        } catch {
            await access.close()
            throw error
        }
    }

    /// A commit by its name in this folder, which may be a clone with other names.
    private func commit(_ text: String?) async -> String? {
        guard let text else { return nil }
        // With a repository's name, this folder's names mean nothing.
        guard let folder = subject.path else { return text }
        let here = try? await withRepository(at: folder) { try $0.resolve("\(text)^{commit}").hex }
        return here ?? text
    }

    private func search(_ request: BisectRequest, _ access: DaemonAccess) async throws -> BisectProgress? {
        let last = LastProgress()
        @Sendable func ask() async throws {
            try await access.ask(.bisect(request)) { reply in
                guard case .bisect(let progress) = reply else { return }
                if case .note(let text) = progress {
                    Terminal.say(TerminalText.name(text, limit: 500))
                } else {
                    await last.set(progress)
                }
            }
        }
        guard case .own(let daemon) = access else {
            try await ask()
            return await last.progress
        }
        // This command must not start runs that an earlier daemon left waiting.
        await daemon.startOnly([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await daemon.serve() }
            defer { group.cancelAll() }
            try await ask()
            await daemon.drain()
            try await group.waitForAll()
        }
        return await last.progress
    }

    private func show(_ outcome: BisectProgress?) throws {
        switch outcome {
        case .found(let answer):
            if json { return try JSONOutput.print(answer) }
            Terminal.print(TerminalText.name(answer.inWords, limit: 2_000))
            func row(_ name: String, _ commit: BisectAnswer.Commit) {
                let run = commit.run.map { "run \($0)" } ?? "-"
                let text = "\(commit.id.prefix(10))  \(run)  \(commit.author)  \(commit.title)"
                Terminal.print("  \(name)  \(TerminalText.name(text, limit: 400))")
                if let reason = commit.reason { Terminal.print("           \(TerminalText.name(reason, limit: 400))") }
            }
            row("fails  ", answer.broken)
            for suspect in answer.suspects { row("suspect", suspect) }
            row("passes ", answer.good)
            let verified =
                answer.isVerified.map { $0 ? "; confirmed by a second run of both" : "; NOT confirmed" } ?? ""
            Terminal.print(
                "  \(Count.text(answer.fromArchive, "commit")) known from the archive, \(Count.text(answer.runs, "run"))\(verified)"
            )
        case .nothing(let why): throw CommandEnd(code: 7, message: TerminalText.name(why, limit: 2_000))
        case .note, nil: throw CommandEnd(code: 3, message: "the bisection ended without an answer")
        }
    }
}

private actor LastProgress {
    private(set) var progress: BisectProgress?
    func set(_ progress: BisectProgress) { self.progress = progress }
}
