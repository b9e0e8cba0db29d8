import Foundation
@testable import Results
import Pipeline
import SystemPackage
import Testing

@testable import Masking
@testable import Engine
import Sandbox
import TestSupport

/// Steps with secrets, with real processes: what they get, and what they can't reveal.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct RunnerSecretsTests {
    private let value = "s3cr3t-v@lue/with=more"

    private func setting(_ secrets: RunSecrets? = nil) -> RunSetting {
        let given = secrets ?? RunSecrets([Secret(name: "TOKEN", bytes: Array(value.utf8))])
        return RunFolder.current.setting { $0.secrets = given }
    }

    private func step(_ line: String, change: (inout PlannedStep) -> Void = { _ in }) -> PlannedStep {
        .shell("s", line) {
            $0.secrets = [SecretUse("TOKEN", as: .environment)]
            change(&$0)
        }
    }

    @Test func `a run's secrets print without their values`() {
        let bytes = Array("hunter2hunter2".utf8)
        let secrets = RunSecrets([Secret(name: "TOKEN", bytes: bytes)])
        var dumped = ""
        dump(SecretFile(name: "TOKEN", bytes: bytes), to: &dumped)
        for text in ["\(secrets)", String(reflecting: secrets), dumped] {
            #expect(!text.contains("hunter") && !text.contains("104"), "\(text)")
        }
    }

    /// Whether anything that the run has left contains the value.
    private func leaks(_ outcome: RunOutcome, _ events: EventList) throws -> [String] {
        let root = RunFolder.current.path("run")
        var found: [String] = []
        for case let name as String in FileManager.default.enumerator(atPath: root) ?? .init() {
            guard let data = FileManager.default.contents(atPath: root + "/" + name) else { continue }
            for form in SecretForms(of: Array(value.utf8)).all where data.firstRange(of: form) != nil {
                found.append(name)
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        for text in [
            "\(outcome)", "\(events.events)", String(decoding: try encoder.encode(events.events), as: UTF8.self),
            String(decoding: try encoder.encode(outcome.tests), as: UTF8.self),
        ] where text.contains(value) { found.append(text) }
        return found
    }

    @Test func `output is masked as it is written`() async throws {
        let events = EventList()
        let outcome = await run(
            [
                step(
                    """
                    printf 'value: %s\\n' "$TOKEN"; printf %s "$TOKEN" | base64; printf %s "$TOKEN" | od -An -tx1 | tr -d ' \\n'
                    echo; printf 's3cr3t-v@'; sleep 0.3; printf 'lue/with=more\\n'; set -x; : "$TOKEN"; echo "$TOKEN" >&2
                    """)
            ], setting: setting(), events: events)
        #expect(outcome.verdict == .passed)
        let log = RunFolder.current.log(outcome["s"])
        #expect(log.hasPrefix("value: [secret TOKEN]\n[secret TOKEN]\n[secret TOKEN]\n[secret TOKEN]\n"), "\(log)")
        #expect(log.components(separatedBy: "[secret TOKEN]").count == 8, "\(log)")
        #expect(outcome["s"].attempts[0].log?.bytes == log.utf8.count)
        #expect(try leaks(outcome, events) == [])
    }

    @Test func `a secret's file is named by a variable`() throws {
        let secrets = RunSecrets([Secret(name: "KEY", bytes: [0, 1, 2, 0xff, 10, 11, 12, 10])])
        let place = RunFolder.current.localPlace()
        var step = PlannedStep.shell("s", "true")
        step.secrets = [SecretUse("KEY")]
        let command = try place.command(
            of: StepAttempt(
                step: step, number: 1, label: "001-1", environment: [:], secrets: secrets.given(to: step), grace: .zero)
        )
        #expect(command.secrets.map(\.name) == ["KEY"])
        #expect(command.secrets.map(\.bytes) == [[0, 1, 2, 0xff, 10, 11, 12, 10]], "as it was set, line feed and all")
        #expect(command.environment["KEY_FILE"] == command.secretsFolder.appending("KEY").string)
        #expect(command.environment["KEY"] == nil)
        place.removeSecretsFolder(of: command)
    }

    @Test func `a secret's file exists only while the step runs`() async throws {
        let bytes = [UInt8]((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let copy = RunFolder.current.path("copies") + "/key"
        let line = "cp \"$KEY_FILE\" \(copy); stat -c %a \"$KEY_FILE\"; echo \"$KEY_FILE\" > \(copy).path"
        var step = PlannedStep.shell("s", line)
        step.secrets = [SecretUse("KEY")]
        let outcome = await run([step], setting: setting(RunSecrets([Secret(name: "KEY", bytes: bytes)])))
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        #expect(FileManager.default.contents(atPath: copy) == Data(bytes))
        #expect(RunFolder.current.log(outcome["s"]) == "400\n")
        let path = try String(contentsOfFile: copy + ".path", encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(!FileManager.default.fileExists(atPath: FilePath(path).removingLastComponent().string))
    }

    @Test func `a variable has the value without the last line feed`() async throws {
        let secrets = RunSecrets([Secret(name: "TOKEN", bytes: Array("two\nlines\r\n".utf8))])
        let outcome = await run([step("test \"$TOKEN\" = \"$(printf 'two\\nlines')\"")], setting: setting(secrets))
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
    }

    @Test func `another step sees nothing of the secret`() async throws {
        let outcome = await run(
            [step("test -n \"$TOKEN\""), .shell("other", "test -z \"${TOKEN+set}${TOKEN_FILE+set}\"")],
            setting: setting())
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
    }

    @Test func `a step whose secret is not set does not start`() async throws {
        for secrets in [RunSecrets.none, RunSecrets([], missing: [:])] {
            let outcome = await run([step("touch started")], setting: setting(secrets))
            #expect(outcome.verdict == .infrastructure)
            #expect(outcome["s"].status == .infrastructure)
            #expect(outcome["s"].reason == "secret TOKEN is not set: `pipectl secrets set TOKEN`")
            #expect(outcome["s"].attempts.isEmpty)
            #expect(RunFolder.current.text("started") == nil)
        }
        let broken = RunSecrets([], missing: ["TOKEN": "secret TOKEN can't be read: others can"])
        #expect(
            await run([step("true")], setting: setting(broken))["s"].reason == "secret TOKEN can't be read: others can")
        let binary = RunSecrets([Secret(name: "TOKEN", bytes: [0, 1, 2, 3, 4, 5, 6])])
        let outcome = await run([step("true")], setting: setting(binary))
        #expect(outcome["s"].reason?.contains("can't be a variable, because it is not text") == true)
    }

    @Test func `an untrusted run gets no secrets and says so once`() async throws {
        let plan = Plan(workflow: "w", steps: [step("test -z \"${TOKEN+set}\""), .shell("other", "true")])
        let outcome = await run(plan.steps, setting: setting(.withheld))
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        let findings = RunSecrets.withheld.findings(for: plan)
        #expect(findings.map(\.rule) == ["secrets-withheld"])
        #expect(findings.first?.message.contains("\"s\" (TOKEN)") == true)
        #expect(RunSecrets.withheld.findings(for: Plan(workflow: "w", steps: [.shell("other", "true")])) == [])
    }

    @Test func `a secret too short to be masked is reported`() async throws {
        let secrets = RunSecrets([Secret(name: "TOKEN", bytes: Array("12345\n".utf8))])
        let plan = Plan(workflow: "w", steps: [step("echo $TOKEN")])
        let finding = try #require(secrets.findings(for: plan).first)
        #expect(finding.rule == "secret-not-masked")
        #expect(finding.message.contains("fewer than 6 bytes"))
        #expect(!finding.message.contains("12345"))
    }

    @Test func `an artifact that contains a secret is not stored`() async throws {
        let events = EventList()
        let outcome = await run(
            [
                step("mkdir d; head -c 300000 /dev/zero > d/a; printf %s \"$TOKEN\" | base64 >> d/a; echo fine > d/b") {
                    $0.artifacts = ["d/*"]
                }
            ], setting: setting(), events: events)
        #expect(outcome.verdict == .failed)
        #expect(outcome["s"].reason == "artifact d/a contains secret TOKEN and was not stored")
        #expect(outcome.artifacts.map(\.path) == ["d/b"])
        #expect(outcome.findings.map(\.severity) == [.error])
        let kept = try FileManager.default.contentsOfDirectory(atPath: RunFolder.current.path("run/artifacts"))
        #expect(kept == outcome.artifacts.map(\.sha256))
        #expect(try leaks(outcome, events) == [])
    }

    @Test func `an artifact whose name contains a secret is not stored`() async throws {
        let events = EventList()
        let outcome = await run(
            [
                step("n=$(printf %s \"$TOKEN\" | tr / .); mkdir d; : > d/$n-x; : > \"d/$TOKEN2\"") {
                    $0.artifacts = ["d/*"]
                    $0.environment["TOKEN2"] = "plain"
                }
            ],
            setting: setting(RunSecrets([Secret(name: "TOKEN", bytes: Array("s3cr3t-v@lue.with=more".utf8))])),
            events: events)
        #expect(outcome["s"].reason == "artifact d/[secret TOKEN]-x contains secret TOKEN and was not stored")
        #expect(outcome.artifacts.map(\.path) == ["d/plain"])
        #expect(!"\(outcome)\(events.events)".contains("v@lue.with"))
    }

    @Test func `test results are masked in the file and when read`() async throws {
        let events = EventList()
        let outcome = await run(
            [
                step(
                    #"""
                    cat > tests.xml <<END
                    <testsuite><testcase classname="$TOKEN" name="in $(printf %s "$TOKEN" | sed 's,/,\&#47;,')">
                    <failure message="expected $TOKEN">got <![CDATA[$(printf %s "$TOKEN" | base64)]]></failure></testcase></testsuite>
                    END
                    """#
                ) { $0.testResults = [.junit("*.xml")] }
            ], setting: setting(), events: events)
        let test = try #require(outcome.tests.first)
        #expect(test.suite == "[secret TOKEN]")
        #expect(test.name == "in [secret TOKEN]", "an escape that no form has is found after reading")
        #expect(test.message?.contains("expected [secret TOKEN]") == true)
        #expect(test.details?.contains("got [secret TOKEN]") == true, "\(test.details ?? "")")
        #expect(outcome.findings.contains { $0.message.contains("although [secret TOKEN]/in [secret TOKEN] failed") })
        #expect(try leaks(outcome, events) == [])
    }

    @Test func `a published value with a secret fails the step`() async throws {
        let events = EventList()
        let outcome = await run(
            [step("printf '\"%s\"' \"$TOKEN\" > $PIPECTL_VALUES_OUT/v.json") { $0.publishes = ["v"] }],
            setting: setting(), events: events)
        #expect(outcome.verdict == .failed)
        #expect(outcome["s"].reason?.hasPrefix("what it published as \"v\" contains secret TOKEN") == true)
        let values = RunFolder.current.path("run/shown/values")
        #expect(try FileManager.default.contentsOfDirectory(atPath: values) == [])
        #expect(try leaks(outcome, events) == [])
    }

    @Test func `the last line is masked without a delay`() async throws {
        let events = EventList()
        let outcome = await run(
            [step("echo start; printf 'key %s ok? ' \"$TOKEN\"; sleep 0.4; printf 's3\\033[1mcr3t-v@lue/with=more'")],
            setting: setting(), events: events)
        #expect(outcome.verdict == .passed)
        let lines = events.events.compactMap { if case .stepOutput(_, _, let line, _) = $0 { line } else { nil } }
        #expect(lines.last == "key [secret TOKEN] ok? [secret TOKEN]", "\(lines)")
        for line in lines { #expect(!line.contains("v@lue")) }
    }
}
