import Preparing
import TestBasics
import StateFiles
import Archive
import Engine
import Foundation
import GRDB
import Results
import TestSupport
import Testing

@testable import Running

@testable import Store
import RunSamples

/// How a run's verdict becomes durable, on a disk that is full and in a store that fails.
@Suite(.timeLimit(.minutes(2))) struct RunRecorderTests {
    @Test func `a recorded run can be read before the archive has it`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            #expect(await bench.recorder.record(RunSample.report(task.id, task.request), task.request))
            #expect(try await bench.store.ids().isEmpty)
            #expect(try await bench.store.report(task.id).verdict == .passed)
            let archive = ArchiveService(store: bench.store, index: bench.index, log: PhaseBench.log)
            #expect(await archive.export())
            #expect(try await bench.store.ids() == [task.id])
        }
    }

    @Test func `a full disk is waited for, and the verdict stays`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let report = RunSample.report(task.id, task.request, verdict: .failed)
            try await fill(bench.index)
            try Data(count: 1).write(to: URL(fileURLWithPath: bench.state.reserve))
            var recorder = bench.recorder
            recorder.firstPause = .milliseconds(5)
            let files = try log(bench)
            async let isRecorded = recorder.record(report, task.request, files: files)
            // The reserve goes with the first try that finds the disk full.
            try await gone(bench.state.reserve, bench)
            #expect(try await bench.index.run(task.id)?.summary.state == .running)
            try await free(bench.index)
            #expect(await isRecorded)
            #expect(try await bench.store.report(task.id) == report)
        }
    }

    @Test func `a full disk does not keep a daemon from ending`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            try await fill(bench.index)
            var recorder = bench.recorder
            (recorder.firstPause, recorder.isEnding) = (.milliseconds(5), { true })
            let report = RunSample.report(task.id, task.request)
            let files = try log(bench)
            #expect(await !recorder.record(report, task.request, files: files))
            try await free(bench.index)
            #expect(
                try await bench.index.run(task.id)?.summary.state == .running, "the next start finds it interrupted")
        }
    }

    @Test func `outputs for later runs are given up before the report`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            var step = RunSample.step("build", .passed)
            step.outputs = OutputRecord(sha256: digest, bytes: 3, files: 1)
            let report = RunSample.report(task.id, task.request, steps: [step])
            let artifacts = "\(bench.folder)/artifacts"
            try FileManager.default.createDirectory(atPath: artifacts, withIntermediateDirectories: true)
            try Data("abc".utf8).write(to: URL(fileURLWithPath: "\(artifacts)/\(digest)"))
            try await fill(bench.index)
            var recorder = bench.recorder
            recorder.firstPause = .milliseconds(5)
            var files = try log(bench)
            files.artifacts = artifacts
            async let isRecorded = recorder.record(report, task.request, files: files)
            try await gone("\(artifacts)/\(digest)", bench)
            try await free(bench.index)
            #expect(await isRecorded)
            let recorded = try await bench.store.report(task.id)
            #expect(recorded.steps.map(\.outputs) == [nil])
            #expect(recorded.findings.map(\.rule) == ["disk-full"])
        }
    }

    @Test func `a run that can't be stored gets its verdict without a report`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            var report = RunSample.report(task.id, task.request)
            report.artifacts = [
                ArtifactRecord(step: "build", path: "tool", bytes: 3, sha256: String(repeating: "0", count: 64))
            ]
            var recorder = bench.recorder
            recorder.firstPause = .milliseconds(1)
            #expect(await !recorder.record(report, task.request, files: RunFiles(artifacts: "\(bench.folder)/none")))
            let summary = try #require(try await bench.index.run(task.id)?.summary)
            #expect(summary.verdict == .passed)
            #expect(!summary.isArchived)
        }
    }

    /// A log that needs more pages than the index has left.
    private func log(_ bench: PhaseBench) throws -> RunFiles {
        let logs = "\(bench.folder)/logs"
        try FileManager.default.createDirectory(atPath: logs, withIntermediateDirectories: true)
        try Data(count: 100 << 10).write(to: URL(fileURLWithPath: "\(logs)/001-1.log"))
        return RunFiles(logs: logs)
    }

    /// Waits until a file is gone; the suite's time limit ends it.
    private func gone(_ path: String, _ bench: PhaseBench) async throws {
        try await eventually("the end of \(path)") { !bench.exists(path) }
    }

    /// No page more than there is: as a disk with no room for one.
    private func fill(_ index: Index) async throws {
        try await index.write { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
    }

    private func free(_ index: Index) async throws {
        try await index.write { db in try db.execute(sql: "PRAGMA max_page_count = 1000000") }
    }
}
