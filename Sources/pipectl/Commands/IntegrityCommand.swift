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
        commandName: "integrity", abstract: "Says how a change weakens its tests, before anybody runs it.",
        discussion: """
            Holds the tests of a commit against those of the commit that it would land on, by the rules that \
            .testIntegrity() sets, without running anything. Ends with 5 where a person would be asked. \
            docs/integrity.md says what is seen and what is not.
            """)

    @Argument(help: "The commit to look at.") var commit = "HEAD"
    @Option(help: "The repository.") var repository = "."
    @Option(help: "The commit or branch that it is held against; its parent if there is no other.") var against: String?
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
            return Terminal.say("nothing is weaker than in \(old.hex.prefix(10))")
        }
        let count = outcome.breaches.count
        throw CommandEnd(
            code: Verdict.needsApproval.exitCode,
            message: "\(count) finding\(count == 1 ? "" : "s") that a person would be asked about")
    }

    /// Beside the branch that it wants into, a commit is held against where the two parted.
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
                    throw ValidationError("\(commit) has no parent; name what it is held against: --against main")
                }
                old = parent
            }
            return (new, old, try ChangeSources.outcome(of: [.standard], from: old, to: new, in: store))
        }
    }
}
