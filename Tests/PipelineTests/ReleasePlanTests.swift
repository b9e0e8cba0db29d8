import Pipeline
import PlanRules
import Testing

/// Releases and their destinations as part of a plan.
struct ReleasePlanTests {
    private func plan(_ steps: [Step]) -> Plan { Plan(workflow: "release", steps: steps.map(\.planned)) }

    private let build = Step("build", run: "make").artifacts("dist/*")

    @Test func `a release and what publishes it are data`() throws {
        let release = Release(version: .tag(), files: "dist/*", needs: build).signed(with: "KEY").billOfMaterials(.spdx)
        let gate = Step.approval("gate", needs: release.step)
        let publish = Step.publish(
            "registry", release, needs: gate, to: .registry(repository: "https://r.example/a", credentials: "R"))
        let plan = plan([build, release.step, gate, publish])
        #expect(plan.validate().isEmpty)
        #expect(plan.release?.signatures == [SignatureUse(secret: "KEY")])
        #expect(plan.steps[3].needs == ["release", "gate"])
        #expect(plan.steps[3].secrets.map(\.name) == ["KEY", "R"])
        #expect(plan.steps.map(\.action.startsProcess) == [true, false, false, false])
        // Apple may process a build for two hours after its upload.
        #expect(publish.planned.timeout > 3 * 3_600 && publish.timeout(.minutes(5)).planned.timeout == 300)
        #expect(plan.steps[1].isIdempotent && plan.steps[3].isIdempotent)
    }

    @Test func `what waits for a person between making a release and publishing it is known`() {
        let before = Step.approval("build it")
        let build = Step("build", needs: before, run: "make").artifacts("dist/*")
        let release = Release(version: .tag(), needs: build)
        let quality = Step.approval("quality", needs: release.step)
        let smoke = Step("smoke", needs: quality, run: "script/smoke")
        let gate = Step.approval("gate", needs: smoke)
        let plan = plan([
            before, build, release.step, quality, smoke, gate,
            Step.publish("inside", release, needs: smoke, to: .folder("/a")),
            Step.publish("outside", release, needs: gate, to: .folder("/b")),
            Step.publish("at once", release, to: .folder("/c")),
        ])
        #expect(plan.releaseGates == [["quality"], ["quality", "gate"], []])
    }

    @Test func `a release needs steps, and a plan has one release`() {
        #expect(plan([Release(version: .tag(), files: [], needs: []).step]).validate().map(\.rule) == ["release"])
        let (one, two) = (Release(version: .tag(), needs: build), Release("two", version: .tag(), needs: build))
        #expect(plan([build, one.step, two.step]).validate().map(\.step) == ["two"])
        var publish = PlannedStep(name: "p", action: .publish(.forge()), needs: ["build"])
        (publish.isIdempotent, publish.isNeverProved) = (true, true)
        let alone = Plan(workflow: "release", steps: [build.planned, publish])
        #expect(alone.validate().map(\.rule) == ["release"])
    }

    @Test(arguments: [
        Destination.folder("dist"), .folder("/a/../b"), .registry(repository: "r.example/a"),
        .registry(repository: "https://user:word@r.example/a"), .packages(name: "a/b"),
        .ssh(host: "-oProxyCommand=x", folder: "/a", key: "K", knownHost: "H"),
        .ssh(host: "user@host:22:x y", folder: "/a", key: "K", knownHost: "H"),
        .ssh(host: "host:70000", folder: "/a", key: "K", knownHost: "H"),
        .apt(folder: "/a", suite: "sta ble", key: "K"),
        .apt(folder: "/a", suite: "../x", key: "K"), .apt(folder: "/a", key: "K", validForDays: 0),
        .homebrew(tap: "/a", formula: "x.rb"),
        .homebrew(tap: "https://example.com/tap", formula: "x"), .testFlight(TestFlight(app: "", key: "K", keyID: "1")),
    ])
    func `a destination that can't be reached is refused`(destination: Destination) {
        let release = Release(version: .counted("1"), needs: build)
        let plan = plan([build, release.step, Step.publish("out", release, to: destination)])
        #expect(plan.validate().map(\.step) == ["out"])
    }

    @Test(
        arguments: [
            ([], [], 1), (["dist/*"], [], 0), (["dist/*"], ["dist/*.deb"], 0), (["dist/*"], ["out/*"], 1),
            (["dist/*"], ["out/*", "dist/a"], 0), (["dist/*.deb"], ["*.deb"], 1), (["**/*.deb"], ["out/*"], 0),
        ] as [([String], [String], Int)])
    func `a release that no artifact can get into is refused`(made: [String], files: [String], problems: Int) {
        var build = Step("build", run: "make")
        for glob in made { build = build.artifacts(glob) }
        let test = Step("test", needs: build, run: "make test")
        let release = Release(version: .counted("1"), files: files, needs: [test])
        #expect(plan([build, test, release.step]).validate().count == problems)
    }

