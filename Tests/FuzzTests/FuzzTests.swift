import Foundation
import Pipeline
import Results
import Testing

@testable import TestReports

/// Fuzzes every parser of untrusted bytes: shortly here, for an hour with `script/fuzz`.
@Suite(.serialized) struct FuzzTests {
    @Test(.timeLimit(.minutes(120)), arguments: FuzzTarget.all.filter(FuzzPlan.includes))
    func everyInputIsSurvived(_ target: FuzzTarget) async throws {
        let plan = try FuzzPlan.fromEnvironment()
        let outcome = try await Fuzzer(target: target, plan: plan).run()
        print("fuzz: \(target.name): \(outcome.executions) inputs, \(outcome.failures.count) failures")
        for failure in outcome.failures { Issue.record("\(failure)") }
        #expect(outcome.executions > 0)
    }

    @Test func `script/fuzz has all targets`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = try String(contentsOf: root.appending(path: "script/fuzz"), encoding: .utf8)
        let list = try #require(script.firstMatch(of: /targets=\(([a-z0-9 \n-]+)\)/))
        #expect(Set(list.1.split(whereSeparator: \.isWhitespace).map(String.init)) == Set(FuzzTarget.all.map(\.name)))
    }

    @Test func `each format of test results has a target`() {
        let formats = Set(FuzzTarget.formats.map { $0.format })
        for reading in ResultReadings.all {
            #expect(formats.contains(reading.format), "no target of ResultTargets.swift has this format")
        }
    }

    /// A field that was added is in the corpus, too.
    @Test func `the corpus of descriptions has a value for each field of a trigger`() throws {
        let triggers = try FuzzTarget.descriptionCorpus().flatMap { bytes in
            try JSONDecoder().decode(ProgramDescription.self, from: Data(bytes)).workflows.flatMap(\.triggers)
        }
        func values(_ trigger: Trigger) -> [String: String] {
            Dictionary(Mirror(reflecting: trigger).children.map { ($0.label ?? "", "\($0.value)") }) { $1 }
        }
        let without = values(.manual)
        #expect(without.keys.contains("messages"))
        for (field, value) in without {
            #expect(triggers.contains { values($0)[field] != value }, "no trigger has a value for \(field)")
        }
    }
}
