import Workspaces
import ArgumentParser
import Client
import Foundation
import Git
import Pipeline
import Results
import StateFiles
import TerminalText
import TestIntegrity
import Evaluating

struct IntegrityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integrity", abstract: "Reports tests that a change weakens, without running it.",
        discussion: """
            Compares the tests of a commit with those of its base. In a repository that a daemon watches, or a clone \
            of one, the base is the newest commit that it shares with the target branch, and the .testIntegrity() \
            rules of that branch apply. Elsewhere the base is its first parent, or with --against the newest \
            commit that both have, and the standard rules apply. Exit code 5: the change would need approval. \
            docs/integrity.md lists what is detected and what is not.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The commit to check.") var commit = "HEAD"
    @OptionGroup var subject: RepositoryOption
    @Option(
        help:
            "The branch or commit to compare with, at the newest commit it shares with COMMIT. Default: the target branch, else the first parent."
    ) var against: String?
    @Flag(help: "Print JSON.") var json = false

    private struct Output: Encodable {
        struct Breach: Encodable {
            var rule: String
            var isCertain: Bool
            var test: String?
            var message: String
            var file: String
            var line: Int?
        }
        var commit: String
        var against: String
        var testsBefore: Int
        var testsAfter: Int
        var breaches: [Breach]
    }

    func run() async throws {
        let (new, old, outcome) = try await look()
        if json {
            try JSONOutput.print(
                Output(
                    commit: new.hex, against: old.hex, testsBefore: outcome.testsBefore, testsAfter: outcome.testsAfter,
                    breaches: outcome.breaches.map {
                        Output.Breach(
                            rule: $0.kind.rawValue, isCertain: $0.certainty == .seen, test: $0.test,
                            message: $0.message,
                            file: $0.file, line: $0.line)
                    }))
        } else {
            for breach in outcome.breaches {
                let place = breach.line.map { "\(breach.file):\($0)" } ?? breach.file
                Terminal.print(
                    TerminalText.name("\(place): \(breach.kind.rawValue): \(breach.message)", limit: 1_000))
            }
        }
        guard !outcome.breaches.isEmpty else {
            return Terminal.say("no test is weaker than in \(old.hex.prefix(10))")
        }
        let count = outcome.breaches.count
        throw CommandEnd(
            code: Verdict.needsApproval.exitCode,
            message: "\(Count.text(count, "finding")) would need approval")
    }

    /// Compares the commit with the point where it left its target branch.
    private func look() async throws -> (new: OID, old: OID, IntegrityOutcome) {
        let place = try await IntegrityPlace.find(subject, state)
        for note in place.notes { Terminal.say(TerminalText.name(note, limit: 1_000)) }
        let (commit, against) = (commit, against)
        let (new, old) = try await withRepository(at: place.folder) { store in
            let new = try store.resolve(commit)
            return (new, try place.base(of: new, against: against, in: store))
        }
        guard let old else {
            throw ValidationError("\(commit) has no parent; name the commit to compare with: --against main")
        }
        let reader = SwiftReaderProcess(beside: nil, .commit(try state.folder()))
        let sources = ChangeSources(in: place.folder, from: old, to: new, reader: reader)
        return (new, old, try await sources.outcome(of: place.rules))
    }
}