    @Test(arguments: [
        ("http://apps.example.org", "com.example.app", 1), ("https://apps.example.org/a?b=c", "com.example.app", 1),
        ("https://apps.example.org/a", "", 1), ("https://apps.example.org/a", "com.example.app", 0),
    ])
    func `an app that no device could install over the air is refused`(address: String, app: String, problems: Int) {
        let release = Release(version: .counted("1"), needs: build).overTheAir(app: app, title: "App", at: address)
        #expect(plan([build, release.step]).validate().count == problems)
    }

    @Test(arguments: [("hello.rb", 0), ("hello", 1), ("Formula/hello.rb", 1)])
    func `a formula is a file of the release`(name: String, problems: Int) {
        let release = Release(version: .counted("1"), needs: build).formula(name)
        #expect(plan([build, release.step]).validate().count == problems)
    }

    @Test(arguments: [
        ("KEY_ID", "1", "ABCDE12345", "org.app", ["archive"]), ("1", "ISSUER_ID", "ABCDE12345", "org.app", ["archive"]),
        ("1", "2", "TEAM_ID", "org.app", ["export"]), ("1", "2", "ABCDE12345", "BUNDLE_ID", ["TestFlight"]),
        ("KEY_ID", "ISSUER_ID", "TEAM_ID", "BUNDLE_ID", ["archive", "archive", "export", "TestFlight"]),
        ("2X9R4HXF34", "57246542-96fe", "ABCDE12345", "com.example.app", []),
    ])
    func `a word that stands for a value is refused once`(
        key: String, issuer: String, team: String, app: String, steps: [String]
    ) {
        let appleKey = AppStoreKey("APPLE_KEY", id: key, issuer: issuer)
        let signing = XcodeSigning(certificate: "CERTIFICATE", password: "PASSWORD", provisioning: appleKey)
        let xcode = Xcode(project: "App.xcodeproj", scheme: "App")
        let archive = xcode.archive(signing: signing)
        let export = xcode.export(ExportOptions(.appStoreConnect, team: team), signing: signing, needs: archive)
        let release = Release(version: .counted("1"), needs: export)
        let publish = Step.publish(
            "TestFlight", release, to: .testFlight(TestFlight(app: app, key: "APPLE_KEY", keyID: key, issuer: issuer)))
        let findings = plan([archive, export, release.step, publish]).validate()
        #expect(findings.map(\.step) == steps && findings.allSatisfy { $0.rule == "placeholder" })
    }

    @Test func `a release refuses the modifiers of commands`() {
        let release = Release(version: .counted("1"), needs: build)
        for step in [release.step.network(.allowed), release.step.artifacts("x"), release.step.allowFailure()] {
            #expect(plan([build, step]).validate().map(\.rule) == ["release"])
        }
        #expect(plan([build, release.step.timeout(.hours(2)).retries(3)]).validate().isEmpty)
    }

    @Test(arguments: [
        VersionRule.file("/etc/passwd"), .file("../x"), .file(""), .counted(""), .counted("1."), .counted("v1"),
        .counted("V2.0"),
    ])
    func `a rule that names no version is refused`(rule: VersionRule) {
        #expect(plan([build, Release(version: rule, needs: build).step]).validate().map(\.rule) == ["release"])
    }

    @Test(arguments: [
        ("1", 0), ("1.4", 0), ("2026.11.2", 0), ("1.2.3.4", 1), ("1.4-rc", 1), ("1..2", 1), ("alpha", 1),
    ])
    func `a base that Apple takes for no version is refused`(base: String, problems: Int) {
        let release = Release(version: .counted(base), needs: build)
        let publish = Step.publish(
            "out", release, to: .testFlight(TestFlight(app: "com.example.app", key: "K", keyID: "1")))
        #expect(
            plan([build, release.step, publish]).validate().map(\.step) == Array(repeating: "out", count: problems))
        #expect(plan([build, release.step, Step.publish("out", release, to: .folder("/a"))]).validate().isEmpty)
    }

    @Test(
        arguments: [
            (VersionRule.counted("1"), [.pullRequest]), (.file("VERSION"), [.pullRequest]),
            (.tag(), [.pullRequest, .merge, .push, .schedule]),
        ] as [(VersionRule, [Trigger.Event])])
    func `an event that can't start a release is a mistake`(rule: VersionRule, refused: [Trigger.Event]) {
        let plan = plan([build, Release(version: rule, needs: build).step])
        let found = Trigger.Event.allCases.filter { !plan.findings(startedBy: $0).isEmpty }
        #expect(found == refused)
        #expect(self.plan([build]).findings(startedBy: .pullRequest).isEmpty)
    }
}
