@testable import Control
import Foundation
import Git
import TestBasics
import TestSupport
import Testing

@testable import Store
@testable import Results
@testable import Archive
@testable import Pipeline
import PlanRules
@testable import Watching

/// Inputs that the fuzzers, or reading the parsers for them, found, each as a test.
@Suite struct FoundTests {
    @Test func `counts beyond the largest number do not crash`() {
        #expect(TestCounts(passed: .max, failed: 1).total == .max)
        #expect(TestCounts(passed: .min, failed: -1).total == .min)
    }

    @Test func `units beyond the largest number are a finding`() {
        var step = PlannedStep(name: "a", action: .closure)
        let use = ResourceUse(resource: Resource("r", capacity: .max), units: .max)
        step.resources = [use]
        #expect(Plan(workflow: "w", steps: [step]).validate().isEmpty)
        step.resources = [use, use]
        #expect(Plan(workflow: "w", steps: [step]).validate().contains { $0.rule == "resource" })
    }

    @Test(arguments: ["refs/heads/\u{301}x", "refs/heads/\u{200D}"])
    func `a branch stays a branch whatever its name begins with`(_ ref: String) throws {
        let name = String(decoding: ref.utf8.dropFirst(11), as: UTF8.self)
        #expect(try ChangeRefs().kind(of: ref) == .branch(name))
        #expect(try ChangeRefs(branchPatterns: ["**"]).kind(of: ref) == .change(name))
    }

    @Test func `a slash in the number of a change is detected`() throws {
        #expect(try ChangeRefs().kind(of: "refs/pull/7/\u{301}x/head") == .other)
    }

    @Test func `a name with NUL is not another ref`() async throws {
        try await withFuzzFolder { folder in
            let repository = try Repository.create(bareAt: folder + "/r.git")
            let id = try repository.createBlob([1])
            let error = #expect(throws: GitError.self) {
                try repository.setRef("refs/tags/a\0b", to: id, message: "m")
            }
            #expect(error?.code == .invalidName)
            try repository.setRef("refs/tags/a", to: id, message: "m")
            #expect(try repository.ref("refs/tags/a\0b") == nil)
            try repository.deleteRef("refs/tags/a\0b")
            #expect(try repository.ref("refs/tags/a") == id)
        }
    }

    @Test func `a schedule that never comes is reported at once`() throws {
        let schedule = try CronSchedule("* * 30 2 *")
        var random = SplitMix64(seed: 1, iteration: 0)
        try CPUBudget.hold(FuzzInput(bytes: []), &random) { _, _ in
            for _ in 0..<50 { #expect(schedule.next(after: 0) == nil) }
        }
    }

    @Test func `a request with a long key gets a short answer`() throws {
        let key = String(repeating: "k", count: 500_000)
        let line =
            "{\"version\":1,\"request\":{\"start\":{\"_0\":{\"location\":\".\",\"workflow\":\"w\",\"subject\":"
            + "{\"change\":{\"_0\":\"7\"}},\"parameters\":{\"\(key)\":1},\"steps\":[],\"isForeground\":false}}}}"
        let error = #expect(throws: DaemonError.self) {
            let _: DaemonRequest = try Envelope.question(Array(line.utf8))
        }
        #expect(error?.code == .badRequest)
        #expect((error?.message.utf8.count ?? .max) < 2_000)
    }

    @Test(arguments: [("\"sha256\" : \"ab\"", "sha256"), ("\"id\" : 99", "run 99")])
    func `a report that the index can't take keeps no other out`(_ replacement: String, _ reason: String) async throws {
        try await withFuzzFolder { folder in
            let store = try ArchiveStore(home: folder)
            let key = replacement.prefix { $0 != ":" }
            let text = String(decoding: try ArchiveJSON.pretty(FuzzTarget.sampleReport), as: UTF8.self)
            var lines = text.split(separator: "\n").map(String.init)
            let index = try #require(lines.firstIndex { $0.contains(key) })
            lines[index] = replacement + (lines[index].hasSuffix(",") ? "," : "")
            try await FuzzTarget.replace("report.json", with: Array(lines.joined(separator: "\n").utf8), in: store)
            let outcome = try await store.reindex(into: Index.inMemory())
            #expect(outcome.restored == 0)
            #expect(outcome.problems.map(\.kind) == [.damagedRun])
            #expect(outcome.problems.first?.description.contains(reason) == true)
        }
    }
}
