import ArgumentParser
import BuildBox
import Results
import TerminalText
import Foundation
import Git
import Integrity
import Pipeline

struct IntegrityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "integrity", abstract: "Reports tests that a change weakens, without running it.",
        discussion: """
            Compares the tests of a commit with those of its first parent, or with --against with those of the \
            newest commit that both have, by the standard rules of .testIntegrity(). \
            Exit code 5: the change would need approval. \
            docs/integrity.md lists what is detected and what is not.
            """)

    @Argument(help: "The commit to check.") var commit = "HEAD"
    @Option(help: "The repository.") var repository = "."
    @Option(
        help:
            "The branch or commit to compare with, at the newest commit it shares with COMMIT. Default: the first parent."
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

    /// With --against, the base is the merge base, so that newer commits of the target do not count as the change's.
    private func look() async throws -> (new: OID, old: OID, IntegrityOutcome) {
        let (commit, against) = (commit, against)
        return try await withRepository(at: repository) { store in
            let new = try store.resolve(commit)
            let old: OID
            if let against {
                let other = try store.resolve(against)
                old = try store.mergeBase(other, new) ?? other
            } else {
                guard let parent = try store.commit(new).parents.first else {
                    throw ValidationError("\(commit) has no parent; name the commit to compare with: --against main")
                }
                old = parent
            }
            return (new, old, try ChangeSources.outcome(of: [.standard], from: old, to: new, in: store))
        }
    }
}
