import Foundation
import Pipeline
import SystemPackage
import Testing

@testable import Results
@testable import Engine
import TestSupport

/// Artifacts and result files of steps with real processes.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct RunnerFilesTests {
    private func artifact(_ pattern: String, _ line: String, change: (inout RunSetting) -> Void = { _ in }) async
        -> RunOutcome
    {
        await run([.shell("s", line) { $0.artifacts = [pattern] }], setting: RunFolder.current.setting(change: change))
    }

    @Test func `artifacts are stored by digest`() async throws {
        let outcome = await artifact("out/**", "mkdir -p out/x; echo hello > out/x/a; cp out/x/a out/b; chmod +x out/b")
        #expect(outcome.verdict == .passed)
        let digest = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
        #expect(
            outcome.artifacts == [
                ArtifactRecord(step: "s", path: "out/b", bytes: 6, sha256: digest, isExecutable: true),
                ArtifactRecord(step: "s", path: "out/x/a", bytes: 6, sha256: digest),
            ])
        let kept = try FileManager.default.contentsOfDirectory(atPath: RunFolder.current.path("run/artifacts"))
        #expect(kept == [digest])
    }

    @Test(arguments: [
        ("missing/*", "true", "no file matches the artifact pattern \"missing/*\""),
        ("a", "ln -s /etc/hostname a", "a is a link and was skipped"),
        ("d/*", "ln -s /etc d", "d is a link and was skipped"),
        ("a", "mkfifo a", "a is not a regular file and was skipped"),
        ("*.bin", "head -c 2000 /dev/zero > a.bin", "a.bin can't be collected: it is larger than 1,000 bytes"),
        ("*.b", "for i in 1 2 3; do head -c 900 /dev/zero > $i.b; done", "with 3.b the step's artifacts exceed 2,000"),
        ("f*", "touch f1 f2 f3 f4 f5 f6", "more than 4 files match"),
    ])
    func anArtifactThatCannotBeTakenFailsTheStep(pattern: String, line: String, reason: String) async throws {
        let outcome = await artifact(pattern, line) {
            $0.fileLimits.fileBytes = 1_000
            $0.fileLimits.totalBytes = 2_000
            $0.fileLimits.count = 4
        }
        #expect(outcome.verdict == .failed)
        #expect(outcome["s"].reason?.hasPrefix(reason) ?? false, "\(outcome["s"].reason ?? "")")
        #expect(outcome.findings.first?.severity == .error)
        // No half-copied file stays.
        let kept = try FileManager.default.contentsOfDirectory(atPath: RunFolder.current.path("run/artifacts"))
        #expect(kept.allSatisfy { !$0.hasPrefix(".") })
    }

    @Test func `a failed step keeps its reason`() async {
        let outcome = await artifact("missing", "exit 3")
        #expect(outcome["s"].reason == "exit code 3")
        #expect(outcome.findings.map(\.severity) == [.note])
    }

    @Test func `a file from before the step is not a result`() async throws {
        try RunFolder.current.write("<testsuite/>", to: "tests.xml")
        let outcome = await run([
            .shell("s", "true") { $0.testResults = [.junit("*.xml")] }
        ])
        #expect(outcome.resultFiles.isEmpty)
        let finding = try #require(outcome.findings.first { $0.rule == "no-results" })
        #expect(finding.message.contains("1 older files are ignored"))
        #expect(outcome.verdict == .passed)
    }

    @Test(arguments: [
        "echo '<testsuite/>' > tests.xml",  // shorter or longer
        "printf '<testsuite/>' > tests.xml",  // the same bytes again
        "printf '<testsuite/>' > new && mv new tests.xml",
        "printf '<testsuite/>' > tests.xml; touch -d '2001-01-01' tests.xml",
    ])
    func whatIsWrittenAgainIsAResult(line: String) async throws {
        try RunFolder.current.write("<testsuite/>", to: "tests.xml")
        let outcome = await run([.shell("s", line) { $0.testResults = [.junit("tests.xml")] }])
        #expect(outcome.resultFiles == ["001-1-1-tests.xml"])
        #expect(FileManager.default.fileExists(atPath: RunFolder.current.path("run/results") + "/001-1-1-tests.xml"))
        #expect(!outcome.findings.contains { $0.rule == "no-results" })
    }

    @Test func `missing results are a finding`() async {
        let outcome = await run([.shell("s", "exit 1") { $0.testResults = [.junit("none.xml"), .swiftPMConsole] }])
        #expect(outcome.findings.map(\.rule) == ["no-results", "no-results"])
        #expect(outcome["s"].reason == "exit code 1")
    }

    @Test func `a command that was stopped is not blamed for its missing results`() async {
        let outcome = await run([
            .shell("s", "echo begun; sleep 60") {
                $0.timeout = 0.3
                $0.testResults = [.junit("none.xml"), .swiftPMConsole]
            }
        ])
        #expect(outcome["s"].status == .timedOut)
        #expect(!outcome.findings.contains { $0.rule == "no-results" })
    }

    @Test func `each attempt has a result file of its own`() async {
        let outcome = await run([
            .shell("s", "echo '<testsuite/>' > t.xml; [ $PIPECTL_ATTEMPT = 2 ]") {
                $0.testResults = [.junit("t.xml")]
                $0.retry = RetryPolicy(count: 1)
            }
        ])
        #expect(outcome.resultFiles == ["001-1-1-t.xml", "001-2-1-t.xml"])
    }
}
