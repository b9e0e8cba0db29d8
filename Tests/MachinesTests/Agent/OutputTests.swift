import Foundation
import Pipeline
import SystemPackage
import TestBasics
import TestSupport
import Testing

@testable import Engine
@testable import Machines
@testable import Results

/// Stored outputs travel by their pieces: a machine that keeps others gets only what it lacks.
@Suite(.runFolder, .timeLimit(.minutes(3))) struct OutputTests {
    /// Two steps whose outputs are nearly the same.
    private let steps = [
        PlannedStep.shell("one", "mkdir -p one; head -c 3000000 /dev/urandom > one/a; echo x > one/b") {
            $0.outputs = ["one/**"]
        },
        PlannedStep.shell(
            "two", "mkdir -p two; (head -c 100000 one/a; echo new; tail -c +100001 one/a) > two/a", needs: ["one"]
        ) {
            $0.outputs = ["two/**"]
        },
    ]
    private let use = PlannedStep.shell("use", "test $(wc -c < two/a) -gt 3000000", needs: ["two"])

    private func proved(_ outcome: RunOutcome, _ bench: MachineBench) throws -> [String: ProvedStep] {
        var proved: [String: ProvedStep] = [:]
        for step in steps {
            let outputs = try #require(outcome[step.name].outputs, "\(outcome.findings)")
            proved[step.name] = ProvedStep(
                citation: ProofCitation(run: 7, attempt: 1, step: step.name), key: key(step.name),
                restores: StoredOutputs(
                    path: "\(bench.room.path("first"))/artifacts/\(outputs.sha256)", sha256: outputs.sha256))
        }
        return proved
    }

    private func key(_ step: String) -> StepKey {
        StepKey(value: String(repeating: step == "one" ? "a" : "b", count: 64), definition: "d", parts: [:])
    }

    @Test func `only the pieces that a machine lacks are sent, and a damaged one is sent again`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await bench.repository.commit(["a": "a\n"], "one")
        let made = try await bench.withMachine(at: commit) { place, _ in
            await run(
                steps, bench.setting(place, run: "first") { $0.keys = ["one": key("one"), "two": key("two")] })
        }
        let proved = try proved(made, bench)
        func sent(_ names: [String], _ run: String) async throws -> Int {
            try await bench.withMachine(at: commit) { place, client in
                let all = names.contains("two") ? steps + [use] : [steps[0]]
                let outcome = await MachinesTests.run(
                    all, bench.setting(place, run: run) { $0.proved = proved.filter { names.contains($0.key) } })
                #expect(outcome.verdict == .passed, "\(outcome.findings)")
                return client.sent.outputs
            }
        }
        #expect(try await sent(["one"], "second") >= 3_000_000)
        #expect(try await sent(["one", "two"], "third") <= 1_700_000)
        let kept = "\(bench.agentFolder)/outputs"
        let one = try #require(made["one"].outputs?.sha256)
        let two = try #require(made["two"].outputs?.sha256)
        for name in [two, two + ".pieces"] { try FileManager.default.removeItem(atPath: "\(kept)/\(name)") }
        // The length stays, so only the digests of pieces tell.
        let file = try FileDescriptor.open(FilePath("\(kept)/\(one)"), .writeOnly)
        _ = try file.closeAfter { try file.writeAll(toAbsoluteOffset: 2_000_000, Array("damage".utf8)) }
        #expect(try await sent(["two"], "fourth") >= 3_000_000)
        // What was damaged is not kept.
        #expect(!FileManager.default.fileExists(atPath: "\(kept)/\(one)"))
    }
}
